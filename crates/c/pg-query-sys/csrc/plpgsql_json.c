/*
 * libpg_query's JSON of PL/pgSQL. The variables that a trigger gives values to when they are asked for (TG_NAME and its
 * like) are written as the variables they are: libpg_query writes `{}}` for them, which is no JSON.
 */
#include "postgres.h"

#include "plpgsql.h"

/* As a label of switch; both have a PLpgSQL_var. */
#define PLPGSQL_DTYPE_VAR PLPGSQL_DTYPE_VAR: case PLPGSQL_DTYPE_PROMISE

#include "src/pg_query_json_plpgsql.c"
