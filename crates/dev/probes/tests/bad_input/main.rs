//! Bad input from clients and servers: a clear ErrorResponse where the protocol has room for one, a close where not,
//! bounded memory, and everyone else undisturbed.

mod lengths;
mod negotiation;
mod nonsense_server;
mod order;

use trunkline_probes::{Bystander, MemoryWatch, Setup};
use trunkline_testkit::Proxy;

/// What a probe may add to the proxy's resident memory.
pub(crate) const RISE_KIB_MAX: u64 = 10 << 10;

/// Runs `probe` against a proxy while another client must notice nothing and memory must stay where it is.
pub(crate) fn undisturbed(setup: &Setup, probe: impl FnOnce(&Proxy)) {
    let proxy = setup.start();
    let bystander = Bystander::start(&proxy);
    bystander.wait_for(50);
    let memory = MemoryWatch::start(&proxy);
    probe(&proxy);
    bystander.finish();
    let rise = memory.rise_kib();
    assert!(rise < RISE_KIB_MAX, "resident memory rose by {rise} KiB");
}
