//! The statements that are measured: what applications send, written for this.

/// pgbench's select-only transaction.
pub const SELECT: &str = "SELECT abalance FROM pgbench_accounts WHERE aid = 12345;";

/// A report of about 2,700 bytes: CTEs, joins, windows, CASE.
pub const LONG: &str = include_str!("long.sql");

/// What OLTP applications and ORMs send.
pub const OLTP: &[&str] = &[
    "UPDATE pgbench_accounts SET abalance = abalance + -3512 WHERE aid = 92831",
    "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (7, 1, 92831, -3512, CURRENT_TIMESTAMP)",
    "BEGIN",
    "COMMIT",
    "SELECT 1",
    "SET application_name = 'billing'",
    "SELECT * FROM users WHERE id = $1",
    "SELECT \"users\".* FROM \"users\" WHERE \"users\".\"email\" = $1 AND \"users\".\"deleted_at\" IS NULL LIMIT $2",
    "SELECT u.id, u.name, u.email FROM users u WHERE u.account_id = $1 ORDER BY u.created_at DESC LIMIT 50 OFFSET 100",
    "SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'open' AND o.total > 99.95",
    "SELECT count(*) FROM events WHERE created_at >= now() - interval '1 day' AND kind IN ('click', 'view', 'scroll')",
    "INSERT INTO sessions (id, user_id, token, expires_at) VALUES ($1, $2, $3, $4) RETURNING id",
    "INSERT INTO counters (key, value) VALUES ($1, 1) ON CONFLICT (key) DO UPDATE SET value = counters.value + 1 RETURNING value",
    "UPDATE \"posts\" SET \"title\" = $1, \"body\" = $2, \"updated_at\" = $3 WHERE \"posts\".\"id\" = $4",
    "DELETE FROM sessions WHERE expires_at < now() AND NOT pinned",
    "SELECT id FROM jobs WHERE state = 'queued' AND run_at <= now() ORDER BY priority DESC, id FOR UPDATE SKIP LOCKED LIMIT 1",
    "SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_attribute a WHERE a.attrelid = '\"users\"'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
    "SELECT p.id, p.name, COALESCE(s.quantity, 0) AS stock FROM products p LEFT JOIN stock s ON s.product_id = p.id AND s.warehouse_id = 3 WHERE p.id IN (11, 12, 13, 14, 15, 16, 17, 18, 19, 20)",
    "WITH recent AS (SELECT user_id, max(at) AS at FROM logins GROUP BY user_id) SELECT u.id, r.at FROM users u JOIN recent r ON r.user_id = u.id WHERE u.active",
    "SELECT date_trunc('hour', at) AS hour, sum(bytes) FROM traffic WHERE host = $1 AND at BETWEEN $2 AND $3 GROUP BY 1 ORDER BY 1",
    "SELECT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = $1 AND m.team_id = ANY ($2::int[]))",
    "UPDATE inventory SET reserved = reserved + v.quantity FROM (VALUES (1, 5), (2, 3), (9, 1)) AS v (id, quantity) WHERE inventory.id = v.id AND inventory.available >= v.quantity RETURNING inventory.id, inventory.reserved",
];
