//! Writes a statement in several lines.

use std::collections::VecDeque;

use super::Indent;
use crate::deparse::options::DeparseOptions;

/// The highest indentation of a line, however deep statements are nested. Without this bound, text of n levels would
/// need n * n spaces.
const INDENT_SPACES_MAX: usize = 1000;

/// Collects parts, and indents them by level.
pub(super) struct Pretty<'o> {
    /// The text before this statement.
    text: String,
    options: &'o DeparseOptions,
    /// The levels that have not ended, the innermost last.
    levels: Vec<Level>,
    /// The parts of outermost levels that have ended.
    done: VecDeque<Part>,
}

struct Level {
    indent: usize,
    groups: Vec<Group>,
}

struct Group {
    keyword: Option<&'static str>,
    indent: Indent,
    parts: VecDeque<Part>,
}

struct Part {
    text: String,
    indent: usize,
    is_mergeable: bool,
    /// Whether the part ends with a `--` comment, so that nothing may follow on its line.
    is_commented: bool,
}

fn trim_one(text: &mut String) {
    if text.ends_with(' ') {
        text.pop();
    }
}

impl<'o> Pretty<'o> {
    pub(super) fn new(text: String, options: &'o DeparseOptions) -> Self {
        Self { text, options, levels: Vec::new(), done: VecDeque::new() }
    }

    fn new_part(&self, indent: Indent) -> Part {
        let mut spaces = self.levels.last().map_or(0, |level| level.indent);
        if indent != Indent::None {
            spaces = (spaces + self.options.indent).min(INDENT_SPACES_MAX);
        }
        Part {
            text: String::new(),
            indent: spaces,
            is_mergeable: indent == Indent::Merge,
            is_commented: false,
        }
    }

    fn last_group(&self) -> Option<&Group> {
        self.levels.last()?.groups.last()
    }

    /// The current group. The first group of a level is made here, with an empty part. `None` outside of all levels.
    fn current_group(&mut self) -> Option<&mut Group> {
        if self.levels.last()?.groups.is_empty() {
            let parts = VecDeque::from([self.new_part(Indent::None)]);
            self.levels.last_mut()?.groups.push(Group { keyword: None, indent: Indent::None, parts });
        }
        self.levels.last_mut()?.groups.last_mut()
    }

    fn current_part(&mut self) -> Option<&mut Part> {
        self.current_group()?.parts.back_mut()
    }

    pub(super) fn str(&mut self, text: &str) {
        if let Some(part) = self.current_part() {
            part.text.push_str(text);
        }
    }

    pub(super) fn char(&mut self, character: char) {
        if let Some(part) = self.current_part() {
            part.text.push(character);
        }
    }

    pub(super) fn trim(&mut self) {
        if let Some(part) = self.current_part() {
            trim_one(&mut part.text);
        }
    }

    pub(super) fn never_merge(&mut self) {
        if let Some(part) = self.current_part() {
            part.is_mergeable = false;
        }
    }

    /// Whether the current group has a keyword and its current part is still empty.
    pub(super) fn is_after_keyword(&self) -> bool {
        self.last_group().is_some_and(|group| {
            group.keyword.is_some() && group.parts.back().is_some_and(|part| part.text.is_empty())
        })
    }

    /// Marks the current part as ending with a `--` comment: the next part must be on another line.
    pub(super) fn line_is_commented(&mut self) {
        if let Some(part) = self.current_part() {
            part.is_commented = true;
        }
    }

    /// The current part is empty: appends text to the part before it, at the end of its line. Returns whether there
    /// is one.
    pub(super) fn after_last_part(&mut self, text: &str, is_line: bool) -> bool {
        let Some(group) = self.current_group() else { return false };
        let mut parts = group.parts.iter_mut().rev();
        let (Some(current), Some(before)) = (parts.next(), parts.next()) else { return false };
        if !current.text.is_empty() || before.text.is_empty() || before.is_commented {
            return false;
        }
        before.is_commented = is_line;
        trim_one(&mut before.text);
        before.text.push(' ');
        before.text.push_str(text);
        before.is_mergeable = false;
        true
    }

    pub(super) fn drop_empty_part(&mut self) {
        if let Some(group) = self.current_group()
            && group.parts.back().is_some_and(|part| part.text.is_empty())
        {
            group.parts.pop_back();
        }
    }

    pub(super) fn part_begins(&mut self, drop_empty: bool) {
        let Some(indent) = self.current_group().map(|group| group.indent) else { return };
        if drop_empty {
            self.drop_empty_part();
        }
        let part = self.new_part(indent);
        if let Some(group) = self.current_group() {
            group.parts.push_back(part);
        }
    }

    pub(super) fn group(&mut self, keyword: Option<&'static str>, indent: Indent) {
        if self.last_group().is_some() {
            self.trim();
        }
        let parts = VecDeque::from([self.new_part(indent)]);
        if let Some(level) = self.levels.last_mut() {
            level.groups.push(Group { keyword, indent, parts });
        }
    }

    pub(super) fn enter(&mut self) {
        let mut indent = 0;
        if let Some(parent) = self.levels.last() {
            indent = parent.indent + self.options.indent;
            if self.current_group().is_some_and(|group| group.indent != Indent::None) {
                indent += self.options.indent;
            }
            self.never_merge();
        }
        self.levels.push(Level { indent: indent.min(INDENT_SPACES_MAX), groups: Vec::new() });
    }

    pub(super) fn leave(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        let mut parts = VecDeque::new();
        for group in level.groups {
            append(&mut parts, self.group_parts(group, level.indent));
        }
        match self.levels.last_mut() {
            None => append(&mut self.done, parts),
            Some(parent) => {
                if let Some(group) = parent.groups.last_mut() {
                    append(&mut group.parts, parts);
                }
                self.part_begins(true);
                self.never_merge();
            }
        }
    }

    /// The lines of a group: its keyword, then its parts, merged into lines if they may be.
    fn group_parts(&self, group: Group, indent: usize) -> VecDeque<Part> {
        let mut parts = match group.indent {
            Indent::Merge => merge(group.parts, self.options.line_length_max),
            Indent::None | Indent::Parts => group.parts,
        };
        let Some(keyword) = group.keyword else { return parts };
        let joins = parts.len() == 1 || group.indent == Indent::None;
        let mut line = Part { text: keyword.to_owned(), indent, is_mergeable: false, is_commented: false };
        if joins
            && let Some(first) = parts.pop_front()
            && !first.text.is_empty()
        {
            line.text.push(' ');
            line.text.push_str(&first.text);
        }
        parts.push_front(line);
        parts
    }

    pub(super) fn finish(mut self) -> String {
        while !self.levels.is_empty() {
            self.leave();
        }
        if self.done.back().is_some_and(|part| part.text.is_empty()) {
            self.done.pop_back();
        }
        let spaces = " ".repeat(INDENT_SPACES_MAX);
        let mut text = self.text;
        for (index, part) in self.done.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            text.push_str(spaces.get(..part.indent).unwrap_or(&spaces));
            text.push_str(&part.text);
            trim_one(&mut text);
        }
        if self.options.trailing_newline {
            text.push('\n');
        }
        text
    }
}

/// Appends parts to others. It moves the shorter list, because the parts of an inner level may be moved once for each
/// level around it.
fn append(parts: &mut VecDeque<Part>, mut more: VecDeque<Part>) {
    if parts.len() >= more.len() {
        parts.append(&mut more);
        return;
    }
    while let Some(part) = parts.pop_back() {
        more.push_front(part);
    }
    *parts = more;
}

/// Joins parts into lines, as long as a line has room for the next part.
fn merge(parts: VecDeque<Part>, line_length_max: usize) -> VecDeque<Part> {
    let mut lines: VecDeque<Part> = VecDeque::with_capacity(parts.len());
    for part in parts {
        if let Some(line) = lines.back_mut() {
            trim_one(&mut line.text);
            let fits = line.indent + line.text.len() + 1 + part.text.len() <= line_length_max;
            if line.is_mergeable && part.is_mergeable && fits {
                if !line.text.is_empty() && !line.text.ends_with('(') {
                    line.text.push(' ');
                }
                line.text.push_str(&part.text);
                continue;
            }
        }
        lines.push_back(part);
    }
    lines
}
