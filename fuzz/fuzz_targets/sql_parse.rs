//! Parsing gives an error with a place in the text, or a tree that every function can read. A second parse gives the same tree.
//!
//! Input: a byte of options, SQL.

#![no_main]

mod sql;

use libfuzzer_sys::fuzz_target;
use trunkline_parser::{parse_plpgsql, parse_with};

fuzz_target!(|input: &[u8]| {
    let Some((options, text)) = sql::options_and_text(input) else { return };
    match parse_with(text, options) {
        Err(error) => {
            sql::check_error(&error, text);
            assert_eq!(parse_with(text, options).err(), Some(error));
        }
        Ok(tree) => {
            sql::read_all(&tree, text);
            let Ok(again) = parse_with(text, options) else { panic!("parsed only once") };
            assert!(tree == again);
            assert_eq!(tree.to_json(), again.to_json());
            assert_eq!(tree.fingerprint(), again.fingerprint());
            assert!(again.bytes() > 0);
        }
    }
    if let Err(error) = parse_plpgsql(text) {
        assert!(!error.message().is_empty());
    }
});
