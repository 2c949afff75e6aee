//! What a build script needs to know of libpg_query's C source: where it lies and which nodes it declares.
//!
//! [`source()`] finds the folder `libpg_query`: in the package that is built or, for a checkout, inside the crate
//! `pg_query`, of which nothing is ever built. [`read()`] reads PostgreSQL's own headers there into a [`Model`]:
//! structs with their layout, enums with their values, node tags, keywords and the grammar's token numbers. It
//! needs no libclang: the headers are written for a Perl script of PostgreSQL's own and keep to a small part of C.
//!
//! To move to another release change [`VERSION`].

mod error;
mod layout;
mod lexer;
mod model;
mod parse;
mod read;
mod source;

pub use error::Error;
pub use model::{Category, Constant, Enum, Field, Keyword, Kind, Model, Struct, Tag};
pub use read::{HEADERS, read};
pub use source::{PACKAGED, SOURCE_VARIABLE, VERSION, source};
