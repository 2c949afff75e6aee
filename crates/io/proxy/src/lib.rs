//! The Trunkline proxy as a library, so that tests can reach its parts; the program is `main.rs`.

pub mod cli;
pub mod command;
pub mod config;
pub mod http;
pub mod logging;
pub mod metrics;
pub mod serve;
pub mod signals;
pub mod worker;

/// The examples in documents for users, as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../../docs/parser.md")]
    mod parser {}

    #[doc = include_str!("../../../core/parser/README.md")]
    mod parser_readme {}
}
