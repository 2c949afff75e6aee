//! Comments at the ends of lines, when SQL is laid out again.

use trunkline_parser::{DeparseOptions, comments, parse};

fn laid_out(text: &str) -> String {
    let comments = comments(text).expect("it is of tokens");
    let options = DeparseOptions { pretty: true, indent: 2, comments, ..DeparseOptions::default() };
    parse(text).expect("it is SQL").deparse_with(&options).expect("it has a text")
}

#[test]
fn a_comment_stays_on_its_line() {
    for text in [
        "SELECT\n  id, -- the key\n  name, /* as on the card */\n  b\nFROM t",
        "CREATE TABLE t (\n  id int, -- the key\n  name text,\n  b int\n)",
        "INSERT INTO t (a) VALUES\n  (1), -- one\n  (2)",
    ] {
        let once = laid_out(text);
        for line in text.lines().filter(|line| line.contains("--") || line.contains("/*")) {
            assert!(once.lines().any(|laid| laid.trim() == line.trim()), "{line}\nin\n{once}");
        }
        assert_eq!(laid_out(&once), once);
    }
}
