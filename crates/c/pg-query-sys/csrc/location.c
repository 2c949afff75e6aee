/*
 * exprLocation for raw parse trees, without recursion: `a + a + a + ...` is as deep as the text is long, and the grammar
 * asks for the location of such a sort clause to report an error. nodeFuncs.c has PostgreSQL's, compiled under the name
 * that follows, for the kinds of nodes that have no left operand.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"

extern int	trunkline_leaf_location(const Node *node);

/* One step down the left edge: the node's own location, and its leftmost child, which may be NULL. */
static int
own_location(const Node *node, const Node **leftmost)
{
	*leftmost = NULL;
	switch (nodeTag(node))
	{
		case T_List:
			*leftmost = linitial((const List *) node);
			return -1;
		case T_SortBy:
			*leftmost = ((const SortBy *) node)->node;
			return -1;
		case T_A_Expr:
			*leftmost = ((const A_Expr *) node)->lexpr;
			return ((const A_Expr *) node)->location;
		case T_TypeCast:
			{
				const TypeCast *cast = (const TypeCast *) node;
				int			type = cast->typeName->location;

				*leftmost = cast->arg;
				if (cast->location < 0 || (type >= 0 && type < cast->location))
					return type;
				return cast->location;
			}
		case T_CollateClause:
			*leftmost = ((const CollateClause *) node)->arg;
			return -1;
		case T_BoolExpr:
			*leftmost = (const Node *) ((const BoolExpr *) node)->args;
			return ((const BoolExpr *) node)->location;
		case T_NullTest:
			*leftmost = (const Node *) ((const NullTest *) node)->arg;
			return ((const NullTest *) node)->location;
		case T_BooleanTest:
			*leftmost = (const Node *) ((const BooleanTest *) node)->arg;
			return ((const BooleanTest *) node)->location;
		case T_SubLink:
			*leftmost = ((const SubLink *) node)->testexpr;
			return ((const SubLink *) node)->location;
		case T_FuncCall:
			*leftmost = (const Node *) ((const FuncCall *) node)->args;
			return ((const FuncCall *) node)->location;
		case T_XmlExpr:
			*leftmost = (const Node *) ((const XmlExpr *) node)->args;
			return ((const XmlExpr *) node)->location;
		case T_JsonValueExpr:
			*leftmost = (const Node *) ((const JsonValueExpr *) node)->raw_expr;
			return -1;
		case T_NamedArgExpr:
			return ((const NamedArgExpr *) node)->location;
		default:
			return trunkline_leaf_location(node);
	}
}

int
exprLocation(const Node *node)
{
	int			location = -1;

	while (node != NULL)
	{
		const Node *leftmost;
		int			own = own_location(node, &leftmost);

		if (own >= 0 && (location < 0 || own < location))
			location = own;
		node = leftmost;
	}
	return location;
}
