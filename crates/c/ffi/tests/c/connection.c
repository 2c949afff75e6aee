// Layer (b), against a real server: connection.c SETTINGS [SETTINGS OF A SERVER THAT NOBODY RUNS].
#include "check.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>

static void put_int4(uint8_t *to, int32_t value) {
  for (int byte = 0; byte < 4; byte++)
    to[byte] = (uint8_t)((uint32_t)value >> (24 - 8 * byte));
}

static uint64_t connect_to(const char *settings) {
  uint64_t session = 0, error = 0;
  int status = trunkline_connect(trunkline_str(settings), &session, &error);
  if (status != TRUNKLINE_OK) {
    trunkline_bytes text = {0};
    trunkline_result_field(error, 'M', &text);
    fprintf(stderr, "no connection: %.*s\n", (int)text.length, (const char *)text.data);
    exit(1);
  }
  CHECK_IS(0, error);
  return session;
}

static void is_error(int status, uint64_t error, int expected, const char *sqlstate) {
  trunkline_bytes text = {0};
  CHECK_IS(expected, status);
  CHECK(error != 0);
  if (sqlstate) {
    CHECK_IS(TRUNKLINE_OK, trunkline_result_field(error, 'C', &text));
    CHECK(same(text, sqlstate));
  }
  CHECK_IS(TRUNKLINE_OK, trunkline_result_field(error, 'M', &text));
  CHECK(text.length > 5);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_free(error));
}

static void queries(uint64_t session) {
  uint64_t result = 0, error = 0, rows = 0;
  trunkline_value parameters[] = {trunkline_text("41"), trunkline_text("é"), trunkline_text(NULL)};
  const char *sql = "select $1::int4 + 1 as answer, $2::text as word, $3::float8 as nothing, true as yes, 1.5::float8";
  for (int format = 0; format < 2; format++) {
    CHECK_IS(TRUNKLINE_OK, trunkline_query(session, trunkline_str(sql), parameters, 3, format, &result, &error));
    CHECK_IS(TRUNKLINE_OK, trunkline_result_rows(result, &rows));
    CHECK_IS(1, rows);
    int32_t answer = 0;
    uint8_t yes = 0;
    double nothing = 2.5, half = 0;
    trunkline_bytes word;
    CHECK_IS(TRUNKLINE_OK, trunkline_result_i32(result, 0, 0, &answer));
    CHECK_IS(42, answer);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_bytes(result, 0, 1, &word));
    CHECK(same(word, "é"));
    CHECK_IS(TRUNKLINE_NULL, trunkline_result_f64(result, 0, 2, &nothing));
    CHECK(nothing == 2.5);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_bool(result, 0, 3, &yes));
    CHECK_IS(1, yes);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_f64(result, 0, 4, &half));
    CHECK(half == 1.5);
    CHECK_IS(TRUNKLINE_TYPE, trunkline_result_i32(result, 0, 1, &answer));
    uint32_t index = 9;
    CHECK_IS(TRUNKLINE_OK, trunkline_result_column_index(result, trunkline_str("word"), &index));
    CHECK_IS(1, index);
    CHECK_IS(TRUNKLINE_NO_SUCH, trunkline_result_column_index(result, trunkline_str("nobody"), &index));
    trunkline_column column;
    CHECK_IS(TRUNKLINE_OK, trunkline_result_column(result, 0, &column));
    CHECK(same(column.name, "answer") && column.type_oid == 23 && column.format == format);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_free(result));
  }
  int status = trunkline_query(session, trunkline_str("select 1/0"), NULL, 0, 1, &result, &error);
  is_error(status, error, TRUNKLINE_SERVER, "22012");
  status = trunkline_run(session, trunkline_str("selekt"), &error);
  is_error(status, error, TRUNKLINE_SERVER, "42601");
  // A COPY where none can be served is refused, and the connection goes on.
  status = trunkline_run(session, trunkline_str("copy numbers from stdin"), &error);
  is_error(status, error, TRUNKLINE_SERVER, "57014");
  // A parameter that does not fit leaves the connection as it was.
  trunkline_value zero = {(const uint8_t *)"a\0b", 3, 0};
  status = trunkline_query(session, (trunkline_bytes){zero.data, 3}, NULL, 0, 0, &result, &error);
  is_error(status, error, TRUNKLINE_UNENCODABLE, NULL);
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("select 1; select 2"), NULL));
  trunkline_bytes version;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_parameter(session, trunkline_str("server_version"), &version));
  CHECK(version.length >= 2);
}

enum { ITEMS = 20000 };

static void batches(uint64_t session) {
  uint64_t described = 0, error = 0, template = 0, result = 0, number = 0, item = 0;
  uint32_t count = 0, type = 0;
  const char *sql = "select n, n::text || repeat('x', 50) from generate_series(1, $1) n";
  CHECK_IS(TRUNKLINE_OK, trunkline_prepare(session, trunkline_str("s"), trunkline_str(sql), NULL, 0, &described, &error));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_parameters(described, &count));
  CHECK_IS(1, count);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_parameter_type(described, 0, &type));
  CHECK_IS(23, type);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_columns(described, &count));
  CHECK_IS(2, count);
  trunkline_result_free(described);
  CHECK_IS(TRUNKLINE_OK, trunkline_template_new(trunkline_str("s"), NULL, 1, 1, &template));
  uint8_t(*numbers)[4] = malloc(ITEMS * sizeof *numbers);
  trunkline_value *values = malloc(ITEMS * sizeof *values);
  int64_t expected = 0, rows = 0;
  for (int32_t n = 0; n < ITEMS; n++) {
    put_int4(numbers[n], n % 10 + 1);
    values[n] = trunkline_binary(numbers[n], 4);
    rows += n % 10 + 1;
    expected += (n % 10 + 1) * (n % 10 + 2) / 2;
  }
  // More than any socket holds, in both directions, with one Sync and with many.
  for (size_t each = 0; each <= 700; each += 700) {
    int status = trunkline_batch(session, template, values, 1, ITEMS, each, &result, NULL, &error);
    CHECK_IS(TRUNKLINE_OK, status);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_items(result, &number));
    CHECK_IS(ITEMS, number);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_rows(result, &number));
    CHECK_IS(rows, number);
    int64_t *column = malloc((size_t)rows * sizeof *column), sum = 0;
    CHECK_IS(TRUNKLINE_OK, trunkline_result_i64s(result, 0, 0, (uint64_t)rows, column, NULL));
    for (int64_t row = 0; row < rows; row++)
      sum += column[row];
    CHECK_IS(expected, sum);
    free(column);
    uint64_t first = 0;
    CHECK_IS(TRUNKLINE_OK, trunkline_result_item_rows(result, ITEMS - 1, &first, &number));
    CHECK_IS(rows - 10, first);
    CHECK_IS(10, number);
    CHECK_IS(TRUNKLINE_OK, trunkline_result_recycle(result, session));
  }
  // Which item failed is told, and its neighbours in other turns stay.
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("create temp table once (n int4 primary key)"), NULL));
  uint64_t insert = 0;
  CHECK_IS(TRUNKLINE_OK,
           trunkline_prepare(session, trunkline_str("i"), trunkline_str("insert into once values ($1)"), NULL, 0, NULL, NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_template_new(trunkline_str("i"), NULL, 1, 1, &insert));
  for (int32_t n = 0; n < 30; n++)
    put_int4(numbers[n], n == 17 ? 3 : n);
  int status = trunkline_batch(session, insert, values, 1, 30, 5, &result, &item, &error);
  is_error(status, error, TRUNKLINE_SERVER, "23505");
  CHECK_IS(17, item);
  CHECK_IS(TRUNKLINE_OK, trunkline_query(session, trunkline_str("select count(*) from once"), NULL, 0, 1, &result, NULL));
  int64_t left = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_result_i64(result, 0, 0, &left));
  CHECK_IS(25, left); // all turns but the failed one
  trunkline_result_free(result);
  CHECK_IS(TRUNKLINE_OK, trunkline_execute(session, template, values, 1, &result, NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_rows(result, &number));
  CHECK_IS(0, number); // 0 rows for parameter 0
  trunkline_result_free(result);
  trunkline_template_free(insert);
  trunkline_template_free(template);
  free(values);
  free(numbers);
}

static void copies(uint64_t session) {
  uint64_t rows = 0, error = 0, piece = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("create temp table numbers (n int4, t text)"), NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_in(session, trunkline_str("copy numbers from stdin"), &error));
  char line[64];
  for (int n = 0; n < 50000; n++) {
    snprintf(line, sizeof line, "%d\tnumber %d\n", n, n);
    CHECK_IS(TRUNKLINE_OK, trunkline_copy_write(session, trunkline_str(line), &error));
  }
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_end(session, trunkline_str(""), &rows, &error));
  CHECK_IS(50000, rows);
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_out(session, trunkline_str("copy numbers to stdout"), &error));
  size_t lines = 0;
  while (trunkline_copy_read(session, &piece, &error) == TRUNKLINE_OK) {
    trunkline_bytes data;
    CHECK_IS(TRUNKLINE_OK, trunkline_result_copied(piece, &data));
    for (size_t at = 0; at < data.length; at++)
      lines += data.data[at] == '\n';
    trunkline_result_recycle(piece, session);
  }
  CHECK_IS(50000, lines);
  // Given up: nothing is copied, and the connection goes on.
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_in(session, trunkline_str("copy numbers from stdin"), NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_write(session, trunkline_str("1\tone\n"), NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_end(session, trunkline_str("no longer wanted"), &rows, NULL));
  CHECK_IS(0, rows);
  // Refused by the server.
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_in(session, trunkline_str("copy numbers from stdin"), NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_copy_write(session, trunkline_str("one\n"), NULL));
  int status = trunkline_copy_end(session, trunkline_str(""), NULL, &error);
  is_error(status, error, TRUNKLINE_SERVER, "22P02");
  status = trunkline_copy_in(session, trunkline_str("select 1"), &error);
  is_error(status, error, TRUNKLINE_MISUSE, NULL);
  status = trunkline_copy_out(session, trunkline_str("copy numbers from stdin"), &error);
  is_error(status, error, TRUNKLINE_SERVER, "57014");
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("select 1"), NULL));
}

static void notified(uint64_t session, const char *expected) {
  uint64_t found = 0;
  int32_t process = 0;
  trunkline_bytes channel = {0}, payload = {0};
  CHECK_IS(TRUNKLINE_OK, trunkline_notification(session, 60000, &found, NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_notification(found, &process, &channel, &payload));
  CHECK(same(channel, "c") && same(payload, expected) && process > 0);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_free(found));
}

static void unasked(uint64_t session, const char *settings) {
  uint64_t found = 0;
  trunkline_bytes payload;
  CHECK_IS(TRUNKLINE_NONE, trunkline_notification(session, 0, &found, NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("listen c; notify c, 'hello'; do $$begin raise notice 'seen'; end$$"), NULL));
  notified(session, "hello");
  CHECK_IS(TRUNKLINE_OK, trunkline_notice(session, &found));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_field(found, 'M', &payload));
  CHECK(same(payload, "seen"));
  trunkline_result_free(found);
  CHECK_IS(TRUNKLINE_NONE, trunkline_notice(session, &found));
  // Several that come at once: queries go on between them.
  uint64_t other = connect_to(settings);
  CHECK_IS(TRUNKLINE_OK, trunkline_run(other, trunkline_str("notify c, '1'; notify c, '2'; notify c, '3'"), NULL));
  notified(session, "1");
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("select 1"), NULL));
  notified(session, "2");
  CHECK_IS(TRUNKLINE_OK, trunkline_run(other, trunkline_str("notify c, '4'"), NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("select 1; select 2"), NULL));
  notified(session, "3");
  notified(session, "4");
  CHECK_IS(TRUNKLINE_OK, trunkline_session_free(other));
}

// Without waiting but in poll: layer (a)'s functions on a connection.
static void by_events(uint64_t session) {
  int fd = -1, want = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_fd(session, &fd));
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_query(session, trunkline_str("select 5; select 'a', 'b'; select pg_sleep(0.01)")));
  int results = 0, ready = 0;
  while (!ready) {
    trunkline_event event;
    CHECK_IS(TRUNKLINE_OK, trunkline_connection_advance(session, &want, NULL));
    while (trunkline_session_next(session, &event) == TRUNKLINE_OK) {
      results += event.kind == TRUNKLINE_EVENT_RESULT;
      ready += event.kind == TRUNKLINE_EVENT_READY;
      if (event.result)
        CHECK_IS(TRUNKLINE_OK, trunkline_result_free(event.result));
    }
    if (!ready) {
      struct pollfd waits = {fd, (short)(POLLIN | (want & TRUNKLINE_WANT_WRITE ? POLLOUT : 0)), 0};
      CHECK(poll(&waits, 1, 60000) == 1);
    }
  }
  CHECK_IS(3, results);
}

static void *cancel_it(void *argument) {
  uint64_t cancel = *(uint64_t *)argument;
  return (void *)(intptr_t)trunkline_cancel(cancel, NULL);
}

static void cancels(uint64_t session) {
  uint64_t cancel = 0, error = 0;
  trunkline_event event = {0};
  pthread_t thread;
  void *status = NULL;
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_cancel(session, &cancel));
  // The first result shows that the server is at it.
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_query(session, trunkline_str("select 1")));
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_query(session, trunkline_str("select pg_sleep(600)")));
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_wait(session, 60000, &event, NULL));
  CHECK_IS(TRUNKLINE_EVENT_RESULT, event.kind);
  trunkline_result_free(event.result);
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_wait(session, 60000, &event, NULL));
  CHECK_IS(TRUNKLINE_EVENT_READY, event.kind);
  // A request that comes before the query runs finds nothing to cancel: it is sent until one has hit.
  for (;;) {
    CHECK_IS(0, pthread_create(&thread, NULL, cancel_it, &cancel));
    CHECK_IS(0, pthread_join(thread, &status));
    CHECK_IS(TRUNKLINE_OK, (intptr_t)status);
    int waited = trunkline_connection_wait(session, 200, &event, &error);
    if (waited != TRUNKLINE_TIMEOUT)
      break;
    trunkline_result_free(error);
  }
  is_error(TRUNKLINE_SERVER, event.result, TRUNKLINE_SERVER, "57014");
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_wait(session, 60000, &event, NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_cancel_free(cancel));
  CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_cancel(cancel, NULL));
  // A limit on time does the same.
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_timeout(session, 300));
  int ended = trunkline_run(session, trunkline_str("select pg_sleep(600)"), &error);
  is_error(ended, error, TRUNKLINE_SERVER, "57014");
  CHECK_IS(TRUNKLINE_OK, trunkline_connection_timeout(session, -1));
  CHECK_IS(TRUNKLINE_OK, trunkline_run(session, trunkline_str("select 1"), NULL));
}

static void *query_it(void *argument) {
  uint64_t session = *(uint64_t *)argument;
  return (void *)(intptr_t)trunkline_run(session, trunkline_str("select pg_sleep(600)"), NULL);
}

// Handles go from thread to thread; two calls at once are refused. Ends the connection.
static void threads(uint64_t session, const char *settings) {
  uint64_t other = connect_to(settings), error = 0;
  trunkline_bytes parameter;
  pthread_t thread;
  void *status = NULL;
  trunkline_value pid = {0};
  uint64_t result = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_query(session, trunkline_str("select pg_backend_pid()::text"), NULL, 0, 0, &result, NULL));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_value(result, 0, 0, &pid));
  CHECK_IS(0, pthread_create(&thread, NULL, query_it, &session));
  while (trunkline_session_parameter(session, trunkline_str("server_version"), &parameter) != TRUNKLINE_BUSY)
    sched_yield();
  CHECK_IS(TRUNKLINE_BUSY, trunkline_session_free(session));
  uint64_t killed = 0;
  uint8_t was_running = 0;
  // The server ends it under way, once it runs: the connection says so, and what became of the query.
  const char *kill = "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1::int4 and query like '%sleep(600)'";
  for (uint64_t rows = 0; rows == 0; trunkline_result_free(killed)) {
    CHECK_IS(TRUNKLINE_OK, trunkline_query(other, trunkline_str(kill), &pid, 1, 0, &killed, NULL));
    trunkline_result_rows(killed, &rows);
    if (rows)
      trunkline_result_bool(killed, 0, 0, &was_running);
  }
  CHECK_IS(1, was_running);
  CHECK_IS(0, pthread_join(thread, &status));
  CHECK_IS(TRUNKLINE_SERVER, (intptr_t)status);
  int ended = trunkline_run(session, trunkline_str("select 1"), &error);
  is_error(ended, error, TRUNKLINE_CLOSED, NULL);
  trunkline_result_free(result);
  CHECK_IS(TRUNKLINE_OK, trunkline_session_free(session));
  CHECK_IS(TRUNKLINE_OK, trunkline_session_free(other));
}

static void refusals(const char *settings) {
  uint64_t session = 0, error = 0;
  char wrong[1024];
  snprintf(wrong, sizeof wrong, "%s&password=wrong", settings);
  int status = trunkline_connect(trunkline_str(wrong), &session, &error);
  is_error(status, error, TRUNKLINE_CONNECT, "28P01");
  status = trunkline_connect(trunkline_str("host=127.0.0.1 port=1 user=nobody"), &session, &error);
  CHECK(status == TRUNKLINE_CONNECT || status == TRUNKLINE_IO);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_free(error));
  status = trunkline_connect(trunkline_str("nonsense"), &session, &error);
  is_error(status, error, TRUNKLINE_CONNECT, NULL);
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_connect((trunkline_bytes){(const uint8_t *)"\xff", 1}, &session, NULL));
  // A session without a connection has none to wait at.
  CHECK_IS(TRUNKLINE_OK, trunkline_session_new(&session));
  CHECK_IS(TRUNKLINE_MISUSE, trunkline_run(session, trunkline_str("select 1"), NULL));
  trunkline_session_free(session);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  uint64_t session = connect_to(argv[1]);
  copies(session);
  queries(session);
  batches(session);
  unasked(session, argv[1]);
  by_events(session);
  cancels(session);
  threads(session, argv[1]);
  refusals(argv[1]);
  return checked();
}
