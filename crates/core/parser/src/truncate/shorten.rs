//! A text, and which of its clauses are left out.

use std::collections::HashMap;

use super::ELLIPSIS;
use super::clause::{Clause, Kind};
use crate::deparse::{MARK, Mark};
use crate::pg_qsort;

/// A shorter clause is not left out: the ellipsis is not shorter.
const CLAUSE_BYTES_MIN: i64 = 4;
/// By how much libpg_query overestimates columns of INSERT: by the `OVERRIDING USER VALUE ` that it does not mean to
/// write.
const MEASURED_WITH_COLUMNS: i64 = 22;
/// What is left out with the condition of a SELECT that has nothing before it.
const BARE_WHERE: &str = "SELECT WHERE ";

/// A clause in the text.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    /// The clause around it.
    parent: Option<usize>,
    /// The clause around it that may be left out.
    outer: Option<usize>,
    /// How much longer it has become, by what was left out inside.
    change: i64,
    /// What it is replaced by.
    replacement: Option<&'static str>,
}

pub(super) struct Shortening {
    /// The text without its marks.
    text: String,
    /// In the order they begin in.
    spans: Vec<Span>,
    by_clause: HashMap<*const (), usize>,
    length: i64,
}

/// A clause to be left out.
struct Candidate {
    span: usize,
    kind: Kind,
    depth: u32,
    length: i64,
}

impl Shortening {
    pub(super) fn new(marked: &str, marks: &[Mark]) -> Self {
        let mut text = String::with_capacity(marked.len());
        let mut spans: Vec<Span> = Vec::new();
        let mut by_clause = HashMap::new();
        let mut open = Vec::new();
        // A mark stands before each piece but the first.
        let before = std::iter::once(None).chain(marks.iter().map(Some));
        for (piece, mark) in marked.split(MARK).zip(before) {
            if let Some(mark) = mark {
                if mark.begins {
                    open.push(spans.len());
                    by_clause.insert(mark.clause, spans.len());
                    let parent = open.iter().rev().nth(1).copied();
                    let (start, end) = (text.len(), text.len());
                    spans.push(Span { start, end, parent, outer: None, change: 0, replacement: None });
                } else if let Some(span) = open.pop().and_then(|span| spans.get_mut(span)) {
                    span.end = text.len();
                }
            }
            text.push_str(piece);
        }
        let length = signed(text.len());
        Self { text, spans, by_clause, length }
    }

    /// How long the text is, in bytes.
    pub(super) fn length(&self) -> usize {
        usize::try_from(self.length).unwrap_or(0)
    }

    /// Leaves out clauses until the text has this many bytes: the deepest first, and of those the longest.
    pub(super) fn leave_out(&mut self, clauses: &[Clause], bytes_max: usize) {
        let mut candidates: Vec<_> = clauses.iter().filter_map(|clause| self.candidate(clause)).collect();
        self.find_outer(&candidates);
        pg_qsort::sort(&mut candidates, |one, other| {
            other.depth.cmp(&one.depth).then(other.length.cmp(&one.length))
        });
        for candidate in &candidates {
            self.replace(candidate);
            if self.length() <= bytes_max {
                return;
            }
        }
    }

    fn candidate(&self, clause: &Clause) -> Option<Candidate> {
        let span = *self.by_clause.get(&clause.address)?;
        let found = self.spans.get(span)?;
        // libpg_query measures a clause in a statement made for it.
        let beside = match clause.kind {
            Kind::Rows => -2,
            Kind::Columns => MEASURED_WITH_COLUMNS,
            _ => 0,
        };
        let length = signed(found.end - found.start) + beside;
        let candidate = Candidate { span, kind: clause.kind, depth: clause.depth, length };
        (length >= CLAUSE_BYTES_MIN).then_some(candidate)
    }

    /// Finds for each clause the next one around it that may be left out.
    fn find_outer(&mut self, candidates: &[Candidate]) {
        let mut may_go = vec![false; self.spans.len()];
        for candidate in candidates {
            if let Some(place) = may_go.get_mut(candidate.span) {
                *place = true;
            }
        }
        for index in 0..self.spans.len() {
            // Those around it begin before it.
            let parent = self.spans.get(index).and_then(|span| span.parent);
            let goes = parent.is_some_and(|parent| may_go.get(parent).copied().unwrap_or(false));
            let outer = if goes { parent } else { parent.and_then(|parent| self.spans.get(parent)?.outer) };
            if let Some(span) = self.spans.get_mut(index) {
                span.outer = outer;
            }
        }
    }

    fn replace(&mut self, candidate: &Candidate) {
        let Some(span) = self.spans.get_mut(candidate.span).filter(|span| span.replacement.is_none()) else {
            return;
        };
        let before = self.text.get(..span.start).unwrap_or_default();
        let replacement = match candidate.kind {
            Kind::Targets if before.ends_with("SELECT ") => ELLIPSIS,
            // As libpg_query has it after DISTINCT.
            Kind::Targets => "... AS ...",
            Kind::Assignments => "... = ...",
            Kind::Rows => "(...)",
            Kind::Columns | Kind::Query | Kind::Condition => ELLIPSIS,
        };
        if candidate.kind == Kind::Condition && before.ends_with(BARE_WHERE) {
            span.start -= BARE_WHERE.len();
        }
        span.replacement = Some(replacement);
        let change = signed(replacement.len()) - signed(span.end - span.start);
        self.length += change - span.change;
        let outer = span.outer;
        if let Some(outer) = outer.and_then(|outer| self.spans.get_mut(outer)) {
            outer.change += change;
        }
    }

    /// The text, without what is left out.
    pub(super) fn text(self) -> String {
        let mut text = String::with_capacity(self.length());
        let mut copied = 0;
        for span in &self.spans {
            let Some(replacement) = span.replacement.filter(|_| span.start >= copied) else { continue };
            text.push_str(self.text.get(copied..span.start).unwrap_or_default());
            text.push_str(replacement);
            copied = span.end;
        }
        text.push_str(self.text.get(copied..).unwrap_or_default());
        text
    }
}

/// Texts are shorter than 1 GiB, and what is written of their trees is not much longer.
fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
