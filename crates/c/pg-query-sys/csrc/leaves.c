/* nodeFuncs.c with its exprLocation under another name: see location.c. */
#undef exprLocation
#define exprLocation trunkline_leaf_location
#include "src/postgres/src_backend_nodes_nodeFuncs.c"
