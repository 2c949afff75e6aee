// Layer (c).
#include "check.h"

static void is_text(int status, uint64_t text, const char *expected) {
  trunkline_bytes bytes = {0};
  CHECK_IS(TRUNKLINE_OK, status);
  CHECK_IS(TRUNKLINE_OK, trunkline_text_bytes(text, &bytes));
  if (!same(bytes, expected))
    fprintf(stderr, "found: %.*s\n", (int)bytes.length, (const char *)bytes.data);
  CHECK(same(bytes, expected));
  CHECK_IS(TRUNKLINE_OK, trunkline_text_free(text));
  CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_text_bytes(text, &bytes));
}

int main(void) {
  uint64_t tree = 0, text = 0, error = 0;
  const char *sql = "SELECT  name FROM people WHERE id = 42";
  CHECK_IS(TRUNKLINE_OK, trunkline_sql_parse(trunkline_str(sql), &tree, &error));
  int status = trunkline_tree_normalize(tree, &text);
  is_text(status, text, "SELECT  name FROM people WHERE id = $1");
  status = trunkline_tree_deparse(tree, &text, &error);
  is_text(status, text, "SELECT name FROM people WHERE id = 42");
  status = trunkline_tree_fingerprint(tree, &text);
  trunkline_bytes bytes;
  CHECK_IS(TRUNKLINE_OK, trunkline_text_bytes(text, &bytes));
  CHECK_IS(16, bytes.length);
  trunkline_text_free(text);
  status = trunkline_tree_classify(tree, &text);
  is_text(status, text,
          "[{\"access\":\"read\",\"controls_transaction\":false,\"is_read_only\":true,\"kind\":\"select\",\"locks_rows\":false,"
          "\"may_write\":false,\"runs_on_standby\":true,\"touches\":[]}]");
  CHECK_IS(TRUNKLINE_OK, trunkline_tree_json(tree, &text));
  CHECK_IS(TRUNKLINE_OK, trunkline_text_bytes(text, &bytes));
  CHECK(bytes.length > 100 && bytes.data[0] == '{' && bytes.data[bytes.length - 1] == '}');
  trunkline_text_free(text);
  CHECK_IS(TRUNKLINE_OK, trunkline_tree_free(tree));
  CHECK_IS(TRUNKLINE_BAD_HANDLE, trunkline_tree_json(tree, &text));
  CHECK_IS(TRUNKLINE_SYNTAX, trunkline_sql_parse(trunkline_str("SELECT 1 FORM t"), &tree, &error));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_field(error, 'C', &bytes));
  CHECK(same(bytes, "42601"));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_field(error, 'M', &bytes));
  CHECK(same(bytes, "syntax error at or near \"t\""));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_field(error, 'P', &bytes));
  CHECK(same(bytes, "15"));
  CHECK_IS(TRUNKLINE_OK, trunkline_result_free(error));
  CHECK_IS(TRUNKLINE_BAD_ARGUMENT, trunkline_sql_parse((trunkline_bytes){(const uint8_t *)"\xff", 1}, &tree, NULL));
  return checked();
}
