//! Statements that define, alter and drop objects, and those about the session and the server.

mod alter_object;
mod definition;
mod definition_create;
mod domain;
mod drop;
mod extension;
mod foreign;
mod function;
mod object_kind;
mod rename;
mod role;
mod session;
mod session_command;
