//! Generates the nodes' Rust side from PostgreSQL's headers, and compiles its C.

#[path = "build/bindings.rs"]
mod bindings;
#[path = "build/compile.rs"]
mod compile;
#[path = "build/profile.rs"]
mod profile;

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let source = pg_query_headers::source()?;
    println!("cargo::rerun-if-env-changed={}", pg_query_headers::SOURCE_VARIABLE);
    // Build scripts of packages that depend on this one find it in DEP_TRUNKLINE_PG_QUERY_SOURCE.
    println!("cargo::metadata=source={}", source.display());
    for header in pg_query_headers::HEADERS {
        println!("cargo::rerun-if-changed={}", source.join(header).display());
    }
    let model = pg_query_headers::read(&source)?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    bindings::write(&model, &out)?;
    compile::compile(&source, &out)
}
