/*
 * raw_parser for text of a known length, and the scanner alone. Included after scan.c, parser.c and gram.c: the scanner's
 * buffers are on this file's stack frame, so that an arena holds the tree and nothing else.
 */
#include "call.h"

/* Text up to this length (and the literals in it) is scanned in buffers on the C stack. */
#define STACK_TEXT_MAX 8192
#define STACK_LITERAL_BYTES 1024

/* A chunk as arena.c has it, but on the stack: repalloc copies it into the arena, pfree leaves it alone. */
#define STACK_CHUNK(name, size) struct { uint64 bytes; char data[size]; } name

typedef struct TextArguments
{
	const char *text;
	Size		length;
	int			mode;			/* RawParseMode */
	int			options;
} TextArguments;

/* What scanner_init does for a NUL-terminated string, with buffers of ours. */
static core_yyscan_t
start_scanner(const TextArguments *arguments, core_yy_extra_type *extra, char *scanbuf, char *literalbuf)
{
	core_yyscan_t scanner;

	if (core_yylex_init(&scanner) != 0)
		elog(ERROR, "yylex_init() failed: %m");
	core_yyset_extra(extra, scanner);
	extra->keywordlist = &ScanKeywords;
	extra->keyword_tokens = ScanKeywordTokens;
	extra->backslash_quote = (arguments->options & TRUNKLINE_BACKSLASH_QUOTE_OFF) ? BACKSLASH_QUOTE_OFF
		: BACKSLASH_QUOTE_SAFE_ENCODING;
	extra->escape_string_warning = false;
	extra->standard_conforming_strings = !(arguments->options & TRUNKLINE_STRINGS_ESCAPE);
	extra->return_comments = false;
	extra->scanbuf = scanbuf;
	extra->scanbuflen = arguments->length;
	memcpy(scanbuf, arguments->text, arguments->length);
	/* Two NULs end flex's buffer. */
	scanbuf[arguments->length] = scanbuf[arguments->length + 1] = '\0';
	core_yy_scan_buffer(scanbuf, arguments->length + 2, scanner);
	extra->literalbuf = literalbuf;
	extra->literalalloc = STACK_LITERAL_BYTES;
	extra->literallen = 0;
	return scanner;
}

/* What base_yylex sees first, so that the grammar takes what is not a list of statements. */
static int
token_of_mode(int mode)
{
	switch (mode)
	{
		case RAW_PARSE_TYPE_NAME:
			return MODE_TYPE_NAME;
		case RAW_PARSE_PLPGSQL_EXPR:
			return MODE_PLPGSQL_EXPR;
		case RAW_PARSE_PLPGSQL_ASSIGN1:
			return MODE_PLPGSQL_ASSIGN1;
		case RAW_PARSE_PLPGSQL_ASSIGN2:
			return MODE_PLPGSQL_ASSIGN2;
		case RAW_PARSE_PLPGSQL_ASSIGN3:
			return MODE_PLPGSQL_ASSIGN3;
		default:
			return 0;
	}
}

static List *
parse_text(const TextArguments *arguments, char *scanbuf, char *literalbuf)
{
	base_yy_extra_type extra;
	core_yyscan_t scanner = start_scanner(arguments, &extra.core_yy_extra, scanbuf, literalbuf);
	int			mode_token = token_of_mode(arguments->mode);

	extra.have_lookahead = mode_token != 0;
	if (extra.have_lookahead)
	{
		extra.lookahead_token = mode_token;
		extra.lookahead_yylloc = 0;
		extra.lookahead_end = NULL;
	}
	parser_init(&extra);
	return base_yyparse(scanner) == 0 ? extra.parsetree : NIL;
}

static void
parse_work(TrunklineResult *result, const void *opaque)
{
	const TextArguments *arguments = opaque;
	STACK_CHUNK(literals, STACK_LITERAL_BYTES);

	literals.bytes = STACK_LITERAL_BYTES;
	if (arguments->length + 2 <= STACK_TEXT_MAX)
	{
		STACK_CHUNK(text, STACK_TEXT_MAX);
		text.bytes = STACK_TEXT_MAX;
		result->statements = parse_text(arguments, text.data, literals.data);
	}
	else
	{
		char	   *text = palloc(arguments->length + 2);

		result->statements = parse_text(arguments, text, literals.data);
		pfree(text);
	}
}

/*
 * A tree takes some 20 to 60 bytes for each byte of text. The first block is of a common size: malloc finds it quickly,
 * and few statements need a second.
 */
#define FIRST_BLOCK_MIN 2048
#define FIRST_BLOCK_MAX (32 * 1024)

static Size
first_block(Size length)
{
	Size		bytes = length * 24;

	return Min(Max(bytes, FIRST_BLOCK_MIN), FIRST_BLOCK_MAX);
}

void
trunkline_parse(TrunklineResult *result, const char *text, size_t length, int mode, int options, size_t bytes_max)
{
	TextArguments arguments = {text, length, mode, options};

	trunkline_call(result, first_block(length), bytes_max, parse_work, &arguments);
}

static void
scan_work(TrunklineResult *result, const void *opaque)
{
	const TextArguments *arguments = opaque;
	STACK_CHUNK(literals, STACK_LITERAL_BYTES);
	core_yy_extra_type extra;
	core_yyscan_t scanner;
	core_YYSTYPE value;
	YYLTYPE		start;
	Size		capacity = 64;

	literals.bytes = STACK_LITERAL_BYTES;
	scanner = start_scanner(arguments, &extra, palloc(arguments->length + 2), literals.data);
	extra.return_comments = true;
	result->tokens = palloc(capacity * sizeof(TrunklineToken));
	for (;;)
	{
		int			token = core_yylex(&value, &start, scanner);
		TrunklineToken *place;

		if (token == 0)
			break;
		if (result->token_count == capacity)
		{
			capacity *= 2;
			result->tokens = repalloc(result->tokens, capacity * sizeof(TrunklineToken));
		}
		place = &result->tokens[result->token_count++];
		place->start = start;
		place->token = token;
		/* Tokens of several rules end where the scanner last noted; the others where flex's text does. */
		if (token == SCONST || token == USCONST || token == BCONST || token == XCONST || token == IDENT ||
			token == UIDENT || token == C_COMMENT)
			place->end = extra.yyllocend;
		else
			place->end = start + ((struct yyguts_t *) scanner)->yyleng_r;
	}
}

void
trunkline_scan(TrunklineResult *result, const char *text, size_t length, int options, size_t bytes_max)
{
	TextArguments arguments = {text, length, RAW_PARSE_DEFAULT, options};

	trunkline_call(result, length + 4096, bytes_max, scan_work, &arguments);
}
