//! Tables of statements and their classes.

mod functions;
mod queries;
mod session;
mod subjects;
mod utility;
mod whole;

use super::{Class, TransactionModes};
use crate::parse;

/// A class as one line: kind, access, bits, then the facts that only some classes have.
fn in_a_line(class: Class) -> String {
    let mut line = format!("{:?} {:?}", class.kind(), class.access());
    for name in class.touches().names() {
        line.push(' ');
        line.push_str(name);
    }
    if let Some(control) = class.transaction() {
        line.push_str(&format!(" {control:?}"));
    }
    let TransactionModes { isolation, read_only, deferrable } = class.modes();
    if let Some(isolation) = isolation {
        line.push_str(&format!(" {isolation:?}"));
    }
    if let Some(read_only) = read_only {
        line.push_str(if read_only { " ReadOnly" } else { " ReadWrite" });
    }
    if let Some(deferrable) = deferrable {
        line.push_str(if deferrable { " Deferrable" } else { " NotDeferrable" });
    }
    if let Some(way) = class.copy() {
        line.push_str(&format!(" {way:?}"));
    }
    line
}

/// Classifies the left side of each line `statement => class` and compares with the right.
#[track_caller]
fn check(table: &str) {
    let mut wrong = String::new();
    let mut checked = 0;
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (sql, expected) = line.rsplit_once(" => ").unwrap_or((line, ""));
        let found = match parse(sql) {
            Ok(tree) => in_a_line(tree.classify()),
            Err(error) => format!("{error}"),
        };
        if found != expected.split_whitespace().collect::<Vec<_>>().join(" ") {
            wrong.push_str(&format!("{sql} => {found}\n"));
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "of {checked} statements these have another class:\n{wrong}");
    assert!(checked > 0, "the table is empty");
}
