/* See call.h. */
#include "call.h"

#include "mb/pg_wchar.h"
#include "utils/guc.h"
#include "utils/memutils.h"

/* Names that libpg_query's sources expect their host to define. */
const char *progname = "trunkline";

static void
enter(Arena *arena)
{
	CurrentMemoryContext = &arena->context;
	TopMemoryContext = CurrentMemoryContext;
	ErrorContext = CurrentMemoryContext;
	CacheMemoryContext = CurrentMemoryContext;
}

static void
leave(void)
{
	CurrentMemoryContext = NULL;
	TopMemoryContext = NULL;
	ErrorContext = NULL;
	CacheMemoryContext = NULL;
}

/* PG_CATCH left the error on elog.c's stack, its strings in the arena. */
static void
take_error(TrunklineResult *result)
{
	ErrorData  *data = CopyErrorData();

	result->failed = true;
	result->error.message = data->message;
	result->error.detail = data->detail;
	result->error.hint = data->hint;
	result->error.context = data->context;
	result->error.function = data->funcname;
	result->error.file = data->filename;
	result->error.line = data->lineno;
	result->error.sqlstate = data->sqlerrcode;
	result->error.position = data->cursorpos;
	FlushErrorState();
}

static void
no_memory(TrunklineResult *result)
{
	result->failed = true;
	result->error.message = "out of memory";
	result->error.sqlstate = ERRCODE_OUT_OF_MEMORY;
}

void
trunkline_call(TrunklineResult *result, Size first_bytes, Size bytes_max, TrunklineWork work, const void *arguments)
{
	Arena	   *arena = arena_new(first_bytes, bytes_max);

	if (arena == NULL)
	{
		no_memory(result);
		return;
	}
	result->arena = arena;
	enter(arena);
	if (GetDatabaseEncoding() != PG_UTF8)
	{
		/* A thread's first call. Warnings (of backslashes in strings) have nobody to go to. */
		SetDatabaseEncoding(PG_UTF8);
		log_min_messages = PANIC;
	}
	PG_TRY();
	{
		work(result, arguments);
	}
	PG_CATCH();
	{
		CurrentMemoryContext = &arena->context;
		take_error(result);
	}
	PG_END_TRY();
	leave();
}

void
trunkline_free(Arena *arena)
{
	if (arena != NULL)
		arena_free(arena);
}

size_t
trunkline_arena_bytes(const Arena *arena)
{
	return arena->context.mem_allocated;
}
