//! Compares fingerprints with libpg_query's.

use trunkline_parity::{compare, oracle, same};
use trunkline_parser::FingerprintOptions;

// From pg_query.h: PG_QUERY_FINGERPRINT_...
const RANGEVAR_IGNORE_ALIASES: i32 = 1;
const RANGEVAR_INCLUDE_SCHEMA: i32 = 1 << 1;
const FULL_RELNAME: i32 = 1 << 4;

#[test]
fn default_options() {
    compare("fingerprint", |statement| {
        let (Ok(expected), Ok(tree)) =
            (oracle::fingerprint(&statement.sql), trunkline_parser::parse(&statement.sql))
        else {
            return Ok(());
        };
        same(&expected.1, &tree.fingerprint().to_string())
    });
}

#[test]
fn every_option() {
    for bits in [
        RANGEVAR_IGNORE_ALIASES,
        RANGEVAR_INCLUDE_SCHEMA,
        FULL_RELNAME,
        RANGEVAR_IGNORE_ALIASES | RANGEVAR_INCLUDE_SCHEMA,
    ] {
        let options = FingerprintOptions {
            full_relation_names: bits & FULL_RELNAME != 0,
            ignore_aliases: bits & RANGEVAR_IGNORE_ALIASES != 0,
            include_schemas: bits & RANGEVAR_INCLUDE_SCHEMA != 0,
        };
        compare("fingerprint with options", |statement| {
            let expected = oracle::fingerprint_opts(&statement.sql, 0, bits);
            let (Ok(expected), Ok(tree)) = (expected, trunkline_parser::parse(&statement.sql)) else {
                return Ok(());
            };
            same(&expected.1, &tree.fingerprint_with(options).to_string())
        });
    }
}
