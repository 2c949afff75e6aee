/*
 * One parse, one arena: what takes the place of PostgreSQL's memory contexts (utils/mmgr).
 *
 * A parse tree is built once and freed as a whole, possibly on another thread than the one that built it. PostgreSQL's
 * contexts are chained to a parent of their thread and recycled in a list of their thread; an arena belongs to nobody.
 */
#ifndef TRUNKLINE_ARENA_H
#define TRUNKLINE_ARENA_H

#include "postgres.h"
#include "nodes/memnodes.h"

typedef struct ArenaBlock ArenaBlock;

struct ArenaBlock
{
	ArenaBlock *next;
	ArenaBlock *previous;		/* of large chunks only: they are freed in any order */
	Size		bytes;			/* of the whole block */
};

typedef struct Arena
{
	/* First, so that an Arena * is a MemoryContext. Only its type and mem_allocated (bytes got from malloc) are used. */
	MemoryContextData context;
	char	   *free;			/* the next chunk begins here */
	char	   *end;			/* and the current block ends here */
	ArenaBlock *blocks;			/* newest first; one holds this struct itself */
	ArenaBlock *oldest;			/* the last of them */
	ArenaBlock	large;			/* chunks with a block of their own: a ring, of which this is the beginning */
	Size		bytes_max;		/* what mem_allocated may reach; then "out of memory" */
} Arena;

/* NULL if malloc has nothing. first_bytes: what the first block should hold beside the Arena itself. */
extern Arena *arena_new(Size first_bytes, Size bytes_max);
extern void arena_free(Arena *arena);

#endif
