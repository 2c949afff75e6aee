//! Generates the typed views and the reflection tables of PostgreSQL's nodes from its headers.

#[path = "build/edits.rs"]
mod edits;
#[path = "build/enums.rs"]
mod enums;
#[path = "build/expression.rs"]
mod expression;
#[path = "build/fingerprint.rs"]
mod fingerprint;
#[path = "build/keywords.rs"]
mod keywords;
#[path = "build/names.rs"]
mod names;
#[path = "build/tables.rs"]
mod tables;
#[path = "build/views.rs"]
mod views;

use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    // The build script of pg-query-sys sets this variable.
    let source = std::env::var_os("DEP_TRUNKLINE_PG_QUERY_SOURCE").map(PathBuf::from);
    let source = source.ok_or("trunkline-pg-query-sys does not say where libpg_query's source is")?;
    println!("cargo::rerun-if-changed=build");
    for header in pg_query_headers::HEADERS {
        println!("cargo::rerun-if-changed={}", source.join(header).display());
    }
    let model = pg_query_headers::read(&source)?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("views.rs"), views::text(&model))?;
    fs::write(out.join("edits.rs"), edits::text(&model))?;
    fs::write(out.join("enums.rs"), enums::text(&model))?;
    fs::write(out.join("keywords.rs"), keywords::text(&model)?)?;
    println!("cargo::rerun-if-changed=src/lexer/bucket.rs");
    fs::write(out.join("tables.rs"), tables::text(&model))?;
    fs::write(out.join("expression.rs"), expression::text(&model)?)?;
    fs::write(out.join("fingerprint.rs"), fingerprint::text(&model))?;
    Ok(())
}
