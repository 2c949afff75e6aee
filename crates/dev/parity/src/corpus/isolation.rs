//! The isolation tester's scripts: `setup { ... }`, `step name { ... }`. The text in braces is sent to the server unchanged, often
//! with several statements at once.

use super::Found;

/// All blocks of a script. A block ends at its first closing brace. Between blocks, `#` begins a comment.
pub(super) fn blocks(script: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = script;
    while let Some(at) = rest.find(['{', '#', '"', '\n']) {
        let (_, from) = rest.split_at(at);
        // The end of the block or comment that the character begins.
        let closing = match from.as_bytes().first() {
            Some(b'{') => '}',
            Some(b'"') => '"',
            Some(b'#') => '\n',
            _ => {
                line += 1;
                rest = from.get(1..).unwrap_or_default();
                continue;
            }
        };
        let inner = from.get(1..).unwrap_or_default();
        let Some((inside, after)) = inner.split_once(closing) else { break };
        if closing == '}' {
            let blank = inside.len() - inside.trim_start().len();
            let first_line = line + newlines(inside.get(..blank).unwrap_or_default());
            let sql = inside.trim();
            if !sql.is_empty() {
                found.push(Found { line: first_line, sql: sql.to_owned(), has_variables: false });
            }
        }
        line += newlines(inside) + u32::from(closing == '\n');
        rest = after;
    }
    found
}

fn newlines(text: &str) -> u32 {
    text.bytes().map(|byte| u32::from(byte == b'\n')).sum()
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_are_found_with_their_lines_and_comments_are_skipped() {
        let script = "# { not this }\nsetup {\n  CREATE TABLE a();\n  SELECT 1;\n}\nstep \"s{1\" { SELECT '}' ; }\nstep t { COMMIT; }";
        let found: Vec<_> = blocks(script).into_iter().map(|block| (block.line, block.sql)).collect();
        let expected = [(3, "CREATE TABLE a();\n  SELECT 1;"), (6, "SELECT '"), (7, "COMMIT;")];
        assert_eq!(found, expected.map(|(line, sql)| (line, sql.to_owned())));
    }
}
