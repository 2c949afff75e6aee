//! Bad input from clients and servers. The proxy must answer with a clear ErrorResponse if the protocol allows one, or else close the
//! connection. Its memory must stay bounded, and other clients must not be affected.

mod lengths;
mod negotiation;
mod nonsense_server;
mod order;

use trunkline_probes::{Bystander, MemoryWatch, Setup};
use trunkline_testkit::Proxy;

/// How much a probe may add to the proxy's resident memory.
pub(crate) const RISE_KIB_MAX: u64 = 10 << 10;

/// Runs `probe` against a proxy. Meanwhile another client must not be affected, and memory must stay within the bound.
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
