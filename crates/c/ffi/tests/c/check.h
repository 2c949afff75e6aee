// Checks that count. A test program ends with `return checked();`.
#ifndef CHECK_H
#define CHECK_H

#include "trunkline.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int checks, failures;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    checks++;                                                                                                          \
    if (!(condition)) {                                                                                                \
      failures++;                                                                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
    }                                                                                                                  \
  } while (0)

#define CHECK_IS(expected, found)                                                                                      \
  do {                                                                                                                 \
    int64_t is_expected = (int64_t)(expected), is_found = (int64_t)(found);                                            \
    checks++;                                                                                                          \
    if (is_expected != is_found) {                                                                                     \
      failures++;                                                                                                      \
      fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", __FILE__, __LINE__, #found, is_found,             \
              is_expected);                                                                                            \
    }                                                                                                                  \
  } while (0)

static inline int same(trunkline_bytes bytes, const char *text) {
  return bytes.length == strlen(text) && (bytes.length == 0 || memcmp(bytes.data, text, bytes.length) == 0);
}

static inline int checked(void) {
  printf("%d passed, %d failed\n", checks - failures, failures);
  return failures != 0;
}

#endif
