//! PostgreSQL's parse nodes as C lays them out, generated from its headers by `build/bindings.rs`.
//!
//! Names are C's, so that its documentation serves. An enum is a plain integer here, [`Enum`](c_int), with its
//! constants beside it: C may store any number in one, a Rust enum may not hold it. The typed view of them is
//! `trunkline-parser`'s. Every offset and size is asserted below for Rust, and in `layout.c` for the C compiler.
#![allow(non_snake_case, non_camel_case_types, non_upper_case_globals, missing_docs)]

use std::ffi::{c_char, c_int, c_long, c_void};

include!(concat!(env!("OUT_DIR"), "/nodes.rs"));
