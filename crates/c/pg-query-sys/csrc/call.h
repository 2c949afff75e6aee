/*
 * The way in: each call makes an arena, runs PostgreSQL's code under PG_TRY and hands out what it built, or the error.
 * No longjmp crosses a frame of the caller. The Rust side of these declarations is src/lib.rs.
 */
#ifndef TRUNKLINE_CALL_H
#define TRUNKLINE_CALL_H

#include "arena.h"
#include "nodes/pg_list.h"

/* An error of PostgreSQL's code. Strings lie in the arena or are constants; those that are not there are NULL. */
typedef struct TrunklineError
{
	const char *message;
	const char *detail;
	const char *hint;
	const char *context;
	const char *function;		/* where in PostgreSQL's code */
	const char *file;
	int			line;
	int			sqlstate;		/* as MAKE_SQLSTATE packs it: six bits a character, the first lowest */
	int			position;		/* in characters, from 1; 0 when unknown */
} TrunklineError;

typedef struct TrunklineToken
{
	int			start;			/* in bytes */
	int			end;
	int			token;			/* of enum yytokentype, or the character itself */
} TrunklineToken;

/* Options of the text, a bit each. */
#define TRUNKLINE_STRINGS_ESCAPE	1	/* standard_conforming_strings = off */
#define TRUNKLINE_BACKSLASH_QUOTE_OFF	2

/* What a call made: the arena that all of it lies in, and either an error or the result. */
typedef struct TrunklineResult
{
	Arena	   *arena;
	bool		failed;
	TrunklineError error;
	List	   *statements;		/* trunkline_parse */
	TrunklineToken *tokens;		/* trunkline_scan */
	size_t		token_count;
	const char *json;			/* trunkline_plpgsql */
} TrunklineResult;

typedef void (*TrunklineWork) (TrunklineResult *result, const void *arguments);

/* Runs work(result, arguments) under PG_TRY in a new arena. */
extern void trunkline_call(TrunklineResult *result, Size first_bytes, Size bytes_max, TrunklineWork work,
						   const void *arguments);

#endif
