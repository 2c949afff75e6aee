//! Trees as deep as they come.
