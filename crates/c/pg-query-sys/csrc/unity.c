/*
 * What a parse runs through, as one translation unit: the compiler sees palloc, the scanner and the grammar together.
 */
#include "arena.c"
#include "src/postgres/src_backend_nodes_list.c"
#include "src/postgres/src_backend_nodes_value.c"
#include "src/postgres/src_backend_nodes_makefuncs.c"
#include "src/postgres/src_common_kwlookup.c"
#include "src/postgres/src_common_keywords.c"
#include "src/postgres/src_backend_parser_scansup.c"
#include "src/postgres/src_backend_parser_parser.c"
#include "src/postgres/src_backend_parser_gram.c"
/* Names that both bison's and flex's output give a meaning of their own. */
#undef yyerror
#undef yylex
#undef yylval
#undef yylloc
#undef YY_NULL
#undef REDUCE
#include "src/postgres/src_backend_parser_scan.c"
#undef yyextra
#include "call.c"
#include "parse.c"
