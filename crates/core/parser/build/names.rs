//! Makes Rust names from C names by fixed rules, so that a reader who knows one name knows the other.

/// The name of a type or a variant: no underscores, each part begins with a capital letter, and a part in capital
/// letters becomes lower case after the first. `A_Expr` is `AExpr`, `AEXPR_OP_ANY` is `AexprOpAny`, `LockWaitBlock`
/// stays.
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

/// The name of a view: as [`type_name`], except for names that would hide one of Rust's prelude when somebody imports
/// everything from `node`.
pub(crate) fn view_name(c: &str) -> String {
    if c == "String" { "StringNode".to_owned() } else { type_name(c) }
}

/// The name of a variant: as [`type_name`], and a name that is one word in capital letters also becomes lower case
/// after the first letter.
pub(crate) fn variant_name(c: &str) -> String {
    if c.contains('_') || c.chars().any(|letter| letter.is_ascii_lowercase()) {
        return type_name(c);
    }
    let mut letters = c.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().collect::<String>() + &letters.as_str().to_ascii_lowercase()
}

/// The name of a getter, in snake case: `whereClause` is `where_clause`, `hasTargetSRFs` is `has_target_srfs`.
/// Keywords of Rust are escaped. `node` becomes `node_`, because every view has a method `node`.
pub(crate) fn getter_name(c: &str) -> String {
    let letters: Vec<char> = c.chars().collect();
    let mut name = String::with_capacity(c.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied().unwrap_or('_');
        let after = letters.get(at + 1).copied().unwrap_or('_');
        // The `s` of a plural belongs to the capital letters before it.
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

/// A C name as a Rust identifier.
pub(crate) fn escape(name: &str) -> String {
    match name {
        "type" | "override" | "move" | "where" | "ref" | "mod" | "loop" | "match" | "in" | "fn" | "impl" => {
            format!("r#{name}")
        }
        _ => name.to_owned(),
    }
}
