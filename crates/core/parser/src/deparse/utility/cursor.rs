//! Cursors: DECLARE, FETCH, MOVE, CLOSE.

use crate::deparse::context::Context;
use crate::deparse::need::{given, need};
use crate::deparse::{Deparser, Done};
use crate::node::{ClosePortalStmt, DeclareCursorStmt, FetchDirection, FetchStmt, SelectStmt};

/// Bits of a cursor's options before the word CURSOR, in the order they are written (`CURSOR_OPT_...`).
const OPTIONS: [(i32, &str); 5] =
    [(0x1, "BINARY "), (0x2, "SCROLL "), (0x4, "NO SCROLL "), (0x8, "INSENSITIVE "), (0x10, "ASENSITIVE ")];
/// `CURSOR_OPT_HOLD`.
const HOLD: i32 = 0x20;
/// How many rows FETCH ALL wants (`FETCH_ALL`).
const ALL: i64 = i64::MAX;

impl Deparser<'_> {
    pub(in crate::deparse) fn declare_cursor_stmt(&mut self, statement: DeclareCursorStmt<'_>) -> Done {
        self.str("DECLARE ");
        self.ident(given(statement.portalname(), "a cursor")?);
        self.char(' ');
        for (bit, words) in OPTIONS {
            if statement.options() & bit != 0 {
                self.str(words);
            }
        }
        self.str("CURSOR ");
        if statement.options() & HOLD != 0 {
            self.str("WITH HOLD ");
        }
        self.str("FOR ");
        self.select_stmt(need::<SelectStmt<'_>>(statement.query(), "a cursor's query")?, Context::None)
    }

    pub(in crate::deparse) fn fetch_stmt(&mut self, statement: FetchStmt<'_>) -> Done {
        self.str(if statement.ismove() { "MOVE " } else { "FETCH " });
        let (words, number) = match (statement.direction(), statement.how_many()) {
            (FetchDirection::FetchForward, 1) => ("", None),
            (FetchDirection::FetchForward, ALL) => ("ALL ", None),
            (FetchDirection::FetchForward, number) => ("FORWARD ", Some(number)),
            (FetchDirection::FetchBackward, 1) => ("PRIOR ", None),
            (FetchDirection::FetchBackward, ALL) => ("BACKWARD ALL ", None),
            (FetchDirection::FetchBackward, number) => ("BACKWARD ", Some(number)),
            (FetchDirection::FetchAbsolute, 1) => ("FIRST ", None),
            (FetchDirection::FetchAbsolute, -1) => ("LAST ", None),
            (FetchDirection::FetchAbsolute, number) => ("ABSOLUTE ", Some(number)),
            (FetchDirection::FetchRelative, number) => ("RELATIVE ", Some(number)),
        };
        self.str(words);
        if let Some(number) = number {
            self.int(number);
            self.char(' ');
        }
        self.ident(given(statement.portalname(), "a cursor")?);
        Ok(())
    }

    pub(in crate::deparse) fn close_portal_stmt(&mut self, statement: ClosePortalStmt<'_>) -> Done {
        self.str("CLOSE ");
        match statement.portalname() {
            Some(name) => self.ident(name),
            None => self.str("ALL"),
        }
        Ok(())
    }
}
