use super::*;

/// The tokens of a text, including comments, with their bytes.
fn tokens(text: &str) -> Result<Vec<(TokenKind, &str)>, LexError> {
    let lexer = Lexer::new(text).comments(true);
    lexer
        .map(|token| token.map(|token| (token.kind, &text[token.start as usize..token.end as usize])))
        .collect()
}

fn all(text: &str) -> Vec<(TokenKind, &str)> {
    tokens(text).unwrap_or_else(|error| panic!("{text:.80}: {error}"))
}

fn message(text: &str) -> String {
    tokens(text).map_or_else(|error| error.message(text), |tokens| format!("no error: {tokens:?}"))
}

#[test]
fn operators_end_before_comments_and_trailing_signs() {
    use TokenKind::{BlockComment, EqualsGreater, LineComment, NotEquals, Operator, Symbol};
    assert_eq!(all("=>+"), [(EqualsGreater, "=>"), (Symbol, "+")]);
    assert_eq!(all("@>+"), [(Operator, "@>+")]);
    assert_eq!(all("*--x"), [(Symbol, "*"), (LineComment, "--x")]);
    assert_eq!(all("*/*/*x*/*/<->"), [(Symbol, "*"), (BlockComment, "/*/*x*/*/"), (Operator, "<->")]);
    assert_eq!(all("!=-!=@-"), [(Operator, "!=-!=@-")]);
    assert_eq!(all("<>-<>"), [(Operator, "<>-<>")]);
    assert_eq!(all("!=<> ~"), [(Operator, "!=<>"), (Operator, "~")]);
    assert_eq!(all("!= <>"), [(NotEquals, "!="), (NotEquals, "<>")]);
    assert_eq!(message(&"*".repeat(64)), format!("operator too long at or near \"{}\"", "*".repeat(64)));
}

#[test]
fn strings_continue_after_newlines_and_line_comments() {
    use TokenKind::{BitString, National, String};
    assert_eq!(all("'a'\n'b'"), [(String, "'a'\n'b'")]);
    assert_eq!(all("'a' -- x\n -- y\n\t'b'"), [(String, "'a' -- x\n -- y\n\t'b'")]);
    assert_eq!(all("'a' 'b'"), [(String, "'a'"), (String, "'b'")]);
    assert_eq!(all("'a'/**/\n'b'")[0], (String, "'a'"));
    assert_eq!(all("b'0'\n'1'''"), [(BitString, "b'0'\n'1'"), (String, "''")]);
    assert_eq!(all("n'a'"), [(National, "n"), (String, "'a'")]);
    assert_eq!(message("'a'\n'b"), "unterminated quoted string at or near \"'a'\n'b\"");
}

#[test]
fn dollar_quotes_need_their_own_tag() {
    use TokenKind::{DollarString, Param, Symbol, Word};
    assert_eq!(all("$$a$b$$"), [(DollarString, "$$a$b$$")]);
    assert_eq!(all("$a$ $b$a$"), [(DollarString, "$a$ $b$a$")]);
    assert_eq!(all("$1$$$$"), [(Param, "$1"), (DollarString, "$$$$")]);
    assert_eq!(all("$a a$b$"), [(Symbol, "$"), (Word, "a"), (Word, "a$b$")]);
    assert_eq!(message("$a$ $a"), "unterminated dollar-quoted string at or near \"$a$ $a\"");
}

#[test]
fn numbers_end_where_postgresql_ends_them() {
    use TokenKind::{DotDot, Float, Integer, Param};
    assert_eq!(all("1..10"), [(Integer, "1"), (DotDot, ".."), (Integer, "10")]);
    assert_eq!(
        all("1_000 0x_Ff 0o7 0b1"),
        [(Integer, "1_000"), (Integer, "0x_Ff"), (Integer, "0o7"), (Integer, "0b1")]
    );
    assert_eq!(
        all("2147483647 2147483648 0x80000000"),
        [(Integer, "2147483647"), (Float, "2147483648"), (Float, "0x80000000")]
    );
    assert_eq!(all("1. .5 1.e-3"), [(Float, "1."), (Float, ".5"), (Float, "1.e-3")]);
    assert_eq!(all("1$1"), [(Integer, "1"), (Param, "$1")]);
    assert_eq!(message("1_000$1"), "trailing junk after numeric literal at or near \"1_000$1\"");
    assert_eq!(message("1e+ "), "trailing junk after numeric literal at or near \"1e+\"");
    assert_eq!(message("0x"), "invalid hexadecimal integer at or near \"0x\"");
    assert_eq!(message("$2147483648"), "parameter number too large at or near \"$2147483648\"");
}

#[test]
fn escapes_are_checked() {
    assert_eq!(all(r"E'\'' '\'").len(), 2);
    assert_eq!(message(r"E'\u12'"), "invalid Unicode escape");
    assert_eq!(message(r"E'\ud83d'"), "invalid Unicode surrogate pair at or near \"'\"");
    assert_eq!(message(r"E'\ud83d"), "invalid Unicode surrogate pair at end of input");
    assert_eq!(message(r"E'\xc3x'"), "invalid byte sequence for encoding \"UTF8\": 0xc3 0x78");
    assert_eq!(all("E'\\xc3'\n'\\xa9\\ud83d\\ude00'").len(), 1);
    assert_eq!(message("\"\""), "zero-length delimited identifier at or near \"\"\"\"");
}

#[test]
fn without_standard_conforming_strings_all_strings_have_escapes() {
    let text = r"'\'' U&'a'";
    let mut lexer = Lexer::new(text).standard_conforming_strings(false);
    assert_eq!(lexer.next_token().unwrap().map(|token| token.end), Some(4));
    let error = lexer.next_token().unwrap_err();
    assert_eq!((error.kind, error.position), (LexErrorKind::UnsafeUnicodeString, 5));
    assert_eq!(lexer.next_token(), Ok(None));
}

#[test]
fn a_zero_byte_is_an_error_wherever_it_is() {
    for text in ["\0", "a\0", "'\0'", "/*\0*/", "a b c \0"] {
        let errors: Vec<_> = Lexer::new(text).filter_map(Result::err).collect();
        let place = text.find('\0').map_or(0, |place| place as u32);
        assert_eq!(errors.len(), 1);
        assert_eq!((errors[0].kind, errors[0].position), (LexErrorKind::NulByte, place));
    }
}

/// For several of these texts, the time of PostgreSQL's lexer grows with the square of the length. It needs minutes
/// for them; this lexer needs almost no time.
#[test]
fn hostile_texts_need_time_proportional_to_their_length() {
    const LENGTH: usize = 1 << 17;
    let nested = format!("{}{}", "/*".repeat(LENGTH), "*/".repeat(LENGTH));
    assert_eq!(all(&nested).len(), 1);
    assert_eq!(all(&"+".repeat(LENGTH)).len(), LENGTH);
    assert_eq!(all(&"-+".repeat(LENGTH)).len(), 2 * LENGTH);
    assert_eq!(all(&"$".repeat(LENGTH)).len(), LENGTH / 4);
    assert_eq!(all(&"$a ".repeat(LENGTH)).len(), 2 * LENGTH);
    assert_eq!(all(&"'a' --\n".repeat(LENGTH)).len(), 2);
    assert_eq!(all(&format!("${0} ${0}", "a".repeat(LENGTH))).len(), 4);
    assert!(tokens(&format!("${0}${1}", "a".repeat(LENGTH), "$aa".repeat(LENGTH))).is_err());
    for unterminated in ["/*", "'", "E'\\u0041", "\"", "$a$", "1_0", "*/"] {
        let result = tokens(&unterminated.repeat(LENGTH)).map(|tokens| tokens.len());
        assert!(result.is_err() || result.is_ok_and(|tokens| tokens <= 8 * LENGTH), "{unterminated}");
    }
}
