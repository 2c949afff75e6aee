//! Writes windows and ORDER BY.

use crate::deparse::context::Context;
use crate::deparse::need::required_node;
use crate::deparse::writer::Indent;
use crate::deparse::{DeparseError, DeparseResult, Deparser};
use crate::node::{List, Node, SortBy, SortByDir, SortByNulls, WindowDef};

// Bits of `frameOptions`: PostgreSQL's FRAMEOPTION_ constants (nodes/parsenodes.h).
const NOT_DEFAULT: i32 = 0x1;
const BETWEEN: i32 = 0x10;
const START_OFFSET_PRECEDING: i32 = 0x800;
const START_OFFSET_FOLLOWING: i32 = 0x2000;
const END_OFFSET_PRECEDING: i32 = 0x1000;
const END_OFFSET_FOLLOWING: i32 = 0x4000;

const MODES: [(i32, &str); 3] = [(0x2, "RANGE "), (0x4, "ROWS "), (0x8, "GROUPS ")];
const STARTS: [(i32, &str); 2] = [(0x20, "UNBOUNDED PRECEDING "), (0x200, "CURRENT ROW ")];
const ENDS: [(i32, &str); 2] = [(0x100, "UNBOUNDED FOLLOWING "), (0x400, "CURRENT ROW ")];
const EXCLUSIONS: [(i32, &str); 3] =
    [(0x8000, "EXCLUDE CURRENT ROW "), (0x10000, "EXCLUDE GROUP "), (0x20000, "EXCLUDE TIES ")];

/// The words for the first bit that is set.
fn words_of(options: i32, table: &[(i32, &'static str)]) -> Option<&'static str> {
    table.iter().find(|(bit, _)| options & bit != 0).map(|(_, words)| *words)
}

impl Deparser<'_> {
    /// A window in parentheses. The caller writes its name.
    pub(in crate::deparse) fn window_def(&mut self, node: WindowDef<'_>) -> DeparseResult {
        let (partition, order) = (node.partition_clause(), node.order_clause());
        let has_frame = node.frame_options() & NOT_DEFAULT != 0;
        if node.refname().is_none() && partition.is_empty() && order.is_empty() && !has_frame {
            self.str("()");
            return Ok(());
        }
        self.char('(');
        self.enter();
        if let Some(name) = node.refname() {
            match name {
                // Each of these is a keyword that may begin another clause at this place.
                "partition" | "range" | "rows" | "groups" => self.quoted(name),
                name => self.ident(name),
            }
            self.char(' ');
        }
        if !partition.is_empty() {
            self.str("PARTITION BY ");
            self.expr_list(partition)?;
            self.char(' ');
        }
        self.trim();
        self.part();
        self.opt_sort_clause(order, Context::None)?;
        if has_frame {
            self.frame(node)?;
        }
        self.trim();
        self.leave();
        self.char(')');
        Ok(())
    }

    fn frame(&mut self, node: WindowDef<'_>) -> DeparseResult {
        let options = node.frame_options();
        self.bare_group(Indent::None);
        self.str(words_of(options, &MODES).unwrap_or_default());
        let start = [(START_OFFSET_PRECEDING, " PRECEDING "), (START_OFFSET_FOLLOWING, " FOLLOWING ")];
        let end = [(END_OFFSET_PRECEDING, " PRECEDING "), (END_OFFSET_FOLLOWING, " FOLLOWING ")];
        if options & BETWEEN != 0 {
            self.str("BETWEEN ");
        }
        self.frame_bound(options, &STARTS, &start, node.start_offset())?;
        if options & BETWEEN != 0 {
            self.str("AND ");
            self.frame_bound(options, &ENDS, &end, node.end_offset())?;
        }
        self.str(words_of(options, &EXCLUSIONS).unwrap_or_default());
        Ok(())
    }

    /// A bound of the frame: words, or a distance from the current row.
    fn frame_bound(
        &mut self,
        options: i32,
        fixed: &[(i32, &'static str)],
        directions: &[(i32, &'static str)],
        offset: Option<Node<'_>>,
    ) -> DeparseResult {
        if let Some(words) = words_of(options, fixed) {
            self.str(words);
            return Ok(());
        }
        let Some(direction) = words_of(options, directions) else {
            return Err(DeparseError::missing("a bound of a window's frame"));
        };
        self.expr(offset, Context::AExpr)?;
        self.str(direction);
        Ok(())
    }

    /// `opt_sort_clause`, with a space after it if there is one.
    pub(in crate::deparse) fn opt_sort_clause(&mut self, list: List<'_>, context: Context) -> DeparseResult {
        if list.is_empty() {
            return Ok(());
        }
        let is_of_query = context == Context::SelectSortClause;
        if is_of_query {
            self.group("ORDER BY", Indent::Merge);
        } else {
            self.str("ORDER BY ");
        }
        for (index, node) in list.iter().enumerate() {
            match index {
                0 => {}
                _ if is_of_query => self.comma_part(),
                _ => self.str(", "),
            }
            self.sort_by(required_node(node, "an element of ORDER BY")?)?;
        }
        self.char(' ');
        Ok(())
    }

    /// `sortby`.
    pub(in crate::deparse) fn sort_by(&mut self, node: SortBy<'_>) -> DeparseResult {
        self.expr(node.node_(), Context::AExpr)?;
        self.char(' ');
        match node.sortby_dir() {
            SortByDir::SortbyDefault => {}
            SortByDir::SortbyAsc => self.str("ASC "),
            SortByDir::SortbyDesc => self.str("DESC "),
            SortByDir::SortbyUsing => {
                self.str("USING ");
                self.qual_op(node.use_op())?;
            }
        }
        match node.sortby_nulls() {
            SortByNulls::SortbyNullsDefault => {}
            SortByNulls::SortbyNullsFirst => self.str("NULLS FIRST "),
            SortByNulls::SortbyNullsLast => self.str("NULLS LAST "),
        }
        self.trim();
        Ok(())
    }
}
