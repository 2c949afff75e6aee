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
