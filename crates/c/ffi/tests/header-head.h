// Trunkline for C: a PostgreSQL connection, the protocol without I/O, and PostgreSQL's own SQL parser.
//
// This file is made of the library's sources. docs/c.md shows how to use it.
//
// Handles. Sessions, results, templates, logins, trees, texts and cancellers are named by numbers; 0 is none. A function that
// gives one out says who frees it. A handle that was freed, never given out or is of another kind is TRUNKLINE_BAD_HANDLE,
// never a crash. A handle may go from thread to thread; a second call with it while one is under way is TRUNKLINE_BUSY.
//
// Status. Every function returns one: 0 or above is no failure.
//
// Memory. What is given to a function by pointer is only read during the call. What a function points to is the library's,
// valid as the function says. Pointers and lengths must be right: that is all that the library cannot check.
//
// Errors. A function with an `error` puts a result there when it fails: trunkline_result_field reads it, the caller frees
// it. It may be null.
//
// Layers. (a) Logins, sessions, encoding, results: no I/O; libtrunkline_codec.a has it alone, without sockets, threads or TLS.
// (b) Connections: sessions with a socket; layer (a) works with them too. (c) The parser.
