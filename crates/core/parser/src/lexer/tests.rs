use super::*;

/// The tokens of a text as `kind:bytes`.
fn tokens(text: &str) -> Result<Vec<(TokenKind, &str)>, LexError> {
    Lexer::new(text)
        .comments(true)
        .map(|token| token.map(|token| (token.kind, &text[token.start as usize..token.end as usize])))
        .collect()
}

fn message(text: &str) -> String {
    tokens(text).map_or_else(|error| error.message(text), |tokens| format!("no error: {tokens:?}"))
}

#[test]
fn operators_end_before_comments_and_trailing_signs() {
    use TokenKind::{EqualsGreater, LineComment, Operator, Symbol};
    assert_eq!(tokens("=>+").unwrap(), [(EqualsGreater, "=>"), (Symbol, "+")]);
    assert_eq!(tokens("@>+").unwrap(), [(Operator, "@>+")]);
    assert_eq!(tokens("*--x").unwrap(), [(Symbol, "*"), (LineComment, "--x")]);
    assert_eq!(tokens("<->").unwrap(), [(Operator, "<->")]);
}
