//! The names that WITH gives, and where they are seen.

use std::collections::HashMap;

/// The names in sight, the latest first. As deep and as many as a text has them: each is declared and forgotten in a
/// constant time, and looked up in one.
#[derive(Default)]
pub(super) struct Scope<'a> {
    /// In the order of their declaration, each with the place of what it shadows.
    declared: Vec<(&'a str, Option<usize>)>,
    /// The place of the latest of each name.
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Scope<'a> {
    pub(super) fn declare(&mut self, name: &'a str) {
        let shadowed = self.by_name.insert(name, self.declared.len());
        self.declared.push((name, shadowed));
    }

    /// Forgets the latest ones.
    pub(super) fn forget(&mut self, count: usize) {
        for _ in 0..count {
            match self.declared.pop() {
                Some((name, Some(shadowed))) => drop(self.by_name.insert(name, shadowed)),
                Some((name, None)) => drop(self.by_name.remove(name)),
                None => return,
            }
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.declared.is_empty() && self.by_name.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_when_what_shadows_it_is_forgotten() {
        let mut scope = Scope::default();
        for name in ["a", "b", "a"] {
            scope.declare(name);
        }
        scope.forget(1);
        assert!(scope.has("a") && scope.has("b"));
        scope.forget(2);
        assert!(!scope.has("a") && !scope.has("b") && scope.by_name.is_empty());
        scope.forget(1);
    }
}
