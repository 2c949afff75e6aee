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

#ifndef TRUNKLINE_H
#define TRUNKLINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Done.
#define TRUNKLINE_OK 0

// Done; the value is NULL.
#define TRUNKLINE_NULL 1

// Nothing is there: no event now, no such field, the end.
#define TRUNKLINE_NONE 2

// The handle is null, was freed, is of another kind, or was never given out.
#define TRUNKLINE_BAD_HANDLE -1

// Another thread is in a call with the same handle.
#define TRUNKLINE_BUSY -2

// A pointer is null, a text is not UTF-8, or a number is out of its range.
#define TRUNKLINE_BAD_ARGUMENT -3

// A mistake in this library. The handle can only be freed.
#define TRUNKLINE_PANIC -4

// It does not fit a message: a zero byte in a text, too long, or another count of values. Nothing was written.
#define TRUNKLINE_UNENCODABLE -5

// The server broke the protocol. The session is over.
#define TRUNKLINE_PROTOCOL -6

// The session is over.
#define TRUNKLINE_CLOSED -7

// There is no such row, column or item.
#define TRUNKLINE_NO_SUCH -8

// The value is not of the type that was asked for, or does not fit it.
#define TRUNKLINE_TYPE -9

// The server says that it failed: its SQLSTATE and texts are in the error.
#define TRUNKLINE_SERVER -10

// A bound of this library is reached.
#define TRUNKLINE_LIMIT -11

// The network failed, or the server has closed the connection.
#define TRUNKLINE_IO -12

// The time is up.
#define TRUNKLINE_TIMEOUT -13

// The settings are not usable, or no host will do.
#define TRUNKLINE_CONNECT -14

// The SQL does not parse.
#define TRUNKLINE_SYNTAX -15

// The call does not fit what the session is doing.
#define TRUNKLINE_MISUSE -16

// A command's result, or a batch's, or a piece of it.
#define TRUNKLINE_EVENT_RESULT 1

// What was asked for in a Describe: columns and parameters, no rows.
#define TRUNKLINE_EVENT_DESCRIBED 2

// A turn is over.
#define TRUNKLINE_EVENT_READY 3

// A command failed; what follows it in its turn is not run.
#define TRUNKLINE_EVENT_ERROR 4

// The server ends the connection and says why.
#define TRUNKLINE_EVENT_FATAL 5

// The server waits for copied data.
#define TRUNKLINE_EVENT_COPY_IN 6

// Copied data will come.
#define TRUNKLINE_EVENT_COPY_OUT 7

// Copied data.
#define TRUNKLINE_EVENT_COPY_DATA 8

// A notice; at any time.
#define TRUNKLINE_EVENT_NOTICE 9

// A NOTIFY; at any time.
#define TRUNKLINE_EVENT_NOTIFICATION 10

// More of the same result will come as a further event.
#define TRUNKLINE_MORE 1

// The Execute gave as many rows as it was to; the portal may have more.
#define TRUNKLINE_SUSPENDED 2

// The version of this interface. A program that was compiled for another one must not go on: it differs where a
// function or a structure was changed, and stays where only functions were added.
#define TRUNKLINE_ABI_VERSION 1

// Random bytes that a login must be given, from the operating system.
#define TRUNKLINE_ENTROPY_BYTES 32

// Nothing to do now: send, receive, feed.
#define TRUNKLINE_LOGIN_WAIT 0

// Have TLS established, then call trunkline_login_tls_started.
#define TRUNKLINE_LOGIN_START_TLS 1

// The login is done: trunkline_session_of_login.
#define TRUNKLINE_LOGIN_READY 2

// The connection waits for bytes to come.
#define TRUNKLINE_WANT_READ 1

// The connection has bytes that the system did not take.
#define TRUNKLINE_WANT_WRITE 2

// A value: a parameter's, or a column's.
typedef struct trunkline_value {
  // The first byte; of NULL anything.
  const uint8_t *data;
  // How many bytes; -1 is NULL.
  int32_t length;
  // 0: text. 1: binary.
  int32_t format;
} trunkline_value;

// Bytes that somebody else owns. An empty one may have any `data`.
typedef struct trunkline_bytes {
  // The first byte.
  const uint8_t *data;
  // How many.
  size_t length;
} trunkline_bytes;

// A start-up parameter.
typedef struct trunkline_parameter {
  // Its name, such as application_name.
  struct trunkline_bytes name;
  // Its value.
  struct trunkline_bytes value;
} trunkline_parameter;

// What a login is made with. Fill it with zeroes first.
typedef struct trunkline_login_settings {
  // The user.
  struct trunkline_bytes user;
  // The database.
  struct trunkline_bytes database;
  // The password; ignored unless `has_password` is 1.
  struct trunkline_bytes password;
  // TRUNKLINE_ENTROPY_BYTES or more random bytes from the operating system, each used once.
  struct trunkline_bytes entropy;
  // Further start-up parameters.
  const struct trunkline_parameter *parameters;
  // How many.
  size_t parameters_count;
  // 1 when there is a password.
  uint8_t has_password;
  // 0: no TLS. 1: if the server has it. 2: required. 3: begun without asking (PostgreSQL 17 and later).
  uint8_t tls;
  // 1 when the password may be sent as it is without TLS: over a unix socket, or on a network that is trusted.
  uint8_t cleartext_without_tls;
  // The minor version of protocol 3 to ask for: 0 or 2.
  uint8_t protocol_minor;
} trunkline_login_settings;

// A column of a result or a statement.
typedef struct trunkline_column {
  // Its name.
  struct trunkline_bytes name;
  // The object id of its type.
  uint32_t type_oid;
  // The object id of the table it is a column of; 0: of none.
  uint32_t table;
  // What the type was given in parentheses, as the type has it; -1: nothing.
  int32_t type_modifier;
  // Which column of the table it is, from 1; 0: of none.
  int16_t attribute;
  // The type's size in bytes; negative: it varies.
  int16_t type_size;
  // How its values are written: 0 text, 1 binary. Of a statement that was described, always 0.
  int32_t format;
} trunkline_column;

// Something that the server said.
typedef struct trunkline_event {
  // One of TRUNKLINE_EVENT_...
  int32_t kind;
  // TRUNKLINE_MORE: more of this result will come. TRUNKLINE_SUSPENDED: the portal may have more rows.
  int32_t flags;
  // Of READY: turns that are over. Of ERROR: the index of the batch's item that failed. Of COPY_IN and COPY_OUT: the
  // format, 0 text, 1 binary.
  uint64_t number;
  // What came, 0 where nothing did; the caller's, to be freed by trunkline_result_free.
  uint64_t result;
} trunkline_event;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface that the library has: compare it with TRUNKLINE_ABI_VERSION.
uint32_t trunkline_abi_version(void);

// What a status means, for people. Valid for ever.
const char *trunkline_status_text(int32_t status);

// The values of `rows` rows from `first` on, the first `columns` of each, written to `values` one row after the other: an
// array of `rows` times `columns`.
int32_t trunkline_result_values(uint64_t result,
                                uint64_t first,
                                uint64_t rows,
                                uint32_t columns,
                                struct trunkline_value *values);

// A column's integers in `rows` rows from `first` on. `nulls` (may be null: then no value may be NULL) gets 1 for NULL, whose
// value is 0, and else 0.
int32_t trunkline_result_i64s(uint64_t result,
                              uint32_t column,
                              uint64_t first,
                              uint64_t rows,
                              int64_t *values,
                              uint8_t *nulls);

// A column's floating-point numbers, as trunkline_result_i64s.
int32_t trunkline_result_f64s(uint64_t result,
                              uint32_t column,
                              uint64_t first,
                              uint64_t rows,
                              double *values,
                              uint8_t *nulls);

// A simple query: any number of commands, a whole turn. Each gives a result.
int32_t trunkline_encode_query(uint64_t session, struct trunkline_bytes text);

// A Parse: prepares a statement; an empty name is the unnamed one. `types` has the object ids of the first `types_count`
// parameters' types, 0 where the server is to find it out.
int32_t trunkline_encode_parse(uint64_t session,
                               struct trunkline_bytes name,
                               struct trunkline_bytes text,
                               const uint32_t *types,
                               size_t types_count);

// A Bind: a portal of a statement and its parameters' values, each with its format. All columns of the result will be of
// `result_format`: 0 text, 1 binary.
int32_t trunkline_encode_bind(uint64_t session,
                              struct trunkline_bytes portal,
                              struct trunkline_bytes statement,
                              const struct trunkline_value *parameters,
                              size_t parameters_count,
                              int32_t result_format);

// A Describe of a statement (`what` is 'S'), or of a portal ('P'). That of a portal just before its Execute gives that
// result its columns; any other is an event of its own.
int32_t trunkline_encode_describe(uint64_t session, uint8_t what, struct trunkline_bytes name);

// An Execute of a portal: at most `max_rows` rows, 0 for all. `result_format` as in its Bind.
int32_t trunkline_encode_execute(uint64_t session,
                                 struct trunkline_bytes portal,
                                 int32_t max_rows,
                                 int32_t result_format);

// A Close of a statement (`what` is 'S') or of a portal ('P').
int32_t trunkline_encode_close(uint64_t session, uint8_t what, struct trunkline_bytes name);

// A Sync: ends the turn.
int32_t trunkline_encode_sync(uint64_t session);

// A Flush: asks for the answers so far.
int32_t trunkline_encode_flush(uint64_t session);

// Copied data, after TRUNKLINE_EVENT_COPY_IN.
int32_t trunkline_encode_copy_data(uint64_t session, struct trunkline_bytes data);

// The end of copied data. In the extended protocol a Sync must follow.
int32_t trunkline_encode_copy_done(uint64_t session);

// Gives copied data up, for a reason that the server's error will quote. In the extended protocol a Sync must follow.
int32_t trunkline_encode_copy_fail(uint64_t session, struct trunkline_bytes reason);

// Declines copied data that the server waits for, after TRUNKLINE_EVENT_COPY_IN that was not meant. Its turn ends with an
// error of the server, which quotes the reason.
int32_t trunkline_encode_copy_refuse(uint64_t session,
                                     struct trunkline_bytes reason);

// Says good-bye; nothing may follow.
int32_t trunkline_encode_terminate(uint64_t session);

// Makes a template: what the Bind and Execute messages of a prepared statement have in common. `formats` has the format
// of each of `parameters` parameters; null: all are binary. All columns of results will be of `result_format`.
//
// A template is of no session and may be used in any, from any thread, one call at a time. Free it with
// trunkline_template_free; sessions keep what they need.
int32_t trunkline_template_new(struct trunkline_bytes statement,
                               const int32_t *formats,
                               size_t parameters,
                               int32_t result_format,
                               uint64_t *template_);

// Frees a template.
int32_t trunkline_template_free(uint64_t template_);

// Items of a batch: for each a Bind and an Execute. `values` has `count` values for each of `items` items, one item after
// the other; their formats are the template's, and `format` of each is not looked at. `encoded` (may be null) is told
// how many items were written: fewer than `items` where the call fails.
//
// Items in a row have one result. Items of one turn are one transaction, unless one is open.
int32_t trunkline_encode_items(uint64_t session,
                               uint64_t template_,
                               const struct trunkline_value *values,
                               size_t count,
                               size_t items,
                               size_t *encoded);

// Makes a login. Free it with trunkline_login_free.
int32_t trunkline_login_new(const struct trunkline_login_settings *settings, uint64_t *login);

// Frees a login.
int32_t trunkline_login_free(uint64_t login);

// The bytes that wait to be sent. Valid until the next call with the login.
int32_t trunkline_login_unsent(uint64_t login, struct trunkline_bytes *bytes);

// Says that this many bytes of trunkline_login_unsent were sent.
int32_t trunkline_login_sent(uint64_t login, size_t bytes);

// Gives bytes that were received, and says what to do next: TRUNKLINE_LOGIN_... TRUNKLINE_CONNECT: the login failed, see
// trunkline_login_message.
int32_t trunkline_login_feed(uint64_t login,
                             struct trunkline_bytes bytes,
                             int32_t *next);

// Says that TLS is established. `binding` is the server's certificate hashed as tls-server-end-point (RFC 5929), empty
// where there is none.
int32_t trunkline_login_tls_started(uint64_t login, struct trunkline_bytes binding);

// Why the login failed, for people; TRUNKLINE_NULL when it has not. Valid until the next call with the login.
int32_t trunkline_login_message(uint64_t login, struct trunkline_bytes *message);

// The SQLSTATE with which the server has refused the login, five characters; TRUNKLINE_NONE when it has not said one.
int32_t trunkline_login_sqlstate(uint64_t login, uint8_t *sqlstate);

// Frees a result.
int32_t trunkline_result_free(uint64_t result);

// Frees a result, and lets the session have its memory for the next one.
int32_t trunkline_result_recycle(uint64_t result, uint64_t session);

// How many rows it has.
int32_t trunkline_result_rows(uint64_t result, uint64_t *rows);

// How many columns its rows have: as described, else as the first row has them.
int32_t trunkline_result_columns(uint64_t result, uint32_t *columns);

// How many commands have ended in it: of a batch, its items; of anything else, 1.
int32_t trunkline_result_items(uint64_t result, uint64_t *items);

// A command's tag, such as INSERT 0 1; empty for a text without a command. `item` is 0 but in a batch.
int32_t trunkline_result_tag(uint64_t result, uint64_t item, struct trunkline_bytes *tag);

// How many rows a command has changed or returned, by its tag; 0 where that says no number.
int32_t trunkline_result_affected(uint64_t result, uint64_t item, uint64_t *affected);

// Which rows are an item's: the first, and how many.
int32_t trunkline_result_item_rows(uint64_t result, uint64_t item, uint64_t *first, uint64_t *count);

// A column, where they were described.
int32_t trunkline_result_column(uint64_t result, uint32_t index, struct trunkline_column *column);

// The index of the first column of a name; TRUNKLINE_NO_SUCH where there is none.
int32_t trunkline_result_column_index(uint64_t result, struct trunkline_bytes name, uint32_t *index);

// How many parameters a statement that was described has.
int32_t trunkline_result_parameters(uint64_t result, uint32_t *parameters);

// The object id of a parameter's type.
int32_t trunkline_result_parameter_type(uint64_t result, uint32_t index, uint32_t *type_oid);

// A value as it came; TRUNKLINE_NULL when it is NULL, whose length is -1.
int32_t trunkline_result_value(uint64_t result, uint64_t row, uint32_t column, struct trunkline_value *value);

// A boolean: 0 or 1. Of NULL `value` stays as it is.
int32_t trunkline_result_bool(uint64_t result, uint64_t row, uint32_t column, uint8_t *value);

// An integer of any width that fits 32 bits. Of NULL `value` stays as it is.
int32_t trunkline_result_i32(uint64_t result, uint64_t row, uint32_t column, int32_t *value);

// An integer of any width. Of NULL `value` stays as it is.
int32_t trunkline_result_i64(uint64_t result, uint64_t row, uint32_t column, int64_t *value);

// A floating-point number of either width. Of NULL `value` stays as it is.
int32_t trunkline_result_f64(uint64_t result, uint64_t row, uint32_t column, double *value);

// A value's bytes: of a text its characters, which no zero byte ends. Of NULL `value` stays as it is.
int32_t trunkline_result_bytes(uint64_t result, uint64_t row, uint32_t column, struct trunkline_bytes *value);

// A field of an error or a notice, by its letter (manual, "Error and Notice Message Fields"): 'C' is the SQLSTATE, 'M' the
// message, 'D' the detail, 'H' the hint, 'P' the position. TRUNKLINE_NONE when there is none: an error of this library has
// a message only, and 'F' says what became of what was asked, where the connection broke: "not run", "may have run" or
// "failed".
int32_t trunkline_result_field(uint64_t result,
                               uint8_t letter,
                               struct trunkline_bytes *text);

// A NOTIFY: who notified, the channel, and what was said.
int32_t trunkline_result_notification(uint64_t result,
                                      int32_t *process_id,
                                      struct trunkline_bytes *channel,
                                      struct trunkline_bytes *payload);

// Copied data, of TRUNKLINE_EVENT_COPY_DATA.
int32_t trunkline_result_copied(uint64_t result, struct trunkline_bytes *data);

// Makes a session of a connection that the caller has logged in by itself: ReadyForQuery has come, and nothing after it.
// Free it with trunkline_session_free.
int32_t trunkline_session_new(uint64_t *session);

// Makes a session of a login that is done; the login can only be freed then. A message of the server that is longer than
// `message_bytes_max` ends the session; 0 is the protocol's own bound, 1 GiB. Free it with trunkline_session_free.
int32_t trunkline_session_of_login(uint64_t login,
                                   uint32_t message_bytes_max,
                                   uint64_t *session);

// Frees a session: also closes the connection of one that has any. Its results stay.
int32_t trunkline_session_free(uint64_t session);

// From how many bytes on a result is handed out in pieces, the last of which lacks TRUNKLINE_MORE. As it is at first, from
// 1 GiB.
int32_t trunkline_session_piece_bytes(uint64_t session,
                                      size_t bytes);

// The bytes that wait to be sent. Valid until the next call with the session.
int32_t trunkline_session_unsent(uint64_t session, struct trunkline_bytes *bytes);

// Says that this many bytes of trunkline_session_unsent were sent.
int32_t trunkline_session_sent(uint64_t session, size_t bytes);

// Gives bytes that were received, in pieces of any size. After an error the events from before it can still be taken.
int32_t trunkline_session_feed(uint64_t session, struct trunkline_bytes bytes);

// The next thing that the server said; TRUNKLINE_NONE when more bytes are needed. Take all there are before feeding more:
// what is not taken is kept.
int32_t trunkline_session_next(uint64_t session,
                               struct trunkline_event *event);

// The transaction's state: 'I' outside of any, 'T' in one, 'E' in one that has failed.
int32_t trunkline_session_status(uint64_t session, uint8_t *status);

// 1 when all that was asked is answered, and no event waits to be taken; else 0.
int32_t trunkline_session_is_idle(uint64_t session, uint8_t *idle);

// The value that the server last reported for a parameter, such as server_version; TRUNKLINE_NONE where it reported none.
// Valid until the next call with the session.
int32_t trunkline_session_parameter(uint64_t session,
                                    struct trunkline_bytes name,
                                    struct trunkline_bytes *value);

// Writes the packet that, as the first and only one on a connection of its own, asks the server to cancel what this session
// runs, to `buffer` of `size` bytes, and says how long it is. TRUNKLINE_NONE when the server gave no key.
int32_t trunkline_session_cancel_request(uint64_t session,
                                         uint8_t *buffer,
                                         size_t size,
                                         size_t *length);

// Says that the connection has ended, and asks what became of the turns that wait, in their order: how many there are, and of
// the first `size` of them 0: not run, no byte of it was sent; 1: may have run; 2: failed, its error had come. `fates` may
// be null.
int32_t trunkline_session_end(uint64_t session,
                              uint8_t *fates,
                              size_t size,
                              size_t *count);

// Why the last call with the session failed, for people, in UTF-8; TRUNKLINE_NULL when no call has. Valid until the next
// call with the session.
int32_t trunkline_session_message(uint64_t session,
                                  struct trunkline_bytes *message);

// Makes a login. Free it with trunkline_login_free.
int32_t trunkline_login_new(const struct trunkline_login_settings *settings, uint64_t *login);

// Frees a login.
int32_t trunkline_login_free(uint64_t login);

// The bytes that wait to be sent. Valid until the next call with the login.
int32_t trunkline_login_unsent(uint64_t login, struct trunkline_bytes *bytes);

// Says that this many bytes of trunkline_login_unsent were sent.
int32_t trunkline_login_sent(uint64_t login, size_t bytes);

// Gives bytes that were received, and says what to do next: TRUNKLINE_LOGIN_... TRUNKLINE_CONNECT: the login failed, see
// trunkline_login_message.
int32_t trunkline_login_feed(uint64_t login,
                             struct trunkline_bytes bytes,
                             int32_t *next);

// Says that TLS is established. `binding` is the server's certificate hashed as tls-server-end-point (RFC 5929), empty
// where there is none.
int32_t trunkline_login_tls_started(uint64_t login, struct trunkline_bytes binding);

// Why the login failed, for people; TRUNKLINE_NULL when it has not. Valid until the next call with the login.
int32_t trunkline_login_message(uint64_t login, struct trunkline_bytes *message);

// The SQLSTATE with which the server has refused the login, five characters; TRUNKLINE_NONE when it has not said one.
int32_t trunkline_login_sqlstate(uint64_t login, uint8_t *sqlstate);

// Makes a session of a connection that the caller has logged in by itself: ReadyForQuery has come, and nothing after it.
// Free it with trunkline_session_free.
int32_t trunkline_session_new(uint64_t *session);

// Makes a session of a login that is done; the login can only be freed then. A message of the server that is longer than
// `message_bytes_max` ends the session; 0 is the protocol's own bound, 1 GiB. Free it with trunkline_session_free.
int32_t trunkline_session_of_login(uint64_t login,
                                   uint32_t message_bytes_max,
                                   uint64_t *session);

// Frees a session: also closes the connection of one that has any. Its results stay.
int32_t trunkline_session_free(uint64_t session);

// From how many bytes on a result is handed out in pieces, the last of which lacks TRUNKLINE_MORE. As it is at first, from
// 1 GiB.
int32_t trunkline_session_piece_bytes(uint64_t session,
                                      size_t bytes);

// The bytes that wait to be sent. Valid until the next call with the session.
int32_t trunkline_session_unsent(uint64_t session, struct trunkline_bytes *bytes);

// Says that this many bytes of trunkline_session_unsent were sent.
int32_t trunkline_session_sent(uint64_t session, size_t bytes);

// Gives bytes that were received, in pieces of any size. After an error the events from before it can still be taken.
int32_t trunkline_session_feed(uint64_t session, struct trunkline_bytes bytes);

// The next thing that the server said; TRUNKLINE_NONE when more bytes are needed. Take all there are before feeding more:
// what is not taken is kept.
int32_t trunkline_session_next(uint64_t session,
                               struct trunkline_event *event);

// The transaction's state: 'I' outside of any, 'T' in one, 'E' in one that has failed.
int32_t trunkline_session_status(uint64_t session, uint8_t *status);

// 1 when all that was asked is answered, and no event waits to be taken; else 0.
int32_t trunkline_session_is_idle(uint64_t session, uint8_t *idle);

// The value that the server last reported for a parameter, such as server_version; TRUNKLINE_NONE where it reported none.
// Valid until the next call with the session.
int32_t trunkline_session_parameter(uint64_t session,
                                    struct trunkline_bytes name,
                                    struct trunkline_bytes *value);

// Writes the packet that, as the first and only one on a connection of its own, asks the server to cancel what this session
// runs, to `buffer` of `size` bytes, and says how long it is. TRUNKLINE_NONE when the server gave no key.
int32_t trunkline_session_cancel_request(uint64_t session,
                                         uint8_t *buffer,
                                         size_t size,
                                         size_t *length);

// Says that the connection has ended, and asks what became of the turns that wait, in their order: how many there are, and of
// the first `size` of them 0: not run, no byte of it was sent; 1: may have run; 2: failed, its error had come. `fates` may
// be null.
int32_t trunkline_session_end(uint64_t session,
                              uint8_t *fates,
                              size_t size,
                              size_t *count);

// Why the last call with the session failed, for people, in UTF-8; TRUNKLINE_NULL when no call has. Valid until the next
// call with the session.
int32_t trunkline_session_message(uint64_t session,
                                  struct trunkline_bytes *message);

// A simple query: any number of commands, a whole turn. Each gives a result.
int32_t trunkline_encode_query(uint64_t session, struct trunkline_bytes text);

// A Parse: prepares a statement; an empty name is the unnamed one. `types` has the object ids of the first `types_count`
// parameters' types, 0 where the server is to find it out.
int32_t trunkline_encode_parse(uint64_t session,
                               struct trunkline_bytes name,
                               struct trunkline_bytes text,
                               const uint32_t *types,
                               size_t types_count);

// A Bind: a portal of a statement and its parameters' values, each with its format. All columns of the result will be of
// `result_format`: 0 text, 1 binary.
int32_t trunkline_encode_bind(uint64_t session,
                              struct trunkline_bytes portal,
                              struct trunkline_bytes statement,
                              const struct trunkline_value *parameters,
                              size_t parameters_count,
                              int32_t result_format);

// A Describe of a statement (`what` is 'S'), or of a portal ('P'). That of a portal just before its Execute gives that
// result its columns; any other is an event of its own.
int32_t trunkline_encode_describe(uint64_t session, uint8_t what, struct trunkline_bytes name);

// An Execute of a portal: at most `max_rows` rows, 0 for all. `result_format` as in its Bind.
int32_t trunkline_encode_execute(uint64_t session,
                                 struct trunkline_bytes portal,
                                 int32_t max_rows,
                                 int32_t result_format);

// A Close of a statement (`what` is 'S') or of a portal ('P').
int32_t trunkline_encode_close(uint64_t session, uint8_t what, struct trunkline_bytes name);

// A Sync: ends the turn.
int32_t trunkline_encode_sync(uint64_t session);

// A Flush: asks for the answers so far.
int32_t trunkline_encode_flush(uint64_t session);

// Copied data, after TRUNKLINE_EVENT_COPY_IN.
int32_t trunkline_encode_copy_data(uint64_t session, struct trunkline_bytes data);

// The end of copied data. In the extended protocol a Sync must follow.
int32_t trunkline_encode_copy_done(uint64_t session);

// Gives copied data up, for a reason that the server's error will quote. In the extended protocol a Sync must follow.
int32_t trunkline_encode_copy_fail(uint64_t session, struct trunkline_bytes reason);

// Declines copied data that the server waits for, after TRUNKLINE_EVENT_COPY_IN that was not meant. Its turn ends with an
// error of the server, which quotes the reason.
int32_t trunkline_encode_copy_refuse(uint64_t session,
                                     struct trunkline_bytes reason);

// Says good-bye; nothing may follow.
int32_t trunkline_encode_terminate(uint64_t session);

// Makes a template: what the Bind and Execute messages of a prepared statement have in common. `formats` has the format
// of each of `parameters` parameters; null: all are binary. All columns of results will be of `result_format`.
//
// A template is of no session and may be used in any, from any thread, one call at a time. Free it with
// trunkline_template_free; sessions keep what they need.
int32_t trunkline_template_new(struct trunkline_bytes statement,
                               const int32_t *formats,
                               size_t parameters,
                               int32_t result_format,
                               uint64_t *template_);

// Frees a template.
int32_t trunkline_template_free(uint64_t template_);

// Items of a batch: for each a Bind and an Execute. `values` has `count` values for each of `items` items, one item after
// the other; their formats are the template's, and `format` of each is not looked at. `encoded` (may be null) is told
// how many items were written: fewer than `items` where the call fails.
//
// Items in a row have one result. Items of one turn are one transaction, unless one is open.
int32_t trunkline_encode_items(uint64_t session,
                               uint64_t template_,
                               const struct trunkline_value *values,
                               size_t count,
                               size_t items,
                               size_t *encoded);

// Frees a result.
int32_t trunkline_result_free(uint64_t result);

// Frees a result, and lets the session have its memory for the next one.
int32_t trunkline_result_recycle(uint64_t result, uint64_t session);

// How many rows it has.
int32_t trunkline_result_rows(uint64_t result, uint64_t *rows);

// How many columns its rows have: as described, else as the first row has them.
int32_t trunkline_result_columns(uint64_t result, uint32_t *columns);

// How many commands have ended in it: of a batch, its items; of anything else, 1.
int32_t trunkline_result_items(uint64_t result, uint64_t *items);

// A command's tag, such as INSERT 0 1; empty for a text without a command. `item` is 0 but in a batch.
int32_t trunkline_result_tag(uint64_t result, uint64_t item, struct trunkline_bytes *tag);

// How many rows a command has changed or returned, by its tag; 0 where that says no number.
int32_t trunkline_result_affected(uint64_t result, uint64_t item, uint64_t *affected);

// Which rows are an item's: the first, and how many.
int32_t trunkline_result_item_rows(uint64_t result, uint64_t item, uint64_t *first, uint64_t *count);

// A column, where they were described.
int32_t trunkline_result_column(uint64_t result, uint32_t index, struct trunkline_column *column);

// The index of the first column of a name; TRUNKLINE_NO_SUCH where there is none.
int32_t trunkline_result_column_index(uint64_t result, struct trunkline_bytes name, uint32_t *index);

// How many parameters a statement that was described has.
int32_t trunkline_result_parameters(uint64_t result, uint32_t *parameters);

// The object id of a parameter's type.
int32_t trunkline_result_parameter_type(uint64_t result, uint32_t index, uint32_t *type_oid);

// A value as it came; TRUNKLINE_NULL when it is NULL, whose length is -1.
int32_t trunkline_result_value(uint64_t result, uint64_t row, uint32_t column, struct trunkline_value *value);

// A boolean: 0 or 1. Of NULL `value` stays as it is.
int32_t trunkline_result_bool(uint64_t result, uint64_t row, uint32_t column, uint8_t *value);

// An integer of any width that fits 32 bits. Of NULL `value` stays as it is.
int32_t trunkline_result_i32(uint64_t result, uint64_t row, uint32_t column, int32_t *value);

// An integer of any width. Of NULL `value` stays as it is.
int32_t trunkline_result_i64(uint64_t result, uint64_t row, uint32_t column, int64_t *value);

// A floating-point number of either width. Of NULL `value` stays as it is.
int32_t trunkline_result_f64(uint64_t result, uint64_t row, uint32_t column, double *value);

// A value's bytes: of a text its characters, which no zero byte ends. Of NULL `value` stays as it is.
int32_t trunkline_result_bytes(uint64_t result, uint64_t row, uint32_t column, struct trunkline_bytes *value);

// A field of an error or a notice, by its letter (manual, "Error and Notice Message Fields"): 'C' is the SQLSTATE, 'M' the
// message, 'D' the detail, 'H' the hint, 'P' the position. TRUNKLINE_NONE when there is none: an error of this library has
// a message only, and 'F' says what became of what was asked, where the connection broke: "not run", "may have run" or
// "failed".
int32_t trunkline_result_field(uint64_t result,
                               uint8_t letter,
                               struct trunkline_bytes *text);

// A NOTIFY: who notified, the channel, and what was said.
int32_t trunkline_result_notification(uint64_t result,
                                      int32_t *process_id,
                                      struct trunkline_bytes *channel,
                                      struct trunkline_bytes *payload);

// Copied data, of TRUNKLINE_EVENT_COPY_DATA.
int32_t trunkline_result_copied(uint64_t result, struct trunkline_bytes *data);

// The values of `rows` rows from `first` on, the first `columns` of each, written to `values` one row after the other: an
// array of `rows` times `columns`.
int32_t trunkline_result_values(uint64_t result,
                                uint64_t first,
                                uint64_t rows,
                                uint32_t columns,
                                struct trunkline_value *values);

// A column's integers in `rows` rows from `first` on. `nulls` (may be null: then no value may be NULL) gets 1 for NULL, whose
// value is 0, and else 0.
int32_t trunkline_result_i64s(uint64_t result,
                              uint32_t column,
                              uint64_t first,
                              uint64_t rows,
                              int64_t *values,
                              uint8_t *nulls);

// A column's floating-point numbers, as trunkline_result_i64s.
int32_t trunkline_result_f64s(uint64_t result,
                              uint32_t column,
                              uint64_t first,
                              uint64_t rows,
                              double *values,
                              uint8_t *nulls);

// Connects and logs in. `settings` is a connection string as libpq's: a URI, or settings and values; what it leaves out comes
// from the environment, the service file and the password file. Waits until that is done, for connect_timeout at most
// where it is set.
//
// The connection is a session: free it with trunkline_session_free, which says good-bye. `error` (may be null) gets an error
// that the caller must free, 0 where there is none.
int32_t trunkline_connect(struct trunkline_bytes settings,
                          uint64_t *session,
                          uint64_t *error);

// The connection's socket, to wait for what trunkline_connection_advance says. Nothing else may be done with it.
int32_t trunkline_connection_fd(uint64_t session, int32_t *fd);

// Sends and receives what can be without waiting, and says what to wait for at the socket before the next such call:
// TRUNKLINE_WANT_READ, and TRUNKLINE_WANT_WRITE where the system did not take everything. Take the events by
// trunkline_session_next after each.
int32_t trunkline_connection_advance(uint64_t session, int32_t *want, uint64_t *error);

// Sends what was encoded, and waits for the next event; at most for `milliseconds`, without end where that is negative.
// Notices and notifications are kept aside: trunkline_notice, trunkline_notification.
int32_t trunkline_connection_wait(uint64_t session,
                                  int64_t milliseconds,
                                  struct trunkline_event *event,
                                  uint64_t *error);

// How long each query may take from now on; negative: without end. One that takes longer is cancelled: its error is SQLSTATE
// 57014 of the server, or, when that does not answer within as long again, TRUNKLINE_TIMEOUT, after which the session is
// over.
int32_t trunkline_connection_timeout(uint64_t session,
                                     int64_t milliseconds);

// Makes what cancels what this connection runs: for another thread, also after the connection is gone. Free it with
// trunkline_cancel_free.
int32_t trunkline_connection_cancel(uint64_t session, uint64_t *cancel);

// Asks the server to cancel, and waits until it has heard it. Whether something was cancelled shows in what ran: SQLSTATE
// 57014.
int32_t trunkline_cancel(uint64_t cancel,
                         uint64_t *error);

// Frees what trunkline_connection_cancel made.
int32_t trunkline_cancel_free(uint64_t cancel);

// Runs a query in one round trip, with its parameters each in its format, and waits for all of its result, which the caller
// frees. Its columns are described; all are of `result_format`: 0 text, 1 binary.
int32_t trunkline_query(uint64_t session,
                        struct trunkline_bytes text,
                        const struct trunkline_value *parameters,
                        size_t parameters_count,
                        int32_t result_format,
                        uint64_t *result,
                        uint64_t *error);

// Runs any number of commands, separated by semicolons, for their effect.
int32_t trunkline_run(uint64_t session, struct trunkline_bytes text, uint64_t *error);

// Prepares a statement under a name, and tells what it is: `described` (may be null) gets a result with its parameters' types
// and its columns and no rows, which the caller frees. `types` as for trunkline_encode_parse.
int32_t trunkline_prepare(uint64_t session,
                          struct trunkline_bytes name,
                          struct trunkline_bytes text,
                          const uint32_t *types,
                          size_t types_count,
                          uint64_t *described,
                          uint64_t *error);

// Runs a prepared statement once, by its template, and waits for all of its result, which the caller frees.
int32_t trunkline_execute(uint64_t session,
                          uint64_t template_,
                          const struct trunkline_value *parameters,
                          size_t parameters_count,
                          uint64_t *result,
                          uint64_t *error);

// Runs a prepared statement with many sets of parameters, `count` values for each of `items` items, and waits for all of
// their results, which are one: trunkline_result_item_rows says which rows are whose. Encoding, sending and reading overlap, so
// that no server is kept waiting for its answers to be read.
//
// `items_per_sync`: every so many items are a transaction of their own; 0: all are one. `failed_item` (may be null) is told which item
// failed.
int32_t trunkline_batch(uint64_t session,
                        uint64_t template_,
                        const struct trunkline_value *parameters,
                        size_t count,
                        size_t items,
                        size_t items_per_sync,
                        uint64_t *result,
                        uint64_t *failed_item,
                        uint64_t *error);

// Begins a COPY ... FROM STDIN: give the data by trunkline_copy_write, then call trunkline_copy_end.
int32_t trunkline_copy_in(uint64_t session, struct trunkline_bytes text, uint64_t *error);

// Begins a COPY ... TO STDOUT: take the data by trunkline_copy_read until that says TRUNKLINE_NONE.
int32_t trunkline_copy_out(uint64_t session, struct trunkline_bytes text, uint64_t *error);

// Gives data to be copied in. It may be sent later; an error of the server shows here or at the end.
int32_t trunkline_copy_write(uint64_t session, struct trunkline_bytes data, uint64_t *error);

// Ends what was copied in: `reason` empty, it is complete, and `rows` (may be null) is told how many rows that were; else it is
// given up, and the server's error that follows is not told as one.
int32_t trunkline_copy_end(uint64_t session,
                           struct trunkline_bytes reason,
                           uint64_t *rows,
                           uint64_t *error);

// The next piece of data that is copied out (trunkline_result_copied reads it; the caller frees it); TRUNKLINE_NONE at the end.
int32_t trunkline_copy_read(uint64_t session,
                            uint64_t *piece,
                            uint64_t *error);

// The next notification of a channel that was listened to (trunkline_result_notification reads it; the caller frees it). Waits
// for one, at most for `milliseconds`, without end where that is negative; TRUNKLINE_NONE when none came. At most 65,536
// are kept, the latest.
int32_t trunkline_notification(uint64_t session,
                               int64_t milliseconds,
                               uint64_t *notification,
                               uint64_t *error);

// The next notice that has come (trunkline_result_field reads it; the caller frees it); TRUNKLINE_NONE when none has. At most
// 256 are kept, the latest.
int32_t trunkline_notice(uint64_t session,
                         uint64_t *notice);

// Parses SQL: any number of statements, separated by semicolons. Free the tree with trunkline_tree_free. The error of a
// text that does not parse has PostgreSQL's message, SQLSTATE and position.
int32_t trunkline_sql_parse(struct trunkline_bytes sql, uint64_t *tree, uint64_t *error);

// Frees a tree.
int32_t trunkline_tree_free(uint64_t tree);

// The tree as JSON, as pg_query has it. Free the text with trunkline_text_free.
int32_t trunkline_tree_json(uint64_t tree, uint64_t *text);

// The tree's fingerprint, 16 hexadecimal digits: that of pg_query. Free the text with trunkline_text_free.
int32_t trunkline_tree_fingerprint(uint64_t tree, uint64_t *text);

// The text with its constants replaced by parameters. Free it with trunkline_text_free.
int32_t trunkline_tree_normalize(uint64_t tree, uint64_t *text);

// SQL of the tree. Free the text with trunkline_text_free.
int32_t trunkline_tree_deparse(uint64_t tree, uint64_t *text, uint64_t *error);

// What each statement is and does, as JSON: an array of objects with kind, access, is_read_only, runs_on_standby, may_write,
// locks_rows, controls_transaction and touches. Free the text with trunkline_text_free.
int32_t trunkline_tree_classify(uint64_t tree,
                                uint64_t *text);

// A text's bytes, in UTF-8. Valid until it is freed.
int32_t trunkline_text_bytes(uint64_t text, struct trunkline_bytes *bytes);

// Frees a text.
int32_t trunkline_text_free(uint64_t text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRUNKLINE_H */

#if defined(__GNUC__) || defined(__clang__)
#define TRUNKLINE_INLINE static inline __attribute__((unused))
#else
#define TRUNKLINE_INLINE static inline
#endif

// The bytes of a string that a zero byte ends.
TRUNKLINE_INLINE trunkline_bytes trunkline_str(const char *text) {
  trunkline_bytes bytes;
  bytes.data = (const uint8_t *)text;
  bytes.length = text ? strlen(text) : 0;
  return bytes;
}

// A parameter as text; a null pointer is NULL.
TRUNKLINE_INLINE trunkline_value trunkline_text(const char *text) {
  trunkline_value value;
  value.data = (const uint8_t *)text;
  value.length = text ? (int32_t)strlen(text) : -1;
  value.format = 0;
  return value;
}

// A parameter in its type's binary form.
TRUNKLINE_INLINE trunkline_value trunkline_binary(const void *data, int32_t length) {
  trunkline_value value;
  value.data = (const uint8_t *)data;
  value.length = length;
  value.format = 1;
  return value;
}
