// Rows by a query: lookup postgres://app:secret@localhost/app
#include <stdio.h>
#include <trunkline.h>

static int fail(int status, uint64_t error) {
  trunkline_bytes message;
  if (trunkline_result_field(error, 'M', &message) == TRUNKLINE_OK)
    fprintf(stderr, "%.*s\n", (int)message.length, (const char *)message.data);
  else
    fprintf(stderr, "%s\n", trunkline_status_text(status));
  trunkline_result_free(error);
  return 1;
}

int main(int argc, char **argv) {
  uint64_t session, result, error;
  int status = trunkline_connect(trunkline_str(argc > 1 ? argv[1] : ""), &session, &error);
  if (status != TRUNKLINE_OK)
    return fail(status, error);

  trunkline_value limit = trunkline_text("3");
  status = trunkline_query(session, trunkline_str("select n as id, 'harbor ' || n as name from generate_series(1, $1::int4) n"),
                           &limit, 1, 1, &result, &error);
  if (status != TRUNKLINE_OK)
    return fail(status, error);
  uint64_t rows;
  trunkline_result_rows(result, &rows);
  for (uint64_t row = 0; row < rows; row++) {
    int32_t id;
    trunkline_bytes name;
    if (trunkline_result_i32(result, row, 0, &id) == TRUNKLINE_OK && trunkline_result_bytes(result, row, 1, &name) == TRUNKLINE_OK)
      printf("%d %.*s\n", id, (int)name.length, (const char *)name.data);
  }
  trunkline_result_free(result);

  // An error has the server's SQLSTATE, and the connection goes on.
  status = trunkline_run(session, trunkline_str("select 1/0"), &error);
  trunkline_bytes code;
  if (status == TRUNKLINE_SERVER && trunkline_result_field(error, 'C', &code) == TRUNKLINE_OK)
    printf("%.*s\n", (int)code.length, (const char *)code.data);
  trunkline_result_free(error);
  trunkline_session_free(session);
  return 0;
}
// prints: 1 harbor 1
// prints: 2 harbor 2
// prints: 3 harbor 3
// prints: 22012
