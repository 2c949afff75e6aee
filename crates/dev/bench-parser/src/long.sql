WITH active_customers AS (
    SELECT c.id, c.name, c.region_id, c.segment, c.created_at,
           row_number() OVER (PARTITION BY c.region_id ORDER BY c.created_at DESC) AS position_in_region
    FROM sales.customers AS c
    WHERE c.deleted_at IS NULL AND c.status IN ('active', 'trial', 'grace') AND c.credit_limit >= 1000.00
), monthly AS (
    SELECT o.customer_id, date_trunc('month', o.placed_at) AS month, count(*) AS orders,
           sum(l.quantity * l.unit_price * (1 - COALESCE(l.discount, 0))) AS revenue,
           avg(l.unit_price) FILTER (WHERE l.unit_price > 0) AS average_price,
           max(o.placed_at) AS last_order
    FROM sales.orders AS o
    JOIN sales.order_lines AS l ON l.order_id = o.id AND l.cancelled = false
    LEFT JOIN sales.shipments AS s ON s.order_id = o.id
    WHERE o.placed_at >= '2024-01-01'::timestamptz AND o.placed_at < '2025-01-01'::timestamptz
      AND (s.carrier IS NULL OR s.carrier NOT LIKE 'test%') AND o.currency = 'EUR'
    GROUP BY o.customer_id, date_trunc('month', o.placed_at)
    HAVING sum(l.quantity) > 0
), ranked AS (
    SELECT m.*, rank() OVER (PARTITION BY m.month ORDER BY m.revenue DESC NULLS LAST) AS place,
           lag(m.revenue, 1) OVER (PARTITION BY m.customer_id ORDER BY m.month) AS revenue_before
    FROM monthly AS m
)
SELECT a.id AS customer_id, a.name AS customer, r.name AS region, k.month, k.orders, round(k.revenue::numeric, 2) AS revenue,
       CASE WHEN k.revenue_before IS NULL THEN 'new'
            WHEN k.revenue > k.revenue_before * 1.10 THEN 'growing'
            WHEN k.revenue < k.revenue_before * 0.90 THEN 'shrinking'
            ELSE 'steady' END AS trend,
       (SELECT count(*) FROM support.tickets AS t WHERE t.customer_id = a.id AND t.opened_at >= k.month
           AND t.opened_at < k.month + interval '1 month' AND t.severity <= 2) AS tickets,
       array_agg(DISTINCT p.category ORDER BY p.category) AS categories,
       to_char(k.last_order AT TIME ZONE 'Europe/Vienna', 'YYYY-MM-DD HH24:MI') AS last_order
FROM active_customers AS a
JOIN ranked AS k ON k.customer_id = a.id
JOIN sales.regions AS r ON r.id = a.region_id AND r.country_code = ANY (ARRAY['AT', 'DE', 'CH'])
LEFT JOIN LATERAL (SELECT DISTINCT pr.category FROM sales.order_lines AS ol JOIN sales.products AS pr ON pr.id = ol.product_id
    WHERE ol.customer_id = a.id LIMIT 10) AS p ON true
WHERE k.place <= 100 AND a.position_in_region BETWEEN 1 AND 500 AND NOT EXISTS (
    SELECT 1 FROM sales.blocked AS b WHERE b.customer_id = a.id AND (b.until IS NULL OR b.until > now()))
GROUP BY a.id, a.name, r.name, k.month, k.orders, k.revenue, k.revenue_before, k.last_order
ORDER BY k.month DESC, revenue DESC, a.name
LIMIT 200 OFFSET 0
