//! SQL deeper and longer than people write it: a tree that everything can read, or an error that says what and where;
//! on a stack of 2 MB, and on the thread that the test runs on. Code that takes quadratic time does not end here.

mod deep_text;

use deep_text::{joined, nested};
use trunkline_parser::classify::Touches;
use trunkline_parser::lexer::Lexer;
use trunkline_parser::{
    DeparseOptions, Mode, ParseError, ParseOptions, ParsedSql, Path, SqlState, Step, comments, edit,
    is_utility, node, normalize, parse, parse_with, scan, split_with_parser, split_with_scanner, summary,
    truncate,
};

/// The default stack of a thread.
const STACK_BYTES: usize = 2 << 20;
/// How many of the things that the grammar reads without keeping them all on its own stack.
const MANY: usize = 100_000;
/// How many of the others: an unoptimized build takes its time.
const LONG: usize = 20_000;
/// How deep the grammar itself goes: it keeps 10,000 symbols, and says so of more (`YYMAXDEPTH`).
const NESTED: usize = 1_500;
/// What all of them say that are deeper.
const TOO_DEEP: &str = "memory exhausted at or near";

fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        thread.expect("a thread").join().expect("no panic")
    })
}

/// What becomes of a text: the nodes of its tree once everything has read it, or the error that everything gives.
fn outcome(sql: &str) -> Result<usize, ParseError> {
    let lexed = Lexer::new(sql).filter(Result::is_ok).count();
    let _ = (scan(sql).map(|tokens| tokens.len()), comments(sql).map(|found| found.len()), lexed);
    let _ = split_with_scanner(sql).map(|pieces| pieces.len());
    match parse(sql) {
        Err(error) => {
            assert_eq!(normalize(sql).as_ref(), Err(&error));
            assert_eq!(split_with_parser(sql).as_ref(), Err(&error));
            assert_eq!(is_utility(sql).as_ref(), Err(&error));
            assert_eq!(summary(sql).err().as_ref(), Some(&error));
            assert_eq!(truncate(sql, 100).as_ref(), Err(&error));
            Err(error)
        }
        Ok(tree) => Ok(read_all(&tree, sql)),
    }
}

/// Everything that there is to do with a tree. The number of its nodes.
fn read_all(tree: &ParsedSql, sql: &str) -> usize {
    let mut visited = 0;
    tree.walk(&mut |_: node::Node<'_>, _: &Path<'_, '_>| {
        visited += 1;
        Step::Into
    });
    assert_eq!(tree.nodes().count(), visited);
    assert!(tree.to_json().ends_with("]}"));
    assert!(format!("{tree:?}").len() > visited && format!("{tree:#?}").len() > visited);
    let _ = (tree.fingerprint(), tree.classify(), tree.references(), tree.subjects().count());
    let _ = (tree.normalize(sql).len(), tree.normalize_utility(sql).len(), tree.summary().is_ok());
    assert_eq!(tree.split(sql).count(), tree.root().len());
    assert!(tree.truncate(100).is_ok_and(|text| text.len() <= 100));

    let written = tree.deparse().expect("a text");
    is_equal(tree, &written);
    let pretty = DeparseOptions { pretty: true, ..DeparseOptions::default() };
    let laid_out = tree.deparse_with(&pretty).expect("a text");
    is_equal(tree, &laid_out);

    let mut copies = Vec::new();
    for statement in tree.root().nodes() {
        let copy = statement.to_fragment().expect("a copy");
        assert!(copy.node() == statement);
        copies.push(copy);
    }
    let mut copied = parse("SELECT 1").expect("SQL");
    for copy in copies {
        copied.statements_mut().push(copy).expect("it is pushed");
    }
    assert!(copied.statements_mut().remove(0));
    assert!(copied == *tree);
    let mut edited = 0;
    let every = |_: edit::SlotMut<'_>| {
        edited += 1;
        Ok(())
    };
    copied.edit_each(every).expect("nothing was refused");
    // A constant's value is a node that cannot be exchanged.
    assert!(edited <= visited && 2 * edited >= visited, "{edited} of {visited}");
    visited
}

/// What was written of a tree parses to it again.
#[track_caller]
fn is_equal(tree: &ParsedSql, written: &str) {
    let beginning: String = written.chars().take(200).collect();
    match parse(written) {
        Ok(again) => assert!(again == *tree, "another tree: {beginning}"),
        Err(error) => panic!("{error}: {beginning}"),
    }
}

/// Runs `check` on the outcome of a text, on a small stack, and if the text is short, on the test's own.
#[track_caller]
fn everywhere(sql: &str, check: impl Fn(Result<usize, ParseError>)) {
    check(on_small_stack(|| outcome(sql)));
    if sql.len() < MANY {
        check(outcome(sql));
    }
}

#[track_caller]
fn is_tree(sql: &str, nodes_min: usize) {
    everywhere(sql, |outcome| match outcome {
        Ok(nodes) => assert!(nodes >= nodes_min, "{nodes} nodes"),
        Err(error) => panic!("{error}"),
    });
}

#[track_caller]
fn is_error(sql: &str, state: SqlState, message: &str) {
    everywhere(sql, |outcome| {
        let error = outcome.expect_err("it is no SQL");
        assert_eq!(error.sqlstate(), state, "{error}");
        assert!(error.message().starts_with(message), "{error}");
        assert!(error.position().is_some_and(|position| position <= sql.len()), "{error}");
    });
}

#[test]
fn long_chains() {
    is_tree(&joined("SELECT ", "1", " + ", MANY), 2 * MANY);
    is_tree(&joined("SELECT ", "a = 1", " OR ", MANY), MANY);
    is_tree(&joined("SELECT ", "(a AND b)", " OR ", LONG), LONG);
    is_tree(&joined("SELECT ", "a", " || ", LONG), 2 * LONG);
    is_tree(&format!("SELECT a{}", "::int".repeat(MANY)), 2 * MANY);
    // Written with parentheses, of which the grammar reads about 10,000 again.
    is_tree(&format!("SELECT a{}", " IS NULL".repeat(LONG)), LONG);
    is_tree(&format!("SELECT a{}", " IS TRUE".repeat(LONG)), LONG);
    is_tree(&format!("SELECT a{}", " COLLATE \"C\"".repeat(LONG)), LONG);
    is_tree(&format!("SELECT a{}", " AT TIME ZONE b".repeat(LONG)), LONG);
    is_tree(&format!("SELECT (a){}", "[1]".repeat(LONG)), LONG);
}

#[test]
fn long_queries() {
    is_tree(&joined("", "SELECT 1", " UNION ALL ", MANY), 4 * MANY);
    is_tree(&joined("", "SELECT 1", " EXCEPT ", LONG), 4 * LONG);
    is_tree(&joined("SELECT * FROM ", "t", " CROSS JOIN ", LONG), 2 * LONG);
    is_tree(&format!("SELECT * FROM t{}", " LEFT JOIN u ON a = b".repeat(MANY)), 5 * MANY);
    is_tree(&joined("SELECT * FROM ", "t", ", ", LONG), LONG);
    is_tree(&joined("INSERT INTO t VALUES ", "(1, 'a')", ", ", LONG), 2 * LONG);
    is_tree(&joined("", "SELECT 1", ";", LONG), 3 * LONG);
}

#[test]
fn a_million_elements() {
    let sql = joined("SELECT * FROM t WHERE a IN (", "1", ", ", 1_000_000) + ")";
    assert!(on_small_stack(|| outcome(&sql)).is_ok_and(|nodes| nodes > 1_000_000));
}

#[test]
fn as_deep_as_the_grammar_goes() {
    is_tree(&nested("SELECT ", "(", "1", ")", 4 * NESTED), 3);
    is_tree(&nested("SELECT ", "f(", "1", ")", NESTED), NESTED);
    is_tree(&nested("SELECT ", "(SELECT ", "1", ")", NESTED), NESTED);
    is_tree(&nested("SELECT ", "CASE WHEN a THEN ", "1", " END", NESTED), NESTED);
    is_tree(&nested("SELECT ", "ARRAY[", "1", "]", NESTED), NESTED);
    is_tree(&nested("SELECT ", "NOT ", "a", "", NESTED), NESTED);
    is_tree(&nested("SELECT ", "- ", "a", "", NESTED), NESTED);
    is_tree(&nested("", "SELECT * FROM (", "SELECT 1", ") x", NESTED), NESTED);
    is_tree(&nested("", "WITH x AS (", "SELECT 1", ") SELECT 2", NESTED), NESTED);
    is_tree(&nested("SELECT * FROM ", "t JOIN (", "u", " JOIN v ON true) ON true", NESTED), NESTED);
    is_tree(&nested("", "(", "SELECT 1", " UNION SELECT 2)", NESTED), NESTED);
}

#[test]
fn deeper_than_the_grammar_goes() {
    let deep = |before, open, core, close| {
        is_error(&nested(before, open, core, close, MANY), SqlState::SYNTAX_ERROR, TOO_DEEP);
        is_error(&nested(before, open, core, close, 10_000), SqlState::SYNTAX_ERROR, TOO_DEEP);
        // Never closed.
        is_error(&nested(before, open, "", "", MANY), SqlState::SYNTAX_ERROR, TOO_DEEP);
    };
    deep("SELECT ", "(", "1", ")");
    deep("SELECT ", "f(", "1", ")");
    deep("SELECT ", "(SELECT ", "1", ")");
    deep("SELECT ", "CASE WHEN ", "a", " THEN 1 END");
    deep("", "SELECT * FROM (", "SELECT 1", ") x");
    deep("", "WITH x AS (", "SELECT 1", ") SELECT 2");
    deep("SELECT * FROM ", "t JOIN (", "u", " JOIN v ON true) ON true");
}

#[test]
fn comments_in_comments() {
    let comment = nested("", "/*", "", "*/", MANY);
    is_tree(&format!("SELECT {comment} 1"), 3);
    is_tree(&joined("SELECT ", "1 /* a */ -- b\n", " + ", MANY), 2 * MANY);
    is_error(&format!("SELECT {}", "/*".repeat(MANY)), SqlState::SYNTAX_ERROR, "unterminated /* comment");
    is_error(
        &format!("SELECT {}", &comment[..comment.len() - 2]),
        SqlState::SYNTAX_ERROR,
        "unterminated /* comment",
    );
}

#[test]
fn what_is_not_closed() {
    let long = "a ".repeat(MANY);
    for (open, message) in [
        ("'", "unterminated quoted string"),
        ("E'\\'", "unterminated quoted string"),
        ("U&'", "unterminated quoted string"),
        ("\"", "unterminated quoted identifier"),
        ("U&\"", "unterminated quoted identifier"),
        ("$$", "unterminated dollar-quoted string"),
        ("$a$ $b$", "unterminated dollar-quoted string"),
        ("B'", "unterminated bit string literal"),
        ("X'", "unterminated hexadecimal string literal"),
        ("/* /* */", "unterminated /* comment"),
    ] {
        is_error(&format!("SELECT é, {open}"), SqlState::SYNTAX_ERROR, message);
        is_error(&format!("SELECT {open}{long}"), SqlState::SYNTAX_ERROR, message);
    }
    for open in ["(", "f(", "ARRAY[", "CASE", "CAST(a", "a[", "1 +", "(SELECT", "a IN ("] {
        is_error(&format!("SELECT {open}"), SqlState::SYNTAX_ERROR, "syntax error at end of input");
    }
}

#[test]
fn bytes_that_are_no_text() {
    is_error("SELECT 'a\0b'", SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence");
    is_error(&("\0".repeat(MANY)), SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence");
    is_error("SELECT 1 \0 'never read", SqlState::CHARACTER_NOT_IN_REPERTOIRE, "invalid byte sequence");
    // Where bytes are taken.
    for bytes in
        [b"SELECT '\xff'".as_slice(), b"\xc3", b"SELECT \"\xed\xa0\x80\"", b"$\xff$", b"E'\xf8'", b"\0"]
    {
        let tokens = Lexer::new(bytes).take_while(Result::is_ok).flatten();
        assert!(tokens.map(|token| token.end as usize).max().unwrap_or_default() <= bytes.len());
        let mut buffer = trunkline_parser::key::KeyBuffer::new();
        let _ = trunkline_parser::key::scan_key(bytes, &mut buffer);
    }
}

#[test]
fn other_modes() {
    let within = |mode, sql: &str| {
        let options = ParseOptions { mode, ..ParseOptions::default() };
        on_small_stack(|| parse_with(sql, options).map(|tree| tree.nodes().count()))
    };
    assert!(within(Mode::TypeName, &format!("int{}", "[]".repeat(MANY))).is_ok());
    assert!(within(Mode::PlpgsqlExpression, &joined("", "a", " + ", MANY)).is_ok_and(|nodes| nodes > MANY));
    assert!(within(Mode::PlpgsqlAssign1, &joined("x := ", "a", " + ", MANY)).is_ok_and(|nodes| nodes > MANY));
    assert!(within(Mode::PlpgsqlAssign2, &format!("x{} := 1", "[1]".repeat(MANY))).is_ok());
    assert!(within(Mode::TypeName, &"(".repeat(MANY)).is_err());
}

/// Of what recurses nowhere: a quarter of a megabyte does.
#[test]
fn classes_cost_no_stack() {
    let tree = parse(&joined("SELECT f(1) + ", "1", " + ", MANY)).expect("SQL");
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(move || tree.classify());
    let class = thread.expect("a thread").join().expect("no panic");
    assert!(class.touches().any(Touches::UNKNOWN_FUNCTIONS));
}
