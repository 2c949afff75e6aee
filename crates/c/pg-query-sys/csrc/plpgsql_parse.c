/*
 * libpg_query's PL/pgSQL entry, with what it would get from malloc in the arena: an error that leaves it in the middle
 * leaks nothing.
 */
#include "postgres.h"

#include <stdlib.h>
#include <string.h>

#include "lib/stringinfo.h"

static inline void
keep(void *pointer)
{
}

#define malloc palloc
#define strdup pstrdup
#define free keep

/*
 * Else it would send the process's standard error, which is all threads', to a pipe, and take what it reads there for an
 * error.
 */
#define DEBUG

/* Its last function copies all that it has with each function of the text. */
#undef pg_query_parse_plpgsql
#define pg_query_parse_plpgsql trunkline_replaced_parse_plpgsql

#include "src/pg_query_parse_plpgsql.c"

#define STATEMENTS_USUAL 100

PgQueryPlpgsqlParseResult
trunkline_pg_query_parse_plpgsql(const char *input)
{
	PgQueryPlpgsqlParseResult result = {0};
	PgQueryInternalParsetreeAndError parsed = pg_query_raw_parse(input, PG_QUERY_PARSE_DEFAULT);
	plStmts		statements = {palloc(STATEMENTS_USUAL * sizeof(Node *)), STATEMENTS_USUAL, 0};
	StringInfoData json;

	result.error = parsed.error;
	if (result.error != NULL)
		return result;
	stmts_walker((Node *) parsed.tree, &statements);
	initStringInfo(&json);
	for (int index = 0; index < statements.stmts_count; index++)
	{
		PgQueryInternalPlpgsqlFuncAndError made = pg_query_raw_parse_plpgsql(statements.stmts[index]);

		result.error = made.error;
		if (result.error != NULL)
			return result;
		if (made.func != NULL)
		{
			appendStringInfoString(&json, json.len == 0 ? "[\n" : ",\n");
			appendStringInfoString(&json, plpgsqlToJSON(made.func));
			plpgsql_free_function_memory(made.func);
		}
	}
	appendStringInfoString(&json, json.len == 0 ? "[]" : "\n]");
	result.plpgsql_funcs = json.data;
	return result;
}
