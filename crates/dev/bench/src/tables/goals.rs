//! The goals, and how far this run met them.

use crate::arguments::Options;
use crate::contender::{Kind, Route};
use crate::figures::{Figures, head, row, show};
use crate::pgbench::Protocol;
use crate::tables::keys;
use crate::tables::large::cpu_key;

/// A ratio and its bound.
#[derive(Debug, Clone, PartialEq)]
struct Goal {
    name: String,
    key: String,
    /// The measured contender: Trunkline with one worker or with its default number.
    of: Kind,
    /// The contender by whose figure it is divided.
    to: Kind,
    bound: Bound,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
        }
    }

    fn name(self) -> String {
        match self {
            Self::AtMost(most) => format!("at most {most:.2}"),
            Self::AtLeast(least) => format!("at least {least:.2}"),
        }
    }
}

fn goals(clients: &[usize]) -> Vec<Goal> {
    let goal = |of, name, key, bound| Goal { name, key, of, to: Kind::PgBouncer, bound };
    let pgbouncer = |name: String, key: String, bound| goal(Kind::Trunkline, name, key, bound);
    let mut goals = Vec::new();
    for protocol in Protocol::ALL {
        let most = if protocol == Protocol::Prepared { 0.75 } else { 0.85 };
        for &clients in clients {
            let key = |figure| keys::cell(Route::Tcp, protocol, clients, figure);
            let name = |figure| format!("{figure}, {}, {clients} clients", protocol.name());
            // With several workers, Trunkline must still be cheaper than PgBouncer. One client alone is left out: it wakes both sides
            // each time.
            if clients >= 10 {
                goals.push(pgbouncer(name("CPU"), key("cpu"), Bound::AtMost(1.0)));
            }
            goals.push(goal(Kind::OneWorker, name("CPU, 1 worker"), key("cpu"), Bound::AtMost(most)));
            goals.push(pgbouncer(name("tps"), key("rate"), Bound::AtLeast(1.0)));
        }
    }
    for (name, key) in [
        ("after login", keys::AFTER_LOGIN),
        ("after a query", keys::AFTER_QUERY),
        ("after a query by all at once", keys::AFTER_BURST),
    ] {
        goals.push(pgbouncer(format!("idle client's memory, {name}"), key.to_owned(), Bound::AtMost(1.0)));
    }
    let held = "memory of distinct statements".to_owned();
    goals.push(pgbouncer(held, keys::HELD.to_owned(), Bound::AtMost(1.0)));
    let wait = "median wait in a storm of logins".to_owned();
    goals.push(pgbouncer(wait, keys::WAIT.to_owned(), Bound::AtMost(2.0)));
    for (name, key) in [("pgbench -C", keys::PGBENCH), ("login and leave", keys::LOOP)] {
        goals.push(pgbouncer(format!("connections/s, {name}"), format!("{key}/rate"), Bound::AtLeast(1.0)));
    }
    for (shape, _) in keys::SHAPES {
        let name = format!("CPU/MB, {shape}");
        let (of, to) = (Kind::Trunkline, Kind::Relay);
        goals.push(Goal { name, key: cpu_key(shape), of, to, bound: Bound::AtMost(1.3) });
    }
    goals
}

/// Renders from the figures of this run's other tables.
pub(super) fn report(options: &Options, figures: &Figures) -> String {
    let columns = ["figure", "ratio to", "Trunkline", "goal", "met"].map(str::to_owned);
    let mut text = format!("\n### Goals\n\n{}", head(&columns, 2));
    let measured = goals(&options.clients).into_iter().filter(|goal| figures.has(&goal.key));
    for goal in measured {
        let ratio = figures.ratio(&goal.key, goal.of, goal.to);
        let met = match ratio {
            Some(ratio) if goal.bound.met(ratio) => "yes",
            Some(_) => "**no**",
            None => "-",
        };
        text.push_str(&row([goal.name.as_str(), goal.to.name(), &show(ratio, 2), &goal.bound.name(), met]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_compared_with_the_measured_figures() {
        let options = Options::parse(["goals".to_owned()]).expect("valid");
        let mut figures = Figures::default();
        let prepared = keys::cell(Route::Tcp, Protocol::Prepared, 10, "cpu");
        figures.add(&prepared, Kind::PgBouncer, Some(10.0));
        figures.add(&prepared, Kind::OneWorker, Some(8.0));
        figures.add(&prepared, Kind::Trunkline, Some(9.0));
        figures.add(keys::AFTER_LOGIN, Kind::PgBouncer, Some(2000.0));
        figures.add(keys::AFTER_LOGIN, Kind::Trunkline, Some(1000.0));
        figures.add("large/rows of 1 kB/cpu", Kind::Relay, Some(1000.0));
        let text = report(&options, &figures);
        assert!(
            text.contains(
                "| CPU, 1 worker, prepared, 10 clients | PgBouncer | 0.80 | at most 0.75 | **no** |"
            ),
            "{text}"
        );
        assert!(
            text.contains("| CPU, prepared, 10 clients | PgBouncer | 0.90 | at most 1.00 | yes |"),
            "{text}"
        );
        assert!(
            text.contains("| idle client's memory, after login | PgBouncer | 0.50 | at most 1.00 | yes |"),
            "{text}"
        );
        assert!(text.contains("| CPU/MB, rows of 1 kB | relay | - | at most 1.30 | - |"), "{text}");
        assert_eq!(text.lines().count(), 9, "{text}");
    }
}
