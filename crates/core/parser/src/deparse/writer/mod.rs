//! Where the text goes: in one line (`flat`), or laid out (`pretty`).
//!
//! A statement is written as *parts*, roughly what may stand on a line of its own. Parts belong to a *group*, begun by a
//! major keyword (FROM, WHERE), and groups to a *level*, one for each statement within another. In one line the parts
//! are just separated by a space; laid out they get their indentation when a level ends.

mod flat;
mod joined;
mod pretty;

use flat::Flat;
pub(super) use joined::may_be_joined;
use pretty::Pretty;

use super::options::{Comment, DeparseOptions};

/// A location after all nodes.
pub(super) const END: i32 = i32::MAX;

/// How the parts of a group are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indent {
    /// On lines of their own, not indented.
    None,
    /// On lines of their own, one step in.
    Parts,
    /// One step in, as many to a line as there is room for.
    Merge,
}

/// Text as it is written, with the comments that are still to be put in.
pub(super) struct Writer<'o> {
    layout: Layout<'o>,
    options: &'o DeparseOptions,
    /// Those of `options` that belong to this statement and are not written yet, by location.
    comments: &'o [Comment],
    /// The clauses between marks, if marks are asked for.
    pub(super) marks: Option<Vec<super::Mark>>,
    /// Where this statement begins in the text.
    start: usize,
    /// Whether a name was written that needs quotes before some words.
    pub(super) has_joined: bool,
}

enum Layout<'o> {
    Flat(Flat),
    Pretty(Pretty<'o>),
}

/// One call for each layout.
macro_rules! both {
    ($self:expr, $layout:ident => $call:expr) => {
        match &mut $self.layout {
            Layout::Flat($layout) => $call,
            Layout::Pretty($layout) => $call,
        }
    };
}

impl<'o> Writer<'o> {
    /// A writer of one statement after what `text` has already. `comments` are sorted by location.
    pub(super) fn new(text: String, options: &'o DeparseOptions, comments: &'o [Comment]) -> Self {
        let start = text.len();
        let layout = match options.pretty {
            false => Layout::Flat(Flat::new(text)),
            true => Layout::Pretty(Pretty::new(text, options)),
        };
        Self { layout, options, comments, marks: None, start, has_joined: false }
    }

    pub(super) fn str(&mut self, text: &str) {
        both!(self, layout => layout.str(text));
    }

    pub(super) fn char(&mut self, character: char) {
        both!(self, layout => layout.char(character));
    }

    /// The mark after a clause, right after its last letter. Only texts in one line have marks.
    pub(super) fn mark_end(&mut self) {
        if let Layout::Flat(layout) = &mut self.layout {
            layout.mark_end();
        }
    }

    /// A number, without a `String` in between.
    pub(super) fn int(&mut self, number: impl itoa::Integer) {
        self.str(itoa::Buffer::new().format(number));
    }

    /// Takes back the one space that may end the current part.
    pub(super) fn trim(&mut self) {
        both!(self, layout => layout.trim());
    }

    /// Begins a part; an empty one before it is dropped.
    pub(super) fn part(&mut self) {
        both!(self, layout => layout.part_begins(true));
    }

    /// Ends an element of a list: a comma, and the next part.
    pub(super) fn comma_part(&mut self) {
        if self.options.pretty && self.options.commas_first {
            self.part();
            self.str(", ");
        } else {
            self.char(',');
            self.part();
        }
    }

    /// Begins a group with its keyword.
    pub(super) fn group(&mut self, keyword: &'static str, indent: Indent) {
        both!(self, layout => layout.group(Some(keyword), indent));
    }

    /// Begins a group without a keyword.
    pub(super) fn bare_group(&mut self, indent: Indent) {
        both!(self, layout => layout.group(None, indent));
    }

    /// Keeps the current part on a line of its own.
    pub(super) fn never_merge(&mut self) {
        if let Layout::Pretty(layout) = &mut self.layout {
            layout.never_merge();
        }
    }

    /// Begins a level: a statement, or what is laid out like one. Ends with [`Writer::leave`].
    pub(super) fn enter(&mut self) {
        both!(self, layout => layout.enter());
    }

    /// Ends the level begun last.
    pub(super) fn leave(&mut self) {
        both!(self, layout => layout.leave());
    }

    /// Whether there are comments that stay with what they follow.
    pub(super) fn has_comments_that_follow(&self) -> bool {
        !self.comments.is_empty() && self.options.comments_follow && self.options.pretty
    }

    /// Puts in the comments that belong before a node at `location` (-1: unknown, none).
    pub(super) fn comments(&mut self, location: i32) {
        while let Some((comment, rest)) = self.comments.split_first() {
            if usize::try_from(location).map_or(true, |location| comment.location > location) {
                return;
            }
            self.comments = rest;
            self.comment(comment, location == END);
        }
    }

    fn comment(&mut self, comment: &Comment, at_end: bool) {
        // At the end of a line, it is of what stands on that line.
        let follows =
            comment.newlines_before == 0 && comment.newlines_after > 0 && self.options.comments_follow;
        if let Layout::Pretty(layout) = &mut self.layout
            && follows
            && layout.after_last_part(&comment.text, comment.is_line())
        {
            return self.newlines(comment.newlines_after - 1);
        }
        let mut before = comment.newlines_before;
        if let Layout::Pretty(layout) = &self.layout {
            // A keyword that stands alone on its line has brought a newline with it.
            before -= usize::from(before > 0 && layout.is_after_keyword());
        }
        self.newlines(before);
        self.str(&comment.text);
        self.never_merge();
        if let Layout::Pretty(layout) = &mut self.layout
            && comment.is_line()
        {
            layout.line_is_commented();
        }
        // PostgreSQL takes a carriage return for the end of a line too; here it ends with a newline all the same.
        let needs_newline = comment.is_line() && !at_end;
        self.newlines(comment.newlines_after.max(usize::from(needs_newline)));
    }

    fn newlines(&mut self, count: usize) {
        for _ in 0..count {
            match &mut self.layout {
                Layout::Flat(layout) => layout.char('\n'),
                Layout::Pretty(layout) => layout.part_begins(false),
            }
        }
    }

    /// Comments around a statement form a level of their own, without an empty end.
    pub(super) fn comments_apart(&mut self, location: i32) {
        if self.options.comments.is_empty() {
            return;
        }
        self.enter();
        self.comments(location);
        if let Layout::Pretty(layout) = &mut self.layout {
            layout.drop_empty_part();
        }
        self.leave();
    }

    /// The text, all levels ended.
    pub(super) fn finish(self) -> String {
        let mut text = match self.layout {
            Layout::Flat(layout) => layout.finish(),
            Layout::Pretty(layout) => layout.finish(),
        };
        if self.has_joined {
            joined::quote(&mut text, self.start);
        }
        text
    }
}
