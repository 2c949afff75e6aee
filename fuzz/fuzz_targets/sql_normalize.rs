//! Functions that need the text and not only its tree: normalizing, splitting into statements, summarizing.

#![no_main]

mod sql;

use libfuzzer_sys::fuzz_target;
use trunkline_parser::{
    comments, is_utility, normalize, normalize_utility, parse, split_with_parser, split_with_scanner, summary,
};

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for range in split_with_scanner(text).unwrap_or_default() {
        assert!(!text[range].is_empty());
    }
    for comment in comments(text).unwrap_or_default() {
        assert!(comment.location <= text.len() && text.contains(&comment.text));
    }
    let tree = match parse(text) {
        Ok(tree) => tree,
        Err(error) => {
            for refused in [
                normalize(text).err(),
                normalize_utility(text).err(),
                split_with_parser(text).err(),
                summary(text).err(),
                is_utility(text).err(),
            ] {
                assert_eq!(refused.as_ref(), Some(&error));
            }
            return;
        }
    };
    assert_eq!(normalize(text).ok(), Some(tree.normalize(text)));
    assert_eq!(normalize_utility(text).ok(), Some(tree.normalize_utility(text)));
    let _ = summary(text).map(|summary| format!("{summary:?}"));
    let ranges = split_with_parser(text).unwrap_or_default();
    assert_eq!(ranges.len(), tree.root().len());
    // Each piece is one statement, and together they are all statements of the text.
    for (range, statement) in ranges.into_iter().zip(tree.root().nodes()) {
        let Ok(alone) = parse(&text[range.clone()]) else { panic!("{range:?} of {text:?} does not parse") };
        let Some(found) = alone.root().nodes().next() else { panic!("{range:?} of {text:?} is empty") };
        assert_eq!(alone.root().len(), 1);
        assert!(found == statement, "{range:?} of {text:?}");
    }
});
