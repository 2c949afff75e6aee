// One statement with many sets of parameters, pipelined: batch postgres://app:secret@localhost/app
#include <arpa/inet.h>
#include <stdio.h>
#include <trunkline.h>

enum { ITEMS = 10000 };
static uint32_t numbers[ITEMS];
static trunkline_value parameters[ITEMS];
static int64_t squares[ITEMS];

int main(int argc, char **argv) {
  uint64_t session, template, result, error = 0, items = 0;
  int status = trunkline_connect(trunkline_str(argc > 1 ? argv[1] : ""), &session, &error);
  if (status == TRUNKLINE_OK)
    status = trunkline_prepare(session, trunkline_str("square"), trunkline_str("select $1::int4 * $1"), NULL, 0, NULL, &error);
  if (status == TRUNKLINE_OK)
    status = trunkline_template_new(trunkline_str("square"), NULL, 1, 1, &template);
  for (uint32_t n = 0; n < ITEMS; n++) {
    numbers[n] = htonl(n);
    parameters[n] = trunkline_binary(&numbers[n], 4);
  }
  if (status == TRUNKLINE_OK)
    status = trunkline_batch(session, template, parameters, 1, ITEMS, 0, &result, NULL, &error);
  // A column of all rows with one call.
  if (status == TRUNKLINE_OK)
    status = trunkline_result_i64s(result, 0, 0, ITEMS, squares, NULL);
  if (status != TRUNKLINE_OK) {
    fprintf(stderr, "%s\n", trunkline_status_text(status));
    trunkline_result_free(error);
    return 1;
  }
  int64_t sum = 0;
  for (uint32_t n = 0; n < ITEMS; n++)
    sum += squares[n];
  trunkline_result_items(result, &items);
  printf("%d items, sum %lld\n", (int)items, (long long)sum);
  trunkline_result_free(result);
  trunkline_template_free(template);
  trunkline_session_free(session);
  return 0;
}
// prints: 10000 items, sum 333283335000
