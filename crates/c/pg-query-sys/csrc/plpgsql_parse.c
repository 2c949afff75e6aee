/*
 * libpg_query's PL/pgSQL entry, with what it would get from malloc in the arena: an error that leaves it in the middle
 * leaks nothing.
 */
#include "postgres.h"

#include <stdlib.h>
#include <string.h>

static inline void
keep(void *pointer)
{
}

#define malloc palloc
#define strdup pstrdup
#define free keep

#include "src/pg_query_parse_plpgsql.c"
