// Layer (a) alone: no server, no socket. What a server would answer is written out.
#include "check.h"

// A message of the server: its type, and its body.
static size_t message(uint8_t *to, char type, const void *body, uint32_t length) {
  uint32_t whole = length + 4;
  to[0] = (uint8_t)type;
  for (int byte = 0; byte < 4; byte++)
    to[1 + byte] = (uint8_t)(whole >> (24 - 8 * byte));
  memcpy(to + 5, body, length);
  return 5 + length;
}

static size_t row_of_int4(uint8_t *to, int32_t value) {
  uint8_t body[10] = {0, 1, 0, 0, 0, 4};
  for (int byte = 0; byte < 4; byte++)
    body[6 + byte] = (uint8_t)((uint32_t)value >> (24 - 8 * byte));
  return message(to, 'D', body, sizeof body);
}

// The answers to three items, the second of which has two rows and the third none, and to the Sync.
static size_t answers(uint8_t *to) {
  size_t n = 0;
  n += message(to + n, '2', "", 0);
  n += row_of_int4(to + n, 7);
  n += message(to + n, 'C', "SELECT 1", 9);
  n += message(to + n, '2', "", 0);
  n += row_of_int4(to + n, -8);
  n += row_of_int4(to + n, 9);
  n += message(to + n, 'C', "SELECT 2", 9);
  n += message(to + n, '2', "", 0);
  n += message(to + n, 'C', "SELECT 0", 9);
  n += message(to + n, 'Z', "I", 1);
  return n;
}

static uint64_t encode_batch(uint64_t template) {
  uint64_t session = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_new(&session));
  uint8_t one[4] = {0, 0, 0, 1};
  trunkline_value values[3] = {trunkline_binary(one, 4), trunkline_binary(one, 4), trunkline_text(NULL)};
  size_t encoded = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_items(session, template, values, 1, 3, &encoded));
  CHECK_IS(3, encoded);
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_sync(session));
  trunkline_bytes unsent;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_unsent(session, &unsent));
  CHECK(unsent.length > 60 && unsent.data[0] == 'B' && unsent.data[unsent.length - 5] == 'S');
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_session_sent(session, unsent.length + 1));
  CHECK_IS(TRUNKLINE_OK, trunkline_session_sent(session, unsent.length));
  return session;
}

static void check_batch(uint64_t session) {
  trunkline_event event;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_next(session, &event));
  CHECK_IS(TRUNKLINE_EVENT_RESULT, event.kind);
  CHECK_IS(0, event.flags);
  uint64_t number = 0, first = 0;
  uint32_t columns = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_result_rows(event.result, &number));
  CHECK_IS(3, number);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_columns(event.result, &columns));
  CHECK_IS(1, columns);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_items(event.result, &number));
  CHECK_IS(3, number);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_item_rows(event.result, 1, &first, &number));
  CHECK_IS(1, first);
  CHECK_IS(2, number);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_affected(event.result, 1, &number));
  CHECK_IS(2, number);
  trunkline_bytes tag;
  CHECK_IS(TRUNKLINE_OK, trunkline_result_tag(event.result, 2, &tag));
  CHECK(same(tag, "SELECT 0"));
  CHECK_IS(TRUNKLINE_NO_SUCH, trunkline_result_tag(event.result, 3, &tag));
  int32_t value = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_result_i32(event.result, 1, 0, &value));
  CHECK_IS(-8, value);
  CHECK_IS(TRUNKLINE_NO_SUCH, trunkline_result_i32(event.result, 3, 0, &value));
  CHECK_IS(TRUNKLINE_NO_SUCH, trunkline_result_i32(event.result, 0, 1, &value));
  int64_t all[3];
  CHECK_IS(TRUNKLINE_OK, trunkline_result_i64s(event.result, 0, 0, 3, all, NULL));
  CHECK(all[0] == 7 && all[1] == -8 && all[2] == 9);
  CHECK_IS(TRUNKLINE_NO_SUCH, trunkline_result_i64s(event.result, 0, 1, 3, all, NULL));
  trunkline_value cells[2];
  CHECK_IS(TRUNKLINE_OK, trunkline_result_values(event.result, 1, 2, 1, cells));
  CHECK(cells[1].length == 4 && cells[1].data[3] == 9 && cells[1].format == 1);
  CHECK_IS(TRUNKLINE_OK, trunkline_result_recycle(event.result, session));
  CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_result_rows(event.result, &number));
  CHECK_IS(TRUNKLINE_OK, trunkline_session_next(session, &event));
  CHECK_IS(TRUNKLINE_EVENT_READY, event.kind);
  CHECK_IS(TRUNKLINE_NONE, trunkline_session_next(session, &event));
  uint8_t idle = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_is_idle(session, &idle));
  CHECK_IS(1, idle);
}

// However the bytes are cut, the result is the same.
static void cuts(void) {
  uint64_t template = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_template_new(trunkline_str("s"), NULL, 1, 1, &template));
  uint8_t bytes[256];
  size_t length = answers(bytes);
  for (size_t cut = 0; cut <= length; cut++) {
    uint64_t session = encode_batch(template);
    CHECK_IS(TRUNKLINE_OK, trunkline_session_feed(session, (trunkline_bytes){bytes, cut}));
    CHECK_IS(TRUNKLINE_OK, trunkline_session_feed(session, (trunkline_bytes){bytes + cut, length - cut}));
    check_batch(session);
    CHECK_IS(TRUNKLINE_OK, trunkline_session_free(session));
  }
  uint64_t session = encode_batch(template);
  for (size_t at = 0; at < length; at++)
    CHECK_IS(TRUNKLINE_OK, trunkline_session_feed(session, (trunkline_bytes){bytes + at, 1}));
  check_batch(session);
  CHECK_IS(TRUNKLINE_OK, trunkline_session_free(session));
  CHECK_IS(TRUNKLINE_OK, trunkline_template_free(template));
}

static void failed_item(void) {
  uint64_t template = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_template_new(trunkline_str("s"), NULL, 1, 1, &template));
  uint64_t session = encode_batch(template);
  uint8_t bytes[256];
  size_t n = 0;
  n += message(bytes + n, '2', "", 0);
  n += message(bytes + n, 'C', "INSERT 0 1", 11);
  n += message(bytes + n, 'E', "SERROR\0VERROR\0C23505\0Mtwice\0", 29);
  n += message(bytes + n, 'Z', "I", 1);
  CHECK_IS(TRUNKLINE_OK, trunkline_session_feed(session, (trunkline_bytes){bytes, n}));
  trunkline_event event;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_next(session, &event));
  CHECK_IS(TRUNKLINE_EVENT_ERROR, event.kind);
  CHECK_IS(1, event.number);
  trunkline_bytes text;
  CHECK_IS(TRUNKLINE_OK, trunkline_result_field(event.result, 'C', &text));
  CHECK(same(text, "23505"));
  CHECK_IS(TRUNKLINE_NONE, trunkline_result_field(event.result, 'H', &text));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_free(event.result));
  CHECK_IS(TRUNKLINE_OK, trunkline_session_next(session, &event));
  CHECK_IS(TRUNKLINE_EVENT_READY, event.kind);
  trunkline_session_free(session);
  trunkline_template_free(template);
}

static void bad_servers(void) {
  const struct {
    const char *bytes;
    size_t length;
  } bad[] = {
      {"Z\0\0\0\5I", 6},         // nothing was asked
      {"1\0\0\0\3", 5},          // shorter than its own length
      {"D\xff\xff\xff\xff", 5},  // 4 GiB
      {"HTTP/1.1 400 Bad", 16}, // no PostgreSQL server
  };
  for (size_t which = 0; which < sizeof bad / sizeof *bad; which++) {
    uint64_t session = 0;
    CHECK_IS(TRUNKLINE_OK, trunkline_session_new(&session));
    trunkline_bytes bytes = {(const uint8_t *)bad[which].bytes, bad[which].length}, text;
    CHECK_IS(TRUNKLINE_PROTOCOL, trunkline_session_feed(session, bytes));
    CHECK_IS(TRUNKLINE_OK, trunkline_session_message(session, &text));
    CHECK(text.length > 20);
    CHECK_IS(TRUNKLINE_CLOSED, trunkline_encode_sync(session));
    trunkline_session_free(session);
  }
  // A row whose lengths do not add up is an error where it is touched.
  uint64_t session = 0;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_new(&session));
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_execute(session, trunkline_str(""), 0, 1));
  CHECK_IS(TRUNKLINE_OK, trunkline_encode_sync(session));
  uint8_t bytes[64];
  size_t n = message(bytes, 'D', "\0\2\0\0\0\100abc", 9);
  n += message(bytes + n, 'C', "SELECT 1", 9);
  CHECK_IS(TRUNKLINE_OK, trunkline_session_feed(session, (trunkline_bytes){bytes, n}));
  trunkline_event event;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_next(session, &event));
  trunkline_value values[2];
  CHECK_IS(TRUNKLINE_PROTOCOL, trunkline_result_value(event.result, 0, 0, values));
  CHECK_IS(TRUNKLINE_PROTOCOL, trunkline_result_values(event.result, 0, 1, 2, values));
  trunkline_result_free(event.result);
  size_t count = 0;
  uint8_t fates[4];
  CHECK_IS(TRUNKLINE_OK, trunkline_session_end(session, fates, sizeof fates, &count));
  CHECK_IS(1, count);
  CHECK_IS(0, fates[0]); // not a byte of it was sent
  trunkline_session_free(session);
}

static void misuse(void) {
  uint64_t session = 0, template = 0;
  trunkline_event event;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_new(&session));
  uint64_t foreign[] = {0, 1, UINT64_MAX, session + 1, session ^ (UINT64_C(1) << 56), (uint64_t)(uintptr_t)&session};
  for (size_t which = 0; which < sizeof foreign / sizeof *foreign; which++) {
    CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_session_next(foreign[which], &event));
    CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_encode_sync(foreign[which]));
    CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_session_free(foreign[which]));
    CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_result_free(foreign[which]));
    CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_template_free(foreign[which]));
    CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_login_free(foreign[which]));
  }
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_session_new(NULL));
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_session_next(session, NULL));
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_session_feed(session, (trunkline_bytes){NULL, 3}));
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_encode_describe(session, 'X', trunkline_str("")));
  CHECK_IS(TRUNKLINE_UNENCODABLE, trunkline_encode_query(session, (trunkline_bytes){(const uint8_t *)"a\0b", 3}));
  trunkline_value value = {NULL, -2, 0};
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_encode_bind(session, trunkline_str(""), trunkline_str(""), &value, 1, 0));
  CHECK_IS(TRUNKLINE_OK, trunkline_template_new(trunkline_str("s"), NULL, 2, 1, &template));
  size_t encoded = 9;
  value = trunkline_text("1");
  CHECK_IS(TRUNKLINE_UNENCODABLE, trunkline_encode_items(session, template, &value, 1, 1, &encoded));
  CHECK_IS(0, encoded);
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_encode_items(session, template, &value, SIZE_MAX, 3, NULL));
  trunkline_bytes unsent;
  CHECK_IS(TRUNKLINE_OK, trunkline_session_unsent(session, &unsent));
  CHECK_IS(0, unsent.length); // what failed has written nothing
  CHECK_IS(TRUNKLINE_OK, trunkline_session_free(session));
  CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_session_free(session));
  CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_encode_sync(session));
  trunkline_template_free(template);
}

int main(void) {
  CHECK_IS(TRUNKLINE_ABI_VERSION, trunkline_abi_version());
  CHECK(strcmp(trunkline_status_text(TRUNKLINE_OK), "done") == 0);
  cuts();
  failed_item();
  bad_servers();
  misuse();
  return checked();
}
