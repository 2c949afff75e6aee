//! The Trunkline proxy. It is a library so that tests can reach its parts; `main.rs` is the program.

pub mod cli;
pub mod command;
pub mod config;
pub mod http;
pub mod logging;
pub mod metrics;
pub mod serve;
pub mod signals;
pub mod worker;

/// Runs the examples of the users' documents as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../../docs/parser.md")]
    mod parser {}

    #[doc = include_str!("../../../core/parser/README.md")]
    mod parser_readme {}
}
