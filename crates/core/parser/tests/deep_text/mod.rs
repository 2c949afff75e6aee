//! Texts of many equal pieces.

/// `before`, and `count` times `piece` with `between` between.
pub(crate) fn joined(before: &str, piece: &str, between: &str, count: usize) -> String {
    let mut text = String::with_capacity(before.len() + count * (piece.len() + between.len()));
    text.push_str(before);
    for number in 0..count {
        text.push_str(if number > 0 { between } else { "" });
        text.push_str(piece);
    }
    text
}

/// `core` within `depth` pairs of `open` and `close`.
pub(crate) fn nested(before: &str, open: &str, core: &str, close: &str, depth: usize) -> String {
    format!("{before}{}{core}{}", open.repeat(depth), close.repeat(depth))
}
