//! Every bound has a name, a setting and a metric: what `[limits]` knows, the metrics page shows.

use std::path::Path;

use crate::finding::Finding;
use crate::tree::Tree;

/// Where the settings of `[limits]` are declared: fields of `struct Limits`.
const SETTINGS: &str = "crates/io/proxy/src/config/limits.rs";
/// Where the bounds in force are listed for the metrics page.
const METRICS: &str = "crates/io/proxy/src/serve/bounds.rs";

/// Settings of `[limits]` whose bound no metric shows.
pub(super) fn metrics(tree: &Tree) -> Vec<Finding> {
    let path = Path::new(SETTINGS);
    let settings = tree.sources.get(path).map(|source| settings(&source.text)).unwrap_or_default();
    if settings.is_empty() {
        return vec![Finding::new(
            path,
            1,
            "no fields of `struct Limits` here",
            "correct SETTINGS (xtask, limits.rs)",
        )];
    }
    let sources = tree.sources.iter().filter(|(path, _)| path.starts_with(METRICS));
    let shown: String = sources.map(|(_, source)| source.text.as_str()).collect();
    settings
        .into_iter()
        .filter_map(|(line, name)| {
            let needle = format!("(\"{name}\",");
            let metric = format!("trunkline_limit{{limit=\"{name}\"}}");
            let what = format!("the bound `{name}` has no metric");
            let finding = Finding::new(path, line, what, format!("show it as {metric} ({METRICS})"));
            (!shown.contains(&needle)).then_some(finding)
        })
        .collect()
}

/// Line and name of each field of `struct Limits`. The struct stands in a macro, which no parser knows but rustc's own:
/// fields are lines of the form `name: ...`, up to the closing brace.
fn settings(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim()));
    let inside = lines.skip_while(|(_, line)| !line.ends_with("struct Limits {")).skip(1);
    inside
        .take_while(|(_, line)| *line != "}")
        .filter_map(|(n, line)| {
            let (name, _) = line.strip_prefix("pub ").unwrap_or(line).split_once(':')?;
            let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            plain.then(|| (n, name.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    const LIMITS: &str = "section! {\n    /// `[limits]`.\n    pub struct Limits {\n        /// Doc: text.\n        \
        one_max: u32 = 1,\n        two_max: Size = Size::new(2),\n        a_timeout: u32 = 1,\n    }\n}\n";

    #[test]
    fn a_bound_without_metric_is_found_with_its_line() {
        let metrics_file = "crates/io/proxy/src/serve/bounds.rs";
        let (_folder, tree) =
            tree::of(&[(SETTINGS, LIMITS), (metrics_file, "[(\"one_max\", 1), (\"a_timeout\", 2)]")]);
        let found = metrics(&tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.contains("two_max") && found[0].line == 6, "{}", found[0]);
    }

    #[test]
    fn the_check_cannot_pass_by_finding_nothing() {
        assert_eq!(metrics(&tree::of(&[(SETTINGS, "struct Other {}")]).1).len(), 1);
        assert_eq!(metrics(&tree::of(&[]).1).len(), 1);
    }
}
