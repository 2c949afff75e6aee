/*
 * palloc and its kin over an Arena. The functions' names and contracts are those of utils/palloc.h and utils/memutils.h.
 *
 * A chunk is its size (8 bytes), then its bytes. pfree gives back the newest chunk and chunks of a block of their own;
 * what else is freed stays until the arena goes. A context that PostgreSQL's code makes inside a call is the call's
 * arena again, so deleting it does nothing.
 */
#include "arena.h"

#include "utils/memutils.h"

#define CHUNK_HEADER sizeof(uint64)
/* Marks, in a chunk's size, a chunk with a block of its own. */
#define LARGE_BIT (UINT64CONST(1) << 63)
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define EACH_CHUNK_ALONE
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define EACH_CHUNK_ALONE
#endif
#ifdef EACH_CHUNK_ALONE
/* Each chunk is one of malloc's, to the byte: AddressSanitizer sees what reads past its end, or after it was freed. */
#define LARGE_CHUNK_MIN 0
#define CHUNK_BYTES(size) (CHUNK_HEADER + (size))
#else
/* A chunk from here on gets a block of its own: it can grow in place and be freed at once. */
#define LARGE_CHUNK_MIN (32 * 1024)
#define CHUNK_BYTES(size) (CHUNK_HEADER + MAXALIGN(size))
#endif
#define BLOCK_BYTES_MAX (256 * 1024)

#define BLOCK_HEADER MAXALIGN(sizeof(ArenaBlock))

/* PostgreSQL's names for the contexts that its code switches to: all are the arena of the call under way. */
__thread MemoryContext CurrentMemoryContext = NULL;
__thread MemoryContext TopMemoryContext = NULL;
__thread MemoryContext ErrorContext = NULL;
__thread MemoryContext CacheMemoryContext = NULL;

static inline Arena *
current(void)
{
	return (Arena *) CurrentMemoryContext;
}

static inline uint64 *
header(void *pointer)
{
	return (uint64 *) ((char *) pointer - CHUNK_HEADER);
}

Arena *
arena_new(Size first_bytes, Size bytes_max)
{
	Size		bytes = BLOCK_HEADER + MAXALIGN(sizeof(Arena)) + MAXALIGN(first_bytes);
	ArenaBlock *block = malloc(bytes);
	Arena	   *arena;

	if (block == NULL)
		return NULL;
	block->next = NULL;
	block->previous = NULL;
	block->bytes = bytes;
	arena = (Arena *) ((char *) block + BLOCK_HEADER);
	memset(arena, 0, sizeof(Arena));
	arena->context.type = T_AllocSetContext;
	arena->context.mem_allocated = bytes;
	arena->free = (char *) arena + MAXALIGN(sizeof(Arena));
	arena->end = (char *) block + bytes;
	arena->blocks = block;
	arena->oldest = block;
	arena->large.next = &arena->large;
	arena->large.previous = &arena->large;
	arena->bytes_max = bytes_max;
	return arena;
}

void
arena_free(Arena *arena)
{
	ArenaBlock *block = arena->large.next;

	while (block != &arena->large)
	{
		ArenaBlock *next = block->next;

		free(block);
		block = next;
	}
	/* One of these holds the arena: it is not looked at any more. */
	block = arena->blocks;
	while (block != NULL)
	{
		ArenaBlock *next = block->next;

		free(block);
		block = next;
	}
}

pg_noreturn static void
out_of_memory(Arena *arena, Size size)
{
	/* The error itself needs a little memory, and comes out of the same arena. */
	arena->bytes_max = SIZE_MAX;
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory"),
			 errdetail("Failed on request of size %zu.", size)));
}

pg_noreturn static void
too_large(Size size)
{
	elog(ERROR, "invalid memory alloc request size %zu", size);
}

/* NULL if there is no memory, or the arena may have no more. */
static ArenaBlock *
try_block(Arena *arena, Size bytes)
{
	ArenaBlock *block;

	if (bytes > arena->bytes_max || arena->context.mem_allocated > arena->bytes_max - bytes)
		return NULL;
	block = malloc(bytes);
	if (block != NULL)
	{
		block->bytes = bytes;
		arena->context.mem_allocated += bytes;
	}
	return block;
}

static ArenaBlock *
new_block(Arena *arena, Size bytes, Size wanted)
{
	ArenaBlock *block = try_block(arena, bytes);

	if (block == NULL)
		out_of_memory(arena, wanted);
	return block;
}

/* block, of this many bytes, is what is allocated from now. */
static void
add_block(Arena *arena, ArenaBlock *block, Size bytes)
{
	block->previous = NULL;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->free = (char *) block + BLOCK_HEADER;
	arena->end = (char *) block + bytes;
}

static void
link_large(Arena *arena, ArenaBlock *block)
{
	block->previous = &arena->large;
	block->next = arena->large.next;
	block->next->previous = block;
	arena->large.next = block;
}

/* The one chunk of a block that is linked here. */
static void *
only_chunk(ArenaBlock *block, Size size)
{
	char	   *chunk = (char *) block + BLOCK_HEADER;

	*(uint64 *) chunk = size | LARGE_BIT;
	return chunk + CHUNK_HEADER;
}

static void
unlink_large(ArenaBlock *block)
{
	block->next->previous = block->previous;
	block->previous->next = block->next;
}

static pg_noinline void *
alloc_slow(Arena *arena, Size size)
{
	Size		need = CHUNK_BYTES(size);
	ArenaBlock *block;
	char	   *chunk;

	if (!AllocSizeIsValid(size))
		too_large(size);
	if (need >= LARGE_CHUNK_MIN)
	{
		block = new_block(arena, BLOCK_HEADER + need, size);
		link_large(arena, block);
		return only_chunk(block, size);
	}
	/* Each block doubles what there is, so that a tree's unused end is at most about half of it, and its blocks few. */
	{
		Size		bytes = arena->context.mem_allocated;

		if (bytes > BLOCK_BYTES_MAX)
			bytes = BLOCK_BYTES_MAX;
		if (bytes < BLOCK_HEADER + need)
			bytes = BLOCK_HEADER + need;
		add_block(arena, new_block(arena, bytes, size), bytes);
	}
	chunk = arena->free;
	arena->free = chunk + need;
	*(uint64 *) chunk = size;
	return chunk + CHUNK_HEADER;
}

static inline void *
alloc(Arena *arena, Size size)
{
	Size		need = CHUNK_HEADER + MAXALIGN(size);
	char	   *chunk = arena->free;

	/* A size near the end of Size wraps round to a small need: it is caught by the bound on the size itself. */
	if (unlikely(need > (Size) (arena->end - chunk) || size >= LARGE_CHUNK_MIN))
		return alloc_slow(arena, size);
	arena->free = chunk + need;
	*(uint64 *) chunk = size;
	return chunk + CHUNK_HEADER;
}

void *
palloc(Size size)
{
	return alloc(current(), size);
}

void *
palloc0(Size size)
{
	void	   *pointer = alloc(current(), size);

	memset(pointer, 0, size);
	return pointer;
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return alloc((Arena *) context, size);
}

void
pfree(void *pointer)
{
	Arena	   *arena = current();
	uint64		size = *header(pointer);

	if (size & LARGE_BIT)
	{
		ArenaBlock *block = (ArenaBlock *) ((char *) header(pointer) - BLOCK_HEADER);

		unlink_large(block);
		arena->context.mem_allocated -= block->bytes;
		free(block);
	}
	else if ((char *) pointer + MAXALIGN(size) == arena->free)
		arena->free = (char *) header(pointer);
}

static void *
grow_large(Arena *arena, void *pointer, Size size)
{
	ArenaBlock *block = (ArenaBlock *) ((char *) header(pointer) - BLOCK_HEADER);
	Size		before = block->bytes;
	Size		bytes = BLOCK_HEADER + CHUNK_BYTES(size);
	ArenaBlock *moved;

	if (!AllocSizeIsValid(size))
		too_large(size);
	if (bytes > before && bytes - before > arena->bytes_max - Min(arena->bytes_max, arena->context.mem_allocated))
		out_of_memory(arena, size);
	unlink_large(block);
	moved = realloc(block, bytes);
	if (moved == NULL)
	{
		link_large(arena, block);
		out_of_memory(arena, size);
	}
	moved->bytes = bytes;
	link_large(arena, moved);
	arena->context.mem_allocated += bytes - before;
	return only_chunk(moved, size);
}

void *
repalloc(void *pointer, Size size)
{
	Arena	   *arena = current();
	uint64		before = *header(pointer);
	void	   *copy;

	if (before & LARGE_BIT)
		return grow_large(arena, pointer, size);
	if (size <= MAXALIGN(before))
	{
		/* It stays where it is; the header goes on saying how long it is at most. */
		return pointer;
	}
	if ((char *) pointer + MAXALIGN(before) == arena->free &&
		size < LARGE_CHUNK_MIN && MAXALIGN(size) <= (Size) (arena->end - (char *) pointer))
	{
		arena->free = (char *) pointer + MAXALIGN(size);
		*header(pointer) = size;
		return pointer;
	}
	copy = alloc(arena, size);
	memcpy(copy, pointer, before);
	return copy;
}

char *
MemoryContextStrdup(MemoryContext context, const char *string)
{
	Size		bytes = strlen(string) + 1;

	return memcpy(MemoryContextAlloc(context, bytes), string, bytes);
}

char *
pstrdup(const char *in)
{
	return MemoryContextStrdup(CurrentMemoryContext, in);
}

MemoryContext
GetMemoryChunkContext(void *pointer)
{
	return CurrentMemoryContext;
}

/* Contexts within a call: all of them the call's arena. */

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size minContextSize, Size initBlockSize,
							  Size maxBlockSize)
{
	return CurrentMemoryContext;
}

void
MemoryContextDelete(MemoryContext context)
{
}

void
MemoryContextReset(MemoryContext context)
{
}

void
MemoryContextSetParent(MemoryContext context, MemoryContext new_parent)
{
}

void
MemoryContextSetIdentifier(MemoryContext context, const char *id)
{
}

/* For callers outside of PG_TRY: NULL where palloc would raise an error. */
void *
trunkline_alloc(Arena *arena, size_t size)
{
	Size		need = CHUNK_BYTES(size);
	ArenaBlock *block;
	char	   *chunk;

	if (!AllocSizeIsValid(size))
		return NULL;
	if (need >= LARGE_CHUNK_MIN)
	{
		block = try_block(arena, BLOCK_HEADER + need);
		if (block == NULL)
			return NULL;
		link_large(arena, block);
		return only_chunk(block, size);
	}
	if (need > (Size) (arena->end - arena->free))
	{
		Size		bytes = Max(BLOCK_HEADER + need, Min(arena->context.mem_allocated, BLOCK_BYTES_MAX));

		block = try_block(arena, bytes);
		if (block == NULL)
			return NULL;
		add_block(arena, block, bytes);
	}
	chunk = arena->free;
	arena->free = chunk + need;
	*(uint64 *) chunk = size;
	return chunk + CHUNK_HEADER;
}

/* An arena for trees that Rust builds; NULL when there is no memory. */
Arena *
trunkline_new_arena(size_t first_bytes)
{
	return arena_new(first_bytes, SIZE_MAX);
}

/* What lies in `from` goes on living in `into`; `from` itself is gone. */
void
trunkline_adopt(Arena *into, Arena *from)
{
	into->context.mem_allocated += from->context.mem_allocated;
	if (from->large.next != &from->large)
	{
		from->large.previous->next = into->large.next;
		into->large.next->previous = from->large.previous;
		into->large.next = from->large.next;
		into->large.next->previous = &into->large;
	}
	from->oldest->next = into->blocks;
	into->blocks = from->blocks;
}
