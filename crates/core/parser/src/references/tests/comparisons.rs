//! Columns compared with values.

use super::{check, comparisons};

#[test]
fn kinds() {
    check(
        comparisons,
        "
        SELECT FROM t WHERE a = 1 => !a Operator(=) 1
        SELECT FROM t WHERE a = -1 => !a Operator(=) -1
        SELECT FROM t WHERE a = 99999999999 => !a Operator(=) #99999999999
        SELECT FROM t WHERE a = 'x' => !a Operator(=) 'x'
        SELECT FROM t WHERE a = $1 => !a Operator(=) $1
        SELECT FROM t WHERE a = NULL => !a Operator(=) null
        SELECT FROM t WHERE a = true => !a Operator(=) true
        SELECT FROM t WHERE a = B'1' => !a Operator(=) b1
        SELECT FROM t WHERE s.t.a = $1 AND t.b = 1 AND d.s.t.c = 2 => !s.t.a Operator(=) $1, !t.b Operator(=) 1, !s.t.c Operator(=) 2
        SELECT FROM t WHERE 5 < a => !a Operator(<) reversed 5
        SELECT FROM t WHERE a <> 1 AND b != 2 => !a Operator(<>) 1, !b Operator(<>) 2
        SELECT FROM t WHERE a LIKE 'x%' AND b NOT ILIKE $1 => !a Operator(~~) 'x%', !b Operator(!~~*) $1
        SELECT FROM t WHERE a SIMILAR TO 'x' AND b LIKE 'x' ESCAPE 'y'
        SELECT FROM t WHERE a IN (1, $2, 'x') => !a In 1 $2 'x'
        SELECT FROM t WHERE a NOT IN (1, 2) => !a NotIn 1 2
        SELECT FROM t WHERE a IN (1, b)
        SELECT FROM t WHERE a IN (SELECT 1)
        SELECT FROM t WHERE a = ANY($1) => !a Any(=) $1
        SELECT FROM t WHERE a = ANY('{1,2}'::int[]) => !a Any(=) '{1,2}'::int4
        SELECT FROM t WHERE a = ANY(ARRAY[1, $2]) => !a Any(=) 1 $2
        SELECT FROM t WHERE a = ANY(ARRAY[1, $2]::int[]) => !a Any(=) 1 $2
        SELECT FROM t WHERE a <> ALL($1) => !a All(<>) $1
        SELECT FROM t WHERE a = ANY(b)
        SELECT FROM t WHERE $1 = ANY(a)
        SELECT FROM t WHERE a = ANY(SELECT 1)
        SELECT FROM t WHERE a BETWEEN 1 AND $2 => !a Between 1 $2
        SELECT FROM t WHERE a NOT BETWEEN SYMMETRIC 1 AND 2 => !a NotBetweenSymmetric 1 2
        SELECT FROM t WHERE a BETWEEN b AND 2
        SELECT FROM t WHERE a IS NULL AND b IS NOT NULL => !a Null, !b NotNull
        SELECT FROM t WHERE a IS TRUE AND b IS NOT FALSE => !a Boolean(IsTrue), !b Boolean(IsNotFalse)
        SELECT FROM t WHERE a IS DISTINCT FROM 1 AND b IS NOT DISTINCT FROM $1 => !a Distinct 1, !b NotDistinct $1
        SELECT FROM t WHERE a::text = '5' AND b = $1::int AND c = CAST('x' AS uuid) AND d = $2::text::int => !a:: Operator(=) '5', !b Operator(=) $1::int4, !c Operator(=) 'x'::uuid, !d Operator(=) $2::int4
        SELECT FROM t WHERE (a) = (1) => !a Operator(=) 1
        SELECT FROM t WHERE (a, t.b) = (1, $2) => !a Operator(=) 1, !t.b Operator(=) $2
        SELECT FROM t WHERE (a, 2) = (1, b) => !a Operator(=) 1, !b Operator(=) reversed 2
        SELECT FROM t WHERE (a, b) <> (1, 2)
        SELECT FROM t WHERE (a, b) < (1, 2)
        SELECT FROM t WHERE (a, b) IN ((1, 2), ($3, 4)) => !a In 1 $3, !b In 2 4
        SELECT FROM t WHERE (a, b) NOT IN ((1, 2), (3, 4))
        SELECT FROM t WHERE (a, b) IN ((1, c), (3, 4)) => !a In 1 3
        SELECT FROM t WHERE (a, b) IN ((1, 2), (3))
        SELECT FROM t WHERE a OPERATOR(pg_catalog.=) 1 AND b OPERATOR(x.=) 1 => !a Operator(=) 1
        SELECT FROM t WHERE a = f(1) AND b = c AND d + 1 = 2 AND -e = 1 =>
        SELECT FROM t WHERE a @> '{1}' AND b ~>> 1 => !a Operator(@>) '{1}', !b Operator(~>>) 1
        SELECT a + 1, b ~>> 2, c @> '{3}' FROM t => ?c Operator(@>) '{3}'
        SELECT FROM t WHERE t.* = 1
        SELECT FROM t WHERE a[1] = 1 AND (b).c = 1
        SELECT FROM t WHERE a = 1 + 1
        SELECT NULLIF(a, 1) FROM t
        "
    );
}

#[test]
fn what_holds() {
    check(
        comparisons,
        "
        SELECT FROM t WHERE a = 1 AND (b = 2 AND (c = 3 OR d = 4) AND NOT e = 5) => !a Operator(=) 1, !b Operator(=) 2, ?c Operator(=) 3, ?d Operator(=) 4, ?e Operator(=) 5
        SELECT FROM t WHERE a = 1 OR b = 2 => ?a Operator(=) 1, ?b Operator(=) 2
        SELECT FROM t WHERE (a = 1 AND b = 2) OR c = 3 => ?a Operator(=) 1, ?b Operator(=) 2, ?c Operator(=) 3
        SELECT FROM t WHERE NOT (a = 1 AND b = 2) => ?a Operator(=) 1, ?b Operator(=) 2
        SELECT FROM t WHERE (a = 1) = true => ?a Operator(=) 1
        SELECT FROM t WHERE (a = 1) IS TRUE => ?a Operator(=) 1
        SELECT FROM t WHERE CASE WHEN a = 1 THEN true END => ?a Operator(=) 1
        SELECT FROM t WHERE f(a = 1) => ?a Operator(=) 1
        SELECT FROM t WHERE coalesce(a = 1, b = 2) => ?a Operator(=) 1, ?b Operator(=) 2
        SELECT a = 1 FROM t => ?a Operator(=) 1
        SELECT FROM t ORDER BY a = 1 => ?a Operator(=) 1
        SELECT FROM t GROUP BY a HAVING a = 1 => ?a Operator(=) 1
        SELECT count(*) FILTER (WHERE a = 1) FROM t => ?a Operator(=) 1
        SELECT FROM t JOIN u ON t.a = u.a AND t.b = 1 => !t.b Operator(=) 1
        SELECT FROM t LEFT JOIN u ON u.b = 1 WHERE t.c = 2 => ~u.b Operator(=) 1, !t.c Operator(=) 2
        SELECT FROM t RIGHT JOIN u ON u.b = 1 => ~u.b Operator(=) 1
        SELECT FROM t FULL JOIN u ON u.b = 1 => ~u.b Operator(=) 1
        SELECT FROM (t JOIN u ON t.a = 1) LEFT JOIN v ON v.a = 2 => !t.a Operator(=) 1, ~v.a Operator(=) 2
        SELECT FROM t LEFT JOIN (u JOIN v ON u.a = 1) ON v.a = 2 => ~u.a Operator(=) 1, ~v.a Operator(=) 2
        SELECT FROM (t JOIN u ON t.a = 1) RIGHT JOIN v ON v.a = 2 => ~t.a Operator(=) 1, ~v.a Operator(=) 2
        SELECT FROM (t JOIN u ON t.a = 1) FULL JOIN v ON v.a = 2 => ~t.a Operator(=) 1, ~v.a Operator(=) 2
        SELECT FROM (t LEFT JOIN u ON t.a = 1) JOIN v ON v.a = 2 => ~t.a Operator(=) 1, !v.a Operator(=) 2
        SELECT FROM t JOIN u ON (t.a = 1 OR u.a = 2) AND u.b = 3 => ?t.a Operator(=) 1, ?u.a Operator(=) 2, !u.b Operator(=) 3
        SELECT FROM (SELECT * FROM t WHERE a = 1) x WHERE b = 2 => !a@1 Operator(=) 1, !b Operator(=) 2
        SELECT FROM t WHERE a = 1 AND EXISTS (SELECT FROM u WHERE b = 2) => !a Operator(=) 1, !b@1 Operator(=) 2
        SELECT FROM t WHERE a = 1 OR EXISTS (SELECT FROM u WHERE b = 2 AND c = 3) => ?a Operator(=) 1, !b@1 Operator(=) 2, !c@1 Operator(=) 3
        SELECT FROM t WHERE a = 1 UNION SELECT FROM u WHERE b = 2 => !a@1 Operator(=) 1, !b@2 Operator(=) 2
        WITH x AS (SELECT FROM t WHERE a = 1) SELECT FROM x WHERE b = 2 => !b Operator(=) 2, !a@1 Operator(=) 1
        UPDATE t SET a = 1, b = $2, c = d, e = DEFAULT WHERE f = 3 => !a Assigned 1, !b Assigned $2, !e Assigned default, !f Operator(=) 3
        UPDATE t SET (a, b) = (1, $2), (c, d) = (SELECT 1, 2) => !a Assigned 1, !b Assigned $2
        UPDATE t SET a[1] = 1, b.c = 2
        DELETE FROM t USING u WHERE t.a = 1 AND u.b = 2 => !t.a Operator(=) 1, !u.b Operator(=) 2
        MERGE INTO t USING u ON t.a = 1 WHEN MATCHED AND u.b = 2 THEN UPDATE SET c = 3 WHEN NOT MATCHED THEN INSERT (d, e) VALUES (4, u.f) => ?t.a Operator(=) 1, ?u.b Operator(=) 2, ?c Assigned 3, ?d[0] Inserted 4
        INSERT INTO t (a, b) VALUES (1, $1), (2, DEFAULT) => !a[0] Inserted 1 2, !b[1] Inserted $1 default
        INSERT INTO t VALUES (1, f(2), 'x'::text) => ![0] Inserted 1, ![2] Inserted 'x'::text
        INSERT INTO t (a, b[1], c) VALUES (1, 2, 3) => !a[0] Inserted 1, !c[2] Inserted 3
        INSERT INTO t (a, b) VALUES (1, 2), (b, 4) => !b[1] Inserted 2 4
        INSERT INTO t (a) VALUES (1, 2) => !a[0] Inserted 1
        INSERT INTO t (a, b) VALUES (1) => !a[0] Inserted 1
        INSERT INTO t (a) SELECT 1 FROM u WHERE b = 2 => !b@1 Operator(=) 2
        INSERT INTO t (a) VALUES (1) ON CONFLICT (a) WHERE b = 1 DO UPDATE SET c = 2 WHERE t.d = 3 => !a[0] Inserted 1, ?b Operator(=) 1, ?c Assigned 2, ?t.d Operator(=) 3
        COPY t FROM STDIN WHERE a = 1 => ?a Operator(=) 1
        CREATE INDEX ON t (a) WHERE a = 1 => ?a Operator(=) 1
        EXPLAIN SELECT FROM t WHERE a = 1 => !a@1 Operator(=) 1
        "
    );
}
