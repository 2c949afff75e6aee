//! Collects the written text, in one line (`flat`) or in several (`pretty`).
//!
//! A statement is written as *parts*; a part is about what may be on its own line. Parts belong to a *group*, which a
//! major keyword begins (FROM, WHERE). Groups belong to a *level*; each statement within a statement is a level. In
//! one line, the parts are only separated by spaces. In several lines, they get their indentation when their level
//! ends.

mod flat;
mod joined;
mod pretty;

use flat::Flat;
pub(super) use joined::may_join_next_word;
use pretty::Pretty;

use super::options::{Comment, DeparseOptions};

/// A location after all nodes.
pub(super) const END: i32 = i32::MAX;

/// How the parts of a group are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indent {
    /// Each on its own line, not indented.
    None,
    /// Each on its own line, indented by one step.
    Parts,
    /// Indented by one step, with as many parts on a line as there is room for.
    Merge,
}

/// The text so far, and the comments that are not written yet.
pub(super) struct Writer<'o> {
    layout: Layout<'o>,
    options: &'o DeparseOptions,
    /// The comments in `options` that belong to this statement and are not written yet, sorted by location.
    comments: &'o [Comment],
    /// The marks so far, if marks are wanted.
    pub(super) marks: Option<Vec<super::Mark>>,
    /// The offset at which this statement begins in the text.
    start: usize,
    /// Whether a name was written that needs quotes if certain words follow it.
    pub(super) has_joining_name: bool,
}

enum Layout<'o> {
    Flat(Flat),
    Pretty(Pretty<'o>),
}

/// Calls the same method of either layout.
macro_rules! each_layout {
    ($self:expr, $layout:ident => $call:expr) => {
        match &mut $self.layout {
            Layout::Flat($layout) => $call,
            Layout::Pretty($layout) => $call,
        }
    };
}

impl<'o> Writer<'o> {
    /// A writer that appends one statement to `text`. `comments` are sorted by location.
    pub(super) fn new(text: String, options: &'o DeparseOptions, comments: &'o [Comment]) -> Self {
        let start = text.len();
        let layout = match options.pretty {
            false => Layout::Flat(Flat::new(text)),
            true => Layout::Pretty(Pretty::new(text, options)),
        };
        Self { layout, options, comments, marks: None, start, has_joining_name: false }
    }

    pub(super) fn str(&mut self, text: &str) {
        each_layout!(self, layout => layout.str(text));
    }

    pub(super) fn char(&mut self, character: char) {
        each_layout!(self, layout => layout.char(character));
    }

    /// Puts a mark after the last letter of a clause. Only text in one line has marks.
    pub(super) fn mark_end(&mut self) {
        if let Layout::Flat(layout) = &mut self.layout {
            layout.mark_end();
        }
    }

    /// Writes a number without allocating a `String`.
    pub(super) fn int(&mut self, number: impl itoa::Integer) {
        self.str(itoa::Buffer::new().format(number));
    }

    /// Removes one space from the end of the current part, if there is one.
    pub(super) fn trim(&mut self) {
        each_layout!(self, layout => layout.trim());
    }

    /// Begins a part. If the part before is empty, it is dropped.
    pub(super) fn part(&mut self) {
        each_layout!(self, layout => layout.part_begins(true));
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
        each_layout!(self, layout => layout.group(Some(keyword), indent));
    }

    /// Begins a group without a keyword.
    pub(super) fn bare_group(&mut self, indent: Indent) {
        each_layout!(self, layout => layout.group(None, indent));
    }

    /// Keeps the current part on a line of its own.
    pub(super) fn never_merge(&mut self) {
        if let Layout::Pretty(layout) = &mut self.layout {
            layout.never_merge();
        }
    }

    /// Begins a level, for a statement or something with a similar layout. [`Writer::leave`] ends it.
    pub(super) fn enter(&mut self) {
        each_layout!(self, layout => layout.enter());
    }

    /// Ends the innermost level.
    pub(super) fn leave(&mut self) {
        each_layout!(self, layout => layout.leave());
    }

    /// Whether there are comments that stay on the line of the element before them.
    pub(super) fn has_comments_that_follow(&self) -> bool {
        !self.comments.is_empty() && self.options.comments_follow && self.options.pretty
    }

    /// Writes the comments that belong before a node at `location`. For -1 (unknown) it writes none.
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
        // A comment at the end of a line belongs to the element on that line.
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
            // A keyword that is alone on its line already ends with a newline.
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
        // In PostgreSQL a carriage return also ends a line. Here the line always ends with a newline.
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

    /// Writes comments before or after a statement. They form a level, without an empty part at its end.
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

    /// Ends all levels and returns the text.
    pub(super) fn finish(self) -> String {
        let mut text = match self.layout {
            Layout::Flat(layout) => layout.finish(),
            Layout::Pretty(layout) => layout.finish(),
        };
        if self.has_joining_name {
            joined::quote(&mut text, self.start);
        }
        text
    }
}
