//! Rust's names for C's: by rule, so that a reader who knows one knows the other.

/// A type or an enum's variant: underscores go, each part begins with a capital, all-capital parts are
/// written small. `A_Expr` is `AExpr`, `AEXPR_OP_ANY` is `AexprOpAny`, `LockWaitBlock` stays.
pub(crate) fn type_name(c: &str) -> String {
    let keeps_case = c.chars().any(|letter| letter.is_ascii_lowercase());
    let mut name = String::with_capacity(c.len());
    for part in c.split('_') {
        let all_capital = !part.chars().any(|letter| letter.is_ascii_lowercase());
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        if all_capital && (!keeps_case || part.len() > 1) && c.contains('_') {
            name.push_str(&letters.as_str().to_ascii_lowercase());
        } else {
            name.push_str(letters.as_str());
        }
    }
    name
}

/// A view: as [`type_name`], except for names that would hide one of those that every Rust program has, where all of
/// `node` is imported.
pub(crate) fn view_name(c: &str) -> String {
    if c == "String" { "StringNode".to_owned() } else { type_name(c) }
}

/// A variant of an enum: as [`type_name`], and what is one word in capitals is written small too.
pub(crate) fn variant_name(c: &str) -> String {
    if c.contains('_') || c.chars().any(|letter| letter.is_ascii_lowercase()) {
        return type_name(c);
    }
    let mut letters = c.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().collect::<String>() + &letters.as_str().to_ascii_lowercase()
}

/// A getter: words at capitals, all small. `whereClause` is `where_clause`, `hasTargetSRFs` is
/// `has_target_srfs`; words of Rust are escaped, and `node`, which every view has as a method, is `node_`.
pub(crate) fn getter_name(c: &str) -> String {
    let letters: Vec<char> = c.chars().collect();
    let mut name = String::with_capacity(c.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied().unwrap_or('_');
        let after = letters.get(at + 1).copied().unwrap_or('_');
        // The `s` of a plural belongs to the capitals before it.
        let is_plural = after == 's' && at + 2 == letters.len();
        let begins_word = before.is_ascii_lowercase()
            || before.is_ascii_digit()
            || (before.is_ascii_uppercase() && after.is_ascii_lowercase() && !is_plural);
        if letter.is_ascii_uppercase() && begins_word {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    if name == "node" { "node_".to_owned() } else { escape(&name) }
}

/// A name of C as an identifier of Rust.
pub(crate) fn escape(name: &str) -> String {
    match name {
        "type" | "override" | "move" | "where" | "ref" | "mod" | "loop" | "match" | "in" | "fn" | "impl" => {
            format!("r#{name}")
        }
        _ => name.to_owned(),
    }
}
