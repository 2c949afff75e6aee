//! The report of a failed run.

use trunkline_relay::Action;

use crate::world::World;

/// An action in one line.
pub(crate) fn shown(action: &Action) -> String {
    match action {
        Action::CloseClient(key, last) => format!("CloseClient {key:?} {}", last.escape_ascii()),
        Action::CloseServer(key, last) => format!("CloseServer {key:?} {}", last.escape_ascii()),
        Action::Handoff(worker, key, _) => format!("Handoff of {key:?} to {worker}"),
        Action::Mail(worker, mail) => {
            format!("mail to {worker}: {}", format!("{mail:?}").chars().take(80).collect::<String>())
        }
        other => format!("{other:?}"),
    }
}

/// The last events, and the command that repeats the run.
pub(crate) fn failure(world: &World, seed: u64, steps: u64, why: &str) -> String {
    let lines: usize = if std::env::var_os("TRUNKLINE_SIM_SEED").is_some() { usize::MAX } else { 25 };
    let skipped = world.trace.len().saturating_sub(lines);
    let trace: Vec<&str> = world.trace.iter().skip(skipped).map(String::as_str).collect();
    format!(
        "{}\n{:?}\nevent {}: {why}\nreplay: TRUNKLINE_SIM_SEED={seed} TRUNKLINE_SIM_STEPS={steps} \
         cargo test -p trunkline-relay --test simulation seeded",
        trace.join("\n"),
        world.flavour,
        world.steps
    )
}
