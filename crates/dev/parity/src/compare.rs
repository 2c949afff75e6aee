//! Runs a comparison over the whole corpus, on all cores.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::corpus::{Statement, corpus};
use crate::oracle;

/// How many differences a failure shows.
const SHOWN_MAX: usize = 10;
/// How many characters of a statement a failure shows.
const SQL_SHOWN_MAX: usize = 300;
/// How many characters of a result a failure shows on either side of the first difference.
const AROUND_MAX: usize = 80;
/// How many statements a thread takes at once: enough that the shared counter costs little, but so few that all threads end at
/// about the same time.
const BATCH: usize = 64;

/// Runs `check` for every statement of the corpus, on as many threads as there are cores.
///
/// # Panics
/// If a check returns an error or panics. The message has their number and the first ten, in the corpus's order. Also if there is
/// no corpus.
pub fn compare(name: &str, check: impl Fn(&Statement) -> Result<(), String> + Sync) {
    compare_in(name, corpus(), check);
}

/// As [`compare`], over other statements.
///
/// # Panics
/// As [`compare`], and if there are no statements.
pub fn compare_in(
    name: &str,
    statements: &[Statement],
    check: impl Fn(&Statement) -> Result<(), String> + Sync,
) {
    assert!(!statements.is_empty(), "{name}: there is nothing to compare");
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    let Some(rest) = statements.get(first..).filter(|rest| !rest.is_empty()) else { return };
                    for (at, statement) in (first..).zip(rest.iter().take(BATCH)) {
                        if let Err(difference) = checked(&check, statement) {
                            let mut all =
                                differences.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                            all.push((at, difference));
                        }
                    }
                }
            });
        }
    });
    oracle::restore_standard_error();
    let mut differences = differences.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    differences.sort();
    assert!(differences.is_empty(), "{}", report(name, statements, &differences));
}

/// Turns a panic into a difference of its statement, so that the other statements are compared too.
fn checked(check: &impl Fn(&Statement) -> Result<(), String>, statement: &Statement) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| check(statement))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("it panicked: {}", text.unwrap_or("(no message)")))
    })
}

fn report(name: &str, statements: &[Statement], differences: &[(usize, String)]) -> String {
    let mut report = format!("{name}: {} of {} statements differ\n", differences.len(), statements.len());
    for (at, difference) in differences.iter().take(SHOWN_MAX) {
        if let Some(Statement { file, line, sql }) = statements.get(*at) {
            let _ = write!(
                report,
                "\n{file}:{line}\n    {}\n  {}\n",
                shortened(sql),
                difference.replace('\n', "\n  ")
            );
        }
    }
    if differences.len() > SHOWN_MAX {
        let _ = write!(report, "\nand {} more\n", differences.len() - SHOWN_MAX);
    }
    report
}

fn shortened(sql: &str) -> String {
    let mut characters = sql.chars();
    let mut text: String = characters.by_ref().take(SQL_SHOWN_MAX).collect();
    let left = characters.count();
    if left > 0 {
        let _ = write!(text, " ... ({left} characters more)");
    }
    text
}

/// Checks that two texts are equal.
///
/// # Errors
/// The text around the first difference, of both.
pub fn same(expected: &str, got: &str) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let alike: usize = expected
        .chars()
        .zip(got.chars())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one.len_utf8())
        .sum();
    Err(format!(
        "they differ from byte {alike} on\nexpected {}\ngot      {}",
        around(expected, alike),
        around(got, alike)
    ))
}

/// Checks that two values are equal. They are compared as values, and shown as by [`same`].
///
/// # Errors
/// As [`same`].
pub fn same_value<T: PartialEq<U> + std::fmt::Debug, U: std::fmt::Debug>(
    expected: &T,
    got: &U,
) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let (expected, got) = (format!("{expected:?}"), format!("{got:?}"));
    same(&expected, &got).and_then(|()| Err(format!("the values differ, but are written alike: {expected}")))
}

fn around(text: &str, at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let from = before.char_indices().rev().take(AROUND_MAX).last().map_or(at, |(from, _)| from);
    let to = after.char_indices().nth(AROUND_MAX).map_or(after.len(), |(to, _)| to);
    let cut = |is_cut| if is_cut { "..." } else { "" };
    format!(
        "{}{}>>>{}{}",
        cut(from > 0),
        before.get(from..).unwrap_or_default(),
        after.get(..to).unwrap_or_default(),
        cut(to < after.len())
    )
}

#[cfg(test)]
mod tests {
    use super::{compare_in, same};
    use crate::corpus::Statement;

    fn statements(count: u32) -> Vec<Statement> {
        (1..=count)
            .map(|line| Statement { file: "a.sql".into(), line, sql: format!("select {line};") })
            .collect()
    }

    #[test]
    fn the_first_differences_are_shown() {
        let panic = std::panic::catch_unwind(|| {
            compare_in("sample", &statements(1000), |statement| match statement.line {
                7 => panic!("seven"),
                line if line > 900 => same("aaab", "aaac"),
                _ => Ok(()),
            });
        });
        let report = *panic.expect_err("it differs").downcast::<String>().expect("a text");
        assert!(report.starts_with("sample: 101 of 1000 statements differ"), "{report}");
        assert!(report.contains("a.sql:7\n    select 7;\n  it panicked: seven"), "{report}");
        assert!(report.contains("a.sql:909") && !report.contains("a.sql:910"), "{report}");
        assert!(report.contains("expected aaa>>>b\n  got      aaa>>>c"), "{report}");
        assert!(report.ends_with("and 91 more\n"), "{report}");
    }

    #[test]
    fn every_statement_is_checked_once() {
        let seen = std::sync::Mutex::new(Vec::new());
        compare_in("sample", &statements(1000), |statement| {
            seen.lock().expect("no panic").push(statement.line);
            Ok(())
        });
        let mut seen = seen.into_inner().expect("no panic");
        seen.sort_unstable();
        assert_eq!(seen, (1..=1000).collect::<Vec<_>>());
    }
}
