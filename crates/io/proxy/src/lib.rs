//! The Trunkline proxy as a library, so that tests can reach its parts; the program is `main.rs`.

pub mod config;
pub mod serve;
