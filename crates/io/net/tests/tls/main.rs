//! TLS over loopback sockets. The tests drive it as a worker does: edge-triggered, with both ends in one poll.

mod authority;
mod binding;
mod files;
mod hostile;
mod modes;
mod pair;
mod reload;
mod servers;
mod session;
