//! SQL that is written from a tree, in one line or laid out, parses to an equal tree.

#![no_main]

mod sql;

use libfuzzer_sys::fuzz_target;
use trunkline_parser::parse;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(tree) = parse(text) else { return };
    for options in sql::layouts(text) {
        let Ok(written) = tree.deparse_with(&options) else { continue };
        match parse(&written) {
            Err(error) => panic!("{written}\n{error}\n{options:?}"),
            Ok(again) => assert!(tree == again, "{written}\n{options:?}\n{tree:?}\n{again:?}"),
        }
    }
    for node in tree.nodes() {
        let _ = node.deparse();
    }
});
