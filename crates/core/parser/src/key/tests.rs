use super::*;

/// The key of a text, which must have one, and the bytes of its literals.
fn key(text: &str) -> (Vec<u8>, Vec<String>) {
    let mut buffer = KeyBuffer::new();
    match scan_key(text, &mut buffer) {
        ScanKey::Sure(key) => {
            let literals = key.literals.iter().map(|literal| {
                let value = &text[literal.start as usize..literal.end as usize];
                format!("{}{value}", if literal.negative { "-" } else { "" })
            });
            (key.bytes.to_vec(), literals.collect())
        }
        ScanKey::Unsure(reason) => panic!("{text}: {reason:?}"),
    }
}

fn unsure(text: &str) -> Unsure {
    let mut buffer = KeyBuffer::new();
    match scan_key(text, &mut buffer) {
        ScanKey::Sure(key) => panic!("{text}: {:?}", String::from_utf8_lossy(key.bytes)),
        ScanKey::Unsure(reason) => reason,
    }
}

#[test]
fn texts_with_one_tree_share_a_key() {
    for same in [
        &["SELECT 1", "select\t2", "SELECT /* hint */ 3 -- x", "SELECT 1_000;", "SELECT 0x1F ; ;"][..],
        &["SELECT 'a'", "SELECT E'\\n'", "SELECT $$b$$", "SELECT $t$ $$ $t$", "SELECT 'a'\n'b'"],
        &[
            "SELECT 1.5",
            "SELECT 1e5",
            "SELECT 99999999999999999999",
            "SELECT 0xFFFFFFFFFFFFFFFFFF",
            "SELECT 1_0.5",
        ],
        &["SELECT 2147483649", "SELECT 9223372036854775807", "SELECT 0xFFFF_FFFF", "SELECT 3_000_000_000"],
        &["SELECT a IN (3000000000)", "SELECT a IN (3000000001, -3000000002)"],
        &["SELECT a::numeric(10, 2), 1", "SELECT a::numeric ( 10, 2 ), 2"],
        &["SELECT f(1)", "SELECT f(2)"],
        &["SELECT a AS b, f(1)", "SELECT a AS b, f(2)"],
        &["SELECT a::int + f(1)", "SELECT a::int + f(2)"],
        &["INSERT INTO t (a) VALUES (1)", "INSERT INTO t (a) VALUES (2)"],
        &["SELECT a FROM T WHERE x <> 1", "select A from t where X != 2"],
        &["SELECT n'a'", "SELECT NCHAR 'b'"],
        &["SELECT $1", "SELECT $01"],
        &["SELECT 1 WHERE a IN (1)", "SELECT 1 WHERE a IN (1,2, 3)", "SELECT 1 WHERE a IN (-4, - 5)"],
        &["SELECT (a, b) IN ((1, 'a'))", "SELECT (a, b) IN ((1, 'a'), (2, 'b'))"],
        &["VALUES (1, now())", "VALUES (1, now()), (2, now())", "VALUES (1, NOW()), (2, now()), (3, now())"],
        &["INSERT INTO t (a) VALUES (now(), 'a')", "INSERT INTO t (a) VALUES (now(), 'a'), (now(), 'b')"],
        &["INSERT INTO a.b AS c VALUES (1) RETURNING 1", "INSERT INTO a.b AS c VALUES (1), (2) RETURNING 1"],
        &["VALUES ($1, 2)", "VALUES ($1, 3), ($1, 4)"],
        &["SELECT * FROM (VALUES (1)) t", "SELECT * FROM (VALUES (1), (2)) t"],
        &["SELECT a = ANY (ARRAY[1])", "SELECT a = ANY (ARRAY [2])"],
        &["SELECT a + ARRAY[[1, 2], [3, 4]]", "SELECT a + ARRAY[[5, 6], [7, 8]]"],
        &["SELECT a['b']", "SELECT a['c']"],
        &["SELECT 1 UNION ALL VALUES (1)", "SELECT 1 UNION ALL VALUES (1), (2)"],
    ] {
        let first = key(same[0]).0;
        for other in same {
            assert_eq!(key(other).0, first, "{other} and {}", same[0]);
        }
    }
}

// tidy: long because it is a table of texts
#[test]
fn texts_with_different_trees_have_different_keys() {
    let texts = [
        "SELECT a::int[1]",
        "SELECT a::int[2]",
        "SELECT a::int /* [ */ [ 3 ]",
        "SELECT a::int[1][2]",
        "SELECT a::int[1][3]",
        "SELECT a::\"int\"[1]",
        "SELECT a::\"int\"[2]",
        "SELECT a::varchar(1)[1]",
        "SELECT a::varchar(1)[2]",
        "SELECT a::int ARRAY[1]",
        "SELECT a::int ARRAY[2]",
        "SELECT a[1]",
        "SELECT a[1000000000]",
        "SELECT a[10000000000]",
        "SELECT 1",
        "SELECT 1.0",
        "SELECT '1'",
        "SELECT B'1'",
        "SELECT X'1'",
        "SELECT $1",
        "SELECT $2",
        "SELECT a",
        "SELECT \"a\"",
        "SELECT \"A\"",
        "SELECT \"a\"\"b\"",
        "SELECT \"a\" \"b\"",
        "SELECT a b",
        "SELECT ab",
        "SELECT a$1",
        "SELECT a $1",
        "SELECT -1",
        "SELECT - -1",
        "SELECT + 1",
        "SELECT @-1",
        "SELECT @ -1",
        "SELECT @- 1, 1",
        "SELECT é",
        "SELECT É",
        "SELECT a.b",
        "SELECT a . b, c",
        "SELECT 1 WHERE a IN (1)",
        "SELECT 1 WHERE a IN ('a')",
        "SELECT 1 WHERE a IN (1, 'a')",
        "SELECT 1 WHERE a IN (1, 2.0)",
        "SELECT 1 WHERE a IN (1, NULL)",
        "SELECT 1 WHERE a IN (1, 2, NULL)",
        "SELECT 1 WHERE a IN ($1)",
        "SELECT 1 WHERE a IN ($2)",
        "SELECT 1 WHERE a IN ($2, $1)",
        "SELECT 1 WHERE a IN ($1, 1)",
        "SELECT 1 WHERE a IN ($1, $2)",
        "SELECT 1 WHERE a IN ($1, $2, $3)",
        "SELECT (a, b) IN (($1, $2))",
        "SELECT (a, b) IN (($1, $2), ($3, $4))",
        "INSERT INTO t (a) VALUES ($1, 'a')",
        "INSERT INTO t (a) VALUES ($1, 'a'), ($2, 'b')",
        "SELECT 2147483648",
        "SELECT -2147483648",
        "SELECT 2147483649",
        "SELECT 9223372036854775808",
        "SELECT -9223372036854775808",
        "SELECT a::numeric(10, 2)",
        "SELECT a::numeric(10, 3)",
        "SELECT a::numeric(10, -3)",
        "SELECT CAST(a AS numeric(10, 2))",
        "SELECT CAST(a AS numeric(11, 2))",
        "SELECT a::s.geometry(4326)",
        "SELECT a::s.geometry(4327)",
        "SELECT a::\"Geometry\"('Point', 4326)",
        "SELECT a::\"Geometry\"('Point', 4327)",
        "SELECT a::\"Geometry\"('Line', 4327)",
        "SELECT a::character varying(3)",
        "SELECT a::character varying(4)",
        "SELECT interval '1' second(3)",
        "SELECT interval '1' second(4)",
        "SELECT timestamp(3) with time zone '2000-01-01'",
        "SELECT timestamp(4) with time zone '2000-01-01'",
        "SELECT * FROM f() AS t(a varchar(3))",
        "SELECT * FROM f() AS t(a varchar(4))",
        "SELECT 1 WHERE a IN ((1), (2), 3)",
        "SELECT 1 WHERE a IN ((1))",
        "SELECT 1 WHERE a IN ((SELECT 1))",
        "SELECT 1 WHERE a IN ((SELECT 1), (SELECT 1))",
        "SELECT position('a' IN ('b'))",
        "SELECT position('a' IN ('b', 'c'))",
        "SELECT s.in (1)",
        "SELECT s.in (1, 2)",
        "SELECT s.values (1)",
        "SELECT s.values (1), (1)",
        "SELECT * FROM t values (a)",
        "SELECT * FROM t values (a), (a)",
        "SELECT * FROM f() values (a numeric(1))",
        "SELECT * FROM f() values (a numeric(1)), (a numeric(1))",
        "VALUES (1)",
        "VALUES (1) (1)",
        "VALUES (1),,(1)",
        "VALUES (1),",
        "VALUES (1), (1, 2)",
        "VALUES ($1)",
        "VALUES ($2)",
        "VALUES ($1), ($3)",
        "VALUES ($1, $2)",
        "VALUES ($1, $1)",
        "VALUES ($2, $1)",
        "VALUES ('a')",
        "VALUES (NULL)",
        "VALUES (a), (a)",
        "SELECT 1 WHERE a IN (1,)",
        "SELECT 1 WHERE a IN ()",
        "SELECT 1 WHERE a IN (1 + 1)",
        "SELECT 1 WHERE a IN (-1 + 1)",
        "SELECT 1 WHERE a IN (--1\n 1, - -1)",
        "SELECT 1 WHERE a IN (+1)",
        "INSERT INTO values (a) VALUES (1)",
        "INSERT INTO values (a) VALUES (1), (1)",
    ];
    for (at, one) in texts.iter().enumerate() {
        for other in &texts[at + 1..] {
            assert_ne!(key(one).0, key(other).0, "{one} and {other}");
        }
    }
}

#[test]
fn texts_whose_meaning_may_depend_on_literals_are_unsure() {
    use Unsure::*;
    for (text, reason) in [
        ("", Empty),
        (" -- x", Empty),
        ("SET a = 1", Utility),
        ("BEGIN", Utility),
        ("EXPLAIN SELECT 1", Utility),
        ("\"select\" 1", Utility),
        (";", Utility),
        ("SELECT 1; SELECT 2", SeveralStatements),
        ("SELECT set_config('a', 'b', false)", Settings),
        ("SELECT pg_catalog.SET_CONFIG('a', 'b', false)", Settings),
        ("SELECT \"set_config\"('a', 'b', false)", Settings),
        ("UPDATE pg_settings SET setting = 'x'", Settings),
        ("SELECT a::float(3)", FloatPrecision),
        ("SELECT CAST(a AS FLOAT /* x */ (3))", FloatPrecision),
        ("SELECT Current_Timestamp(3)", FloatPrecision),
        ("SELECT LOCALTIME (3)", FloatPrecision),
        ("SELECT U&'a'", UnicodeEscapes),
        ("SELECT U&\"a\"", UnicodeEscapes),
        ("SELECT {", StrayCharacter),
        ("SELECT $", StrayCharacter),
    ] {
        assert_eq!(unsure(text), reason, "{text}");
    }
    assert!(matches!(unsure("SELECT 'a"), Lexer(_)));
    assert!(matches!(unsure("SELECT 'a\0'"), Lexer(_)));
}

#[test]
fn literals_are_those_of_the_scanned_text() {
    let (_, literals) = key("SELECT 1, 'a' FROM t WHERE b IN (-1, 2) AND c = - 3 LIMIT 0x10");
    assert_eq!(literals, ["1", "'a'", "-1", "2", "3", "0x10"]);
}

#[test]
fn parameters_are_those_of_the_scanned_text() {
    let mut buffer = KeyBuffer::new();
    for (text, largest) in [
        ("SELECT 1", 0),
        ("SELECT a IN ($1)", 1),
        ("SELECT a IN ($1, $2, $3)", 3),
        ("INSERT INTO t VALUES ($3, $1), ($2, $7)", 7),
        ("SELECT '$9', $2, $01", 2),
    ] {
        let ScanKey::Sure(key) = scan_key(text, &mut buffer) else { panic!("{text}") };
        assert_eq!(key.largest_parameter, largest, "{text}");
    }
}

#[test]
fn the_session_decides_what_a_backslash_is() {
    let mut buffer = KeyBuffer::new();
    let text = r"SELECT 'a\', b";
    assert!(matches!(scan_key_with(text, &mut buffer, false), ScanKey::Unsure(Unsure::Lexer(_))));
    assert!(matches!(scan_key_with(text, &mut buffer, true), ScanKey::Sure(_)));
}

/// Random statements from pieces that the scan reads itself. The lexer must give the same result.
// tidy: long because it is a table of texts
#[test]
fn the_scan_agrees_with_the_lexer() {
    const TEXTS: u32 = 20_000;
    const PIECES: &[&str] = &[
        "a",
        "Abc_1",
        "\"q\"",
        "\"a\"\"b\"",
        "\"set_config\"",
        "'s'",
        "'a''b'",
        "'a'\n'b'",
        "'",
        "E'\\''",
        "e",
        "b'1'",
        "n'x'",
        "N",
        "u&",
        "U&'a'",
        "$1",
        "$2",
        "$3",
        "$$d$$",
        "$",
        "1",
        "12",
        "123456789",
        "1234567890",
        "1.5",
        ".5",
        "1..2",
        "1a",
        "1_000",
        "0x1f",
        "2147483648",
        "3000000000",
        "numeric(",
        "::t(",
        "::s.t",
        "time",
        ".",
        "..",
        "::",
        ":=",
        ":",
        "+",
        "-",
        "*",
        "/",
        "<",
        ">",
        "=",
        "<>",
        "!=",
        "<=",
        "=>",
        "~",
        "?",
        "@-",
        "--c\n",
        "/*c*/",
        "/*",
        ",",
        "(",
        ")",
        "[",
        "]",
        ";",
        "{",
        " ",
        " ",
        " ",
        "\n",
        "IN",
        "in (",
        "IN ((",
        "), (",
        "1, 2)",
        "$1, $2)",
        "VALUES",
        "values (",
        "INSERT INTO t ",
        "SELECT",
        "from",
        "UNION ALL",
        "as",
        "float(",
        "position(",
        "set_config",
        "abcdefghijklmnopqrstuvwxyzé",
        "É",
        "\0",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % limit
    };
    let mut keyed = 0;
    for _ in 0..TEXTS {
        let mut text = String::from(["SELECT ", "INSERT INTO t ", "VALUES (", "((SELECT "][below(4)]);
        for _ in 0..below(20) {
            text.push_str(PIECES[below(PIECES.len())]);
            text.push_str(["", " "][below(2)]);
        }
        let (mut here, mut there) = (KeyBuffer::new(), KeyBuffer::new());
        let one = scan::scan(text.as_bytes(), &mut here, true, false);
        let other = scan::scan(text.as_bytes(), &mut there, true, true);
        match (one, other) {
            (ScanKey::Sure(one), ScanKey::Sure(other)) => {
                assert_eq!(one.bytes, other.bytes, "{text:?}");
                assert_eq!(one.literals, other.literals, "{text:?}");
                assert_eq!(one.has_comments, other.has_comments, "{text:?}");
                keyed += 1;
            }
            (ScanKey::Unsure(one), ScanKey::Unsure(other)) => assert_eq!(one, other, "{text:?}"),
            (one, other) => panic!("{text:?}: {one:?} and {other:?}"),
        }
    }
    assert!(keyed > TEXTS / 20, "{keyed} of {TEXTS} have a key");
}

#[test]
fn long_lists_are_short_keys() {
    let numbers = |count: u32| (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let (short, few) = key(&format!("SELECT a IN ({})", numbers(2)));
    let mut buffer = KeyBuffer::new();
    let ScanKey::Sure(long) = scan_key(&format!("SELECT a IN ({})", numbers(100_000)), &mut buffer) else {
        panic!()
    };
    assert_eq!(long.bytes, short);
    assert_eq!((few.len(), long.literals.len(), long.all_literals), (2, LITERALS_MAX, false));
}
