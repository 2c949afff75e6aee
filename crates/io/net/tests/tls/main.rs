//! TLS over loopback sockets, driven as a worker drives it: edge-triggered, both ends in one poll.

mod authority;
mod binding;
mod files;
mod hostile;
mod modes;
mod pair;
mod reload;
mod servers;
mod session;
