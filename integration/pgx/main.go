// pgx: the extended protocol in binary, its statement cache, batches, pipelines, COPY, pools, cancel by context.
package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	bigBytes = 8 << 20
	clients  = 24
	limit    = 120 * time.Second
)

var (
	url     = os.Getenv("DATABASE_URL")
	session = os.Getenv("POOL_MODE") != "transaction"
	churn   = os.Getenv("CHURN") == "1"
)

type check struct {
	name string
	run  func(ctx context.Context, c *pgx.Conn) error
}

func main() {
	checks := []check{
		{"parameters and types", parametersAndTypes},
		{"the statement cache across transactions", statementCache},
		{"more statements than the cache holds", smallCache},
		{"statements prepared by hand", prepared},
		{"every query mode", queryModes},
		{"batch", batch},
		{"batch with an error", batchWithError},
		{"pipeline", pipeline},
		{"transactions and savepoints", transactions},
		{"copy in and out", copyInAndOut},
		{"cancel a running query", cancelQuery},
		{"big rows", bigRows},
		{"many rows", manyRows},
		{"errors and going on", errorsAndGoingOn},
		{"parameters at start-up", startupParameters},
		{"parameters by set", setParameters},
		{"a changed table under a prepared statement", changedTable},
		{"notices", notices},
		{"several statements in one query", severalStatements},
		{"a pool of many connections", poolOfMany},
		{"server connection", serverConnection},
	}
	if session {
		checks = append(checks, check{"listen and notify", listenAndNotify}, check{"temporary tables", temporaryTables})
	}
	failed := 0
	for _, it := range checks {
		started := time.Now()
		if err := connected(url, it.run); err != nil {
			failed++
			fmt.Printf("FAILED  %s\n%v\n", it.name, err)
			continue
		}
		fmt.Printf("ok      %s (%.2f s)\n", it.name, time.Since(started).Seconds())
	}
	fmt.Printf("%d passed, %d failed\n", len(checks)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func connected(url string, run func(context.Context, *pgx.Conn) error) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	return connectedBy(config, run)
}

func connectedBy(config *pgx.ConnConfig, run func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer c.Close(context.Background())
	return run(ctx, c)
}

func with(change func(*pgx.ConnConfig), run func(context.Context, *pgx.Conn) error) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	change(config)
	return connectedBy(config, run)
}

type queryer interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// expect runs sql, which must give one row with the one value wanted.
func expect[T comparable](ctx context.Context, c queryer, want T, sql string, args ...any) error {
	var got T
	if err := c.QueryRow(ctx, sql, args...).Scan(&got); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return same(got, want)
}

func same[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("got %.200v, expected %.200v", got, want)
	}
	return nil
}

func fails(err error, code string) error {
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return fmt.Errorf("got %v, expected SQLSTATE %s", err, code)
	}
	return same(failure.Code, code)
}

func exec(ctx context.Context, c *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := c.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

func parametersAndTypes(ctx context.Context, c *pgx.Conn) error {
	var (
		number int
		text   string
		blob   []byte
		list   []int32
		null   *string
	)
	row := c.QueryRow(ctx, "select $1::int, $2::text, $3::bytea, $4::int[], null::text", 7, "ünïcödé", []byte{0, 1, 255}, []int32{1, 2})
	if err := row.Scan(&number, &text, &blob, &list, &null); err != nil {
		return err
	}
	return same(fmt.Sprintf("%v %v %v %v %v", number, text, blob, list, null), "7 ünïcödé [0 1 255] [1 2] <nil>")
}

func statementCache(ctx context.Context, c *pgx.Conn) error {
	for n := range 60 {
		if err := errors.Join(expect(ctx, c, n+1, "select $1::int + 1", n), expect(ctx, c, n*2, "select $1::int * 2", n)); err != nil {
			return err
		}
	}
	for n := range 20 {
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return expect(ctx, tx, n+1, "select $1::int + 1", n) })
		if err != nil {
			return err
		}
	}
	return nil
}

func smallCache(context.Context, *pgx.Conn) error {
	return with(func(config *pgx.ConnConfig) { config.StatementCacheCapacity = 10 }, func(ctx context.Context, c *pgx.Conn) error {
		for turn := range 3 {
			for n := range 30 {
				if err := expect(ctx, c, turn+n, fmt.Sprintf("select $1::int + %d", n), turn); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func prepared(ctx context.Context, c *pgx.Conn) error {
	for round := range 5 {
		// The same name again and again, each time with another text.
		if _, err := c.Prepare(ctx, "by_hand", fmt.Sprintf("select $1::int + %d", round)); err != nil {
			return err
		}
		for n := range 20 {
			if err := expect(ctx, c, n+round, "by_hand", n); err != nil {
				return err
			}
		}
		if err := c.Deallocate(ctx, "by_hand"); err != nil {
			return err
		}
	}
	return nil
}

func queryModes(context.Context, *pgx.Conn) error {
	modes := []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	}
	for _, mode := range modes {
		err := with(func(config *pgx.ConnConfig) { config.DefaultQueryExecMode = mode }, func(ctx context.Context, c *pgx.Conn) error {
			for n := range 30 {
				if err := expect(ctx, c, n+1, "select $1::int + 1", n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%v: %w", mode, err)
		}
	}
	return nil
}

func batch(ctx context.Context, c *pgx.Conn) error {
	for range 5 {
		several := &pgx.Batch{}
		for n := range 200 {
			several.Queue(fmt.Sprintf("select $1::int + %d", n%7), n).QueryRow(func(row pgx.Row) error {
				var got int
				if err := row.Scan(&got); err != nil {
					return err
				}
				return same(got, n+n%7)
			})
		}
		if err := c.SendBatch(ctx, several).Close(); err != nil {
			return err
		}
	}
	return nil
}

func batchWithError(ctx context.Context, c *pgx.Conn) error {
	if err := exec(ctx, c, "drop table if exists pgx_batch", "create table pgx_batch (v int primary key)"); err != nil {
		return err
	}
	several := &pgx.Batch{}
	for _, v := range []int{1, 2, 1, 3} {
		several.Queue("insert into pgx_batch values ($1)", v)
	}
	if err := fails(c.SendBatch(ctx, several).Close(), "23505"); err != nil {
		return err
	}
	// One Sync, so one transaction: nothing of it stays.
	return errors.Join(expect(ctx, c, 0, "select count(*) from pgx_batch"), exec(ctx, c, "drop table pgx_batch"))
}

func pipeline(ctx context.Context, c *pgx.Conn) error {
	p := c.PgConn().StartPipeline(ctx)
	p.SendPrepare("pipelined", "select $1::int8 + 1", nil)
	p.SendQueryPrepared("pipelined", [][]byte{[]byte("4")}, nil, nil)
	if err := p.Sync(); err != nil {
		return err
	}
	p.SendQueryParams("select 1 / $1::int4", [][]byte{[]byte("0")}, nil, nil, nil)
	p.SendQueryPrepared("pipelined", [][]byte{[]byte("5")}, nil, nil)
	if err := p.Sync(); err != nil {
		return err
	}
	p.SendQueryPrepared("pipelined", [][]byte{[]byte("6")}, nil, nil)
	if err := p.Sync(); err != nil {
		return err
	}
	var seen []string
	for {
		results, err := p.GetResults()
		var failure *pgconn.PgError
		switch {
		case errors.As(err, &failure):
			seen = append(seen, failure.Code)
			continue
		case err != nil:
			return err
		case results == nil:
			if err := p.Close(); err != nil {
				return err
			}
			if got := strings.Join(seen, " "); got != "prepared 5 sync 22012 sync 7 sync" {
				return fmt.Errorf("the pipeline gave %q", got)
			}
			return expect(ctx, c, 3, "select $1::int", 3)
		}
		switch results := results.(type) {
		case *pgconn.StatementDescription:
			seen = append(seen, "prepared")
		case *pgconn.ResultReader:
			read := results.Read()
			if errors.As(read.Err, &failure) {
				seen = append(seen, failure.Code)
			} else if read.Err != nil {
				return read.Err
			} else {
				seen = append(seen, string(read.Rows[0][0]))
			}
		case *pgconn.PipelineSync:
			seen = append(seen, "sync")
		}
	}
}

func transactions(ctx context.Context, c *pgx.Conn) error {
	if err := exec(ctx, c, "drop table if exists pgx_tx", "create table pgx_tx (v int primary key)"); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "insert into pgx_tx values ($1)", 1); err != nil {
			return err
		}
		inner := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error {
			_, err := savepoint.Exec(ctx, "insert into pgx_tx values ($1)", 1)
			return err
		})
		if err := fails(inner, "23505"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "insert into pgx_tx values ($1)", 3)
		return err
	})
	if err != nil {
		return err
	}
	changed := errors.New("changed my mind")
	err = pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.Serializable}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "delete from pgx_tx"); err != nil {
			return err
		}
		return changed
	})
	if !errors.Is(err, changed) {
		return err
	}
	return errors.Join(expect(ctx, c, "1,3", "select string_agg(v::text, ',' order by v) from pgx_tx"), exec(ctx, c, "drop table pgx_tx"))
}

func copyInAndOut(ctx context.Context, c *pgx.Conn) error {
	if err := exec(ctx, c, "drop table if exists pgx_copy", "create table pgx_copy (a int, b text)"); err != nil {
		return err
	}
	rows := pgx.CopyFromSlice(50_000, func(n int) ([]any, error) { return []any{n, fmt.Sprintf("row %d", n)}, nil })
	count, err := c.CopyFrom(ctx, pgx.Identifier{"pgx_copy"}, []string{"a", "b"}, rows)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := c.PgConn().CopyTo(ctx, &out, "copy (select * from pgx_copy order by a) to stdout"); err != nil {
		return err
	}
	wanted := md5.New()
	for n := range 50_000 {
		fmt.Fprintf(wanted, "%d\trow %d\n", n, n)
	}
	_, refused := c.PgConn().CopyFrom(ctx, strings.NewReader(strings.Repeat("x\ty\n", 50_000)), "copy pgx_copy from stdin")
	gaveUp := errors.New("the source broke")
	broken := pgx.CopyFromFunc(func() ([]any, error) { return nil, gaveUp })
	_, failed := c.CopyFrom(ctx, pgx.Identifier{"pgx_copy"}, []string{"a", "b"}, broken)
	return errors.Join(same(count, 50_000), fails(refused, "22P02"), same(failed != nil, true),
		same(fmt.Sprintf("%x", md5.Sum(out.Bytes())), fmt.Sprintf("%x", wanted.Sum(nil))),
		expect(ctx, c, 50_000, "select count(*) from pgx_copy"), exec(ctx, c, "drop table pgx_copy"))
}

func cancelQuery(ctx context.Context, observer *pgx.Conn) error {
	return connected(url, func(ctx context.Context, c *pgx.Conn) error {
		asked := make(chan error, 1)
		go func() { asked <- cancelOnceAsleep(ctx, observer, c) }()
		_, err := c.Exec(ctx, "select pg_sleep(600) /* pgx sleeper */")
		return errors.Join(<-asked, fails(err, "57014"), expect(ctx, c, 1, "select 1"))
	})
}

func cancelOnceAsleep(ctx context.Context, observer, sleeper *pgx.Conn) error {
	for {
		var asleep int
		err := observer.QueryRow(ctx, "select count(*) from pg_stat_activity where query like '%pgx sleeper%' and wait_event = 'PgSleep'").Scan(&asleep)
		if err != nil {
			return err
		}
		if asleep == 1 {
			return sleeper.PgConn().CancelRequest(ctx)
		}
	}
}

func bigRows(ctx context.Context, c *pgx.Conn) error {
	payload := bytes.Repeat([]byte{0, 1, 2, 3, 254, 255, 7, 8}, bigBytes/8)
	var back []byte
	if err := c.QueryRow(ctx, "select $1::bytea", payload).Scan(&back); err != nil {
		return err
	}
	var text string
	if err := c.QueryRow(ctx, "select repeat('x', $1)", bigBytes).Scan(&text); err != nil {
		return err
	}
	return errors.Join(same(bytes.Equal(back, payload), true), same(len(text), bigBytes))
}

func manyRows(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, "select g from generate_series(1, $1::int) g", 100_000)
	if err != nil {
		return err
	}
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return err
	}
	return errors.Join(same(len(numbers), 100_000), same(numbers[len(numbers)-1], 100_000))
}

func errorsAndGoingOn(ctx context.Context, c *pgx.Conn) error {
	for n := range 5 {
		_, syntax := c.Exec(ctx, "selec 1")
		_, missing := c.Exec(ctx, "select * from nothing_here where v = $1", 1)
		_, division := c.Exec(ctx, "select 1 / $1::int", 0)
		err := errors.Join(fails(syntax, "42601"), fails(missing, "42P01"), fails(division, "22012"), expect(ctx, c, n, "select $1::int", n))
		if err != nil {
			return err
		}
	}
	return nil
}

func startupParameters(context.Context, *pgx.Conn) error {
	change := func(config *pgx.ConnConfig) {
		config.RuntimeParams["application_name"] = "pgx check"
		config.RuntimeParams["timezone"] = "Asia/Kathmandu"
	}
	return with(change, func(ctx context.Context, c *pgx.Conn) error {
		for range 30 {
			if err := errors.Join(expect(ctx, c, "pgx check", "show application_name"), expect(ctx, c, "Asia/Kathmandu", "show timezone")); err != nil {
				return err
			}
		}
		return same(c.PgConn().ParameterStatus("TimeZone"), "Asia/Kathmandu")
	})
}

func setParameters(ctx context.Context, c *pgx.Conn) error {
	if err := exec(ctx, c, "set timezone to 'Asia/Kathmandu'", "set application_name to 'renamed'"); err != nil {
		return err
	}
	for range 30 {
		if err := errors.Join(expect(ctx, c, "renamed", "show application_name"), expect(ctx, c, "Asia/Kathmandu", "show timezone")); err != nil {
			return err
		}
	}
	return nil
}

func changedTable(ctx context.Context, other *pgx.Conn) error {
	return connected(url, func(ctx context.Context, c *pgx.Conn) error {
		if err := exec(ctx, c, "drop table if exists pgx_changed", "create table pgx_changed (a int)", "insert into pgx_changed values (1)"); err != nil {
			return err
		}
		count := func() (int, error) {
			rows, err := c.Query(ctx, "select * from pgx_changed")
			if err != nil {
				return 0, err
			}
			defer rows.Close()
			for rows.Next() {
			}
			return len(rows.FieldDescriptions()), rows.Err()
		}
		before, err := count()
		if err != nil {
			return err
		}
		if err := exec(ctx, other, "alter table pgx_changed add b text default 'new'"); err != nil {
			return err
		}
		// pgx notices a failure of its cached statement, forgets it, and hands the error on, once.
		if _, err := count(); err != nil {
			if err := fails(err, "0A000"); err != nil {
				return err
			}
		}
		after, err := count()
		return errors.Join(err, same(before, 1), same(after, 2), exec(ctx, c, "drop table pgx_changed"))
	})
}

func notices(context.Context, *pgx.Conn) error {
	var heard []string
	change := func(config *pgx.ConnConfig) {
		config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) { heard = append(heard, notice.Message) }
	}
	return with(change, func(ctx context.Context, c *pgx.Conn) error {
		err := exec(ctx, c, "do $$ begin raise notice 'hear %', 'me'; end $$")
		return errors.Join(err, same(strings.Join(heard, "|"), "hear me"))
	})
}

func severalStatements(ctx context.Context, c *pgx.Conn) error {
	results, err := c.PgConn().Exec(ctx, "select 1; select 2; begin; select 3; commit").ReadAll()
	if err != nil {
		return err
	}
	var tags []string
	for _, result := range results {
		tags = append(tags, result.CommandTag.String())
	}
	return same(strings.Join(tags, ","), "SELECT 1,SELECT 1,BEGIN,SELECT 1,COMMIT")
}

func poolOfMany(ctx context.Context, _ *pgx.Conn) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	config.MaxConns = clients
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	var group sync.WaitGroup
	failures := make(chan error, clients*2)
	for number := range clients * 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			for turn := range 20 {
				err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
					return errors.Join(expect(ctx, tx, number, "select $1::int", number),
						expect(ctx, tx, number+turn, fmt.Sprintf("select $1::int + %d", number), turn))
				})
				if err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	return <-failures
}

func serverConnection(ctx context.Context, c *pgx.Conn) error {
	pids := map[uint32]bool{}
	turns := 5000
	if session {
		turns = 50
	}
	for n := 0; n < turns && (session || len(pids) < 2); n++ {
		var pid uint32
		if err := c.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		pids[pid] = true
	}
	if session {
		return errors.Join(same(len(pids), 1), same(pids[c.PgConn().PID()], true))
	}
	if churn && len(pids) < 2 {
		return errors.New("the server connection never changed: this run has shown nothing")
	}
	return nil
}

func listenAndNotify(ctx context.Context, listener *pgx.Conn) error {
	if err := exec(ctx, listener, "listen pgx_news"); err != nil {
		return err
	}
	return connected(url, func(ctx context.Context, speaker *pgx.Conn) error {
		if _, err := speaker.Exec(ctx, "select pg_notify('pgx_news', $1)", "extra"); err != nil {
			return err
		}
		news, err := listener.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		return same(news.Channel+" "+news.Payload, "pgx_news extra")
	})
}

func temporaryTables(ctx context.Context, c *pgx.Conn) error {
	if err := exec(ctx, c, "create temp table scratch (v int)", "insert into scratch values (5)"); err != nil {
		return err
	}
	return expect(ctx, c, 5, "select v from scratch")
}
