//! Listening, dialling and streams over real sockets.

mod dial;
mod listen;
mod wait;
