/*
 * PL/pgSQL by libpg_query's own code: what that code takes from pg_query.c and pg_query_parse.c is given here, over the
 * arena of the call under way.
 */
#include "call.h"

#include "pg_query.h"
#include "pg_query_internal.h"

#include "miscadmin.h"
#include "parser/parser.h"
#include "utils/guc_hooks.h"

/* Below this much stack PostgreSQL's code would refuse everything. */
#define STACK_KB_MIN 100

MemoryContext
pg_query_enter_memory_context(void)
{
	return CurrentMemoryContext;
}

void
pg_query_exit_memory_context(MemoryContext context)
{
}

void
pg_query_free_error(PgQueryError *error)
{
}

static PgQueryError *
copy_error(void)
{
	ErrorData  *data = CopyErrorData();
	PgQueryError *error = palloc0(sizeof(PgQueryError));

	error->message = data->message;
	error->funcname = unconstify(char *, data->funcname);
	error->filename = unconstify(char *, data->filename);
	error->lineno = data->lineno;
	error->cursorpos = data->cursorpos;
	FlushErrorState();
	return error;
}

/* An error leaves the arena's memory where it is, so nothing here need be undone. */
PgQueryInternalParsetreeAndError
pg_query_raw_parse(const char *input, int parser_options)
{
	PgQueryInternalParsetreeAndError result = {0};
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		result.tree = raw_parser(input, RAW_PARSE_DEFAULT);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		result.error = copy_error();
	}
	PG_END_TRY();
	return result;
}

typedef struct PlpgsqlArguments
{
	const char *text;
	size_t		stack_kb;
} PlpgsqlArguments;

static void
plpgsql_work(TrunklineResult *result, const void *opaque)
{
	const PlpgsqlArguments *arguments = opaque;
	PgQueryPlpgsqlParseResult parsed;

	set_stack_base();
	max_stack_depth = Max(arguments->stack_kb, STACK_KB_MIN);
	assign_max_stack_depth(max_stack_depth, NULL);
	parsed = pg_query_parse_plpgsql(arguments->text);
	if (parsed.error != NULL)
	{
		result->failed = true;
		result->error.message = parsed.error->message;
		result->error.context = parsed.error->context;
		result->error.function = parsed.error->funcname;
		result->error.file = parsed.error->filename;
		result->error.line = parsed.error->lineno;
		result->error.position = parsed.error->cursorpos;
	}
	result->json = parsed.plpgsql_funcs;
}

/*
 * The PL/pgSQL functions and DO blocks of NUL-terminated text as JSON, in result->json. stack_kb: what the caller's
 * stack has left for PostgreSQL's recursive code.
 */
void
trunkline_plpgsql(TrunklineResult *result, const char *text, size_t stack_kb, size_t bytes_max)
{
	PlpgsqlArguments arguments = {text, stack_kb};

	trunkline_call(result, 16 * 1024, bytes_max, plpgsql_work, &arguments);
	restore_stack_base(NULL);
}
