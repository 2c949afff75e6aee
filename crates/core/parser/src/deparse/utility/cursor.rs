//! Cursors: DECLARE, FETCH, MOVE, CLOSE.

use crate::deparse::context::Context;
use crate::deparse::need::{required, required_node};
use crate::deparse::{DeparseResult, Deparser};
use crate::node::{ClosePortalStmt, DeclareCursorStmt, FetchDirection, FetchStmt, SelectStmt};

/// The bits of a cursor's options that are written before the word CURSOR (`CURSOR_OPT_...`), in the order of writing.
const OPTIONS: [(i32, &str); 5] =
    [(0x1, "BINARY "), (0x2, "SCROLL "), (0x4, "NO SCROLL "), (0x8, "INSENSITIVE "), (0x10, "ASENSITIVE ")];
/// `CURSOR_OPT_HOLD`.
const HOLD: i32 = 0x20;
/// The number of rows that means ALL in FETCH (`FETCH_ALL`).
const ALL: i64 = i64::MAX;

impl Deparser<'_> {
    pub(in crate::deparse) fn declare_cursor_stmt(
        &mut self,
        statement: DeclareCursorStmt<'_>,
    ) -> DeparseResult {
        self.str("DECLARE ");
        self.ident(required(statement.portalname(), "a cursor")?);
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
        self.select_stmt(
            required_node::<SelectStmt<'_>>(statement.query(), "a cursor's query")?,
            Context::None,
        )
    }

    pub(in crate::deparse) fn fetch_stmt(&mut self, statement: FetchStmt<'_>) -> DeparseResult {
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
        self.ident(required(statement.portalname(), "a cursor")?);
        Ok(())
    }

    pub(in crate::deparse) fn close_portal_stmt(&mut self, statement: ClosePortalStmt<'_>) -> DeparseResult {
        self.str("CLOSE ");
        match statement.portalname() {
            Some(name) => self.ident(name),
            None => self.str("ALL"),
        }
        Ok(())
    }
}
