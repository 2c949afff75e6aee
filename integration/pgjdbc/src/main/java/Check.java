// pgjdbc: server-prepared statements after five uses, batches, fetch sizes, COPY, savepoints, cancel from a thread.

import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

public final class Check {
  static final int BIG_BYTES = 8 << 20;
  static final int CLIENTS = 24;
  static final boolean SESSION = !"transaction".equals(System.getenv("POOL_MODE"));
  static final boolean CHURN = "1".equals(System.getenv("CHURN"));

  interface Work {
    void run(Connection connection) throws Exception;
  }

  interface Action {
    void run() throws Exception;
  }

  public static void main(String[] arguments) {
    Map<String, Work> checks = new LinkedHashMap<>();
    checks.put("parameters and types", Check::parametersAndTypes);
    checks.put("prepared statements across transactions", Check::preparedStatements);
    checks.put("prepared on the server from the first use", Check::preparedAtOnce);
    checks.put("more statements than the cache holds", Check::smallCache);
    checks.put("every query mode", Check::queryModes);
    checks.put("batch", Check::batch);
    checks.put("batch with an error", Check::batchWithError);
    checks.put("transactions and savepoints", Check::transactions);
    checks.put("autosave", Check::autosave);
    checks.put("rows in portions", Check::fetchSize);
    checks.put("copy in and out", Check::copyInAndOut);
    checks.put("cancel a running query", Check::cancel);
    checks.put("query timeout", Check::queryTimeout);
    checks.put("big rows", Check::bigRows);
    checks.put("many rows", Check::manyRows);
    checks.put("errors and going on", Check::errorsAndGoingOn);
    checks.put("parameters at start-up", Check::startupParameters);
    checks.put("parameters by set", Check::setParameters);
    checks.put("a changed table under a prepared statement", Check::changedTable);
    checks.put("read-only and isolation", Check::readOnly);
    checks.put("notices", Check::notices);
    checks.put("several statements in one query", Check::severalStatements);
    checks.put("generated keys", Check::generatedKeys);
    checks.put("metadata", Check::metadata);
    checks.put("many connections", Check::manyConnections);
    checks.put("server connection", Check::serverConnection);
    if (SESSION) {
      checks.put("listen and notify", Check::listenAndNotify);
      checks.put("temporary tables", Check::temporaryTables);
    }
    int failed = 0;
    for (Map.Entry<String, Work> check : checks.entrySet()) {
      long started = System.nanoTime();
      try (Connection connection = connect()) {
        check.getValue().run(connection);
        System.out.printf("ok      %s (%.2f s)%n", check.getKey(), (System.nanoTime() - started) / 1e9);
      } catch (Exception | AssertionError error) {
        failed++;
        System.out.println("FAILED  " + check.getKey());
        error.printStackTrace(System.out);
      }
    }
    System.out.printf("%d passed, %d failed%n", checks.size() - failed, failed);
    System.exit(failed == 0 ? 0 : 1);
  }

  static Connection connect(String... options) throws SQLException {
    URI uri = URI.create(System.getenv("DATABASE_URL"));
    String[] account = uri.getUserInfo().split(":", 2);
    Properties properties = new Properties();
    properties.setProperty("user", account[0]);
    properties.setProperty("password", account[1]);
    for (int i = 0; i < options.length; i += 2) {
      properties.setProperty(options[i], options[i + 1]);
    }
    String url = "jdbc:postgresql://" + uri.getHost() + ":" + uri.getPort() + uri.getPath();
    return DriverManager.getConnection(url, properties);
  }

  static void same(Object got, Object wanted) {
    if (!Objects.equals(got, wanted)) {
      throw new AssertionError("got " + shorten(got) + ", expected " + shorten(wanted));
    }
  }

  static String shorten(Object value) {
    String text = String.valueOf(value);
    return text.length() < 200 ? text : text.substring(0, 200) + "...";
  }

  static void fails(String state, Action action) throws Exception {
    try {
      action.run();
    } catch (SQLException error) {
      if (!state.equals(error.getSQLState())) {
        throw new AssertionError("SQLSTATE " + error.getSQLState() + ", expected " + state, error);
      }
      return;
    }
    throw new AssertionError("no error, expected " + state);
  }

  static void execute(Connection c, String... statements) throws SQLException {
    try (Statement statement = c.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  static String scalar(Connection c, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = c.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        return rows.getString(1);
      }
    }
  }

  static void parametersAndTypes(Connection c) throws Exception {
    try (PreparedStatement statement = c.prepareStatement("select ?::int, ?::text, ?::float8, ?::bytea, ?::int[], null")) {
      statement.setInt(1, 7);
      statement.setString(2, "ünïcödé");
      statement.setDouble(3, 1.5);
      statement.setBytes(4, new byte[] {0, 1, -1});
      statement.setArray(5, c.createArrayOf("int4", new Integer[] {1, 2}));
      // Past five uses, pgjdbc goes over to a named statement and binary results.
      for (int turn = 0; turn < 10; turn++) {
        try (ResultSet rows = statement.executeQuery()) {
          rows.next();
          same(rows.getInt(1), 7);
          same(rows.getString(2), "ünïcödé");
          same(rows.getDouble(3), 1.5);
          same(Arrays.toString(rows.getBytes(4)), "[0, 1, -1]");
          same(Arrays.toString((Integer[]) rows.getArray(5).getArray()), "[1, 2]");
          same(rows.getObject(6), null);
        }
      }
    }
  }

  static void preparedStatements(Connection c) throws Exception {
    try (PreparedStatement one = c.prepareStatement("select ?::int + 1");
        PreparedStatement two = c.prepareStatement("select ?::int * 2")) {
      for (int n = 0; n < 60; n++) {
        same(value(one, n), n + 1);
        same(value(two, n), n * 2);
      }
      c.setAutoCommit(false);
      for (int n = 0; n < 20; n++) {
        same(value(one, n), n + 1);
        same(value(two, n), n * 2);
        if (n % 2 == 0) {
          c.commit();
        } else {
          c.rollback();
        }
      }
    }
  }

  static int value(PreparedStatement statement, int parameter) throws SQLException {
    statement.setInt(1, parameter);
    try (ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    }
  }

  static void preparedAtOnce(Connection unused) throws Exception {
    try (Connection c = connect("prepareThreshold", "-1")) {
      for (int n = 0; n < 30; n++) {
        same(scalar(c, "select ?::int + 1", n), String.valueOf(n + 1));
      }
    }
  }

  static void smallCache(Connection unused) throws Exception {
    try (Connection c = connect("prepareThreshold", "1", "preparedStatementCacheQueries", "10")) {
      for (int turn = 0; turn < 3; turn++) {
        for (int n = 0; n < 30; n++) {
          same(scalar(c, "select ?::int + " + n, turn), String.valueOf(turn + n));
        }
      }
    }
  }

  static void queryModes(Connection unused) throws Exception {
    for (String mode : new String[] {"simple", "extended", "extendedForPrepared", "extendedCacheEverything"}) {
      try (Connection c = connect("preferQueryMode", mode)) {
        for (int n = 0; n < 20; n++) {
          same(scalar(c, "select ?::int + 1", n), String.valueOf(n + 1));
          execute(c, "select 1");
        }
      }
    }
  }

  static void batch(Connection c) throws Exception {
    execute(c, "drop table if exists jdbc_batch", "create table jdbc_batch (a int primary key, b text)");
    c.setAutoCommit(false);
    try (PreparedStatement statement = c.prepareStatement("insert into jdbc_batch values (?, ?)")) {
      for (int n = 0; n < 5000; n++) {
        statement.setInt(1, n);
        statement.setString(2, "row " + n);
        statement.addBatch();
      }
      same(IntStream.of(statement.executeBatch()).sum(), 5000);
    }
    c.commit();
    same(scalar(c, "select count(*) from jdbc_batch"), "5000");
    execute(c, "drop table jdbc_batch");
    c.commit();
  }

  static void batchWithError(Connection c) throws Exception {
    execute(c, "drop table if exists jdbc_bad", "create table jdbc_bad (a int primary key)");
    c.setAutoCommit(false);
    for (int turn = 0; turn < 3; turn++) {
      try (PreparedStatement statement = c.prepareStatement("insert into jdbc_bad values (?)")) {
        for (int n : new int[] {1, 2, 1, 3}) {
          statement.setInt(1, n);
          statement.addBatch();
        }
        fails("23505", statement::executeBatch);
        fails("25P02", () -> scalar(c, "select 1"));
        c.rollback();
      }
    }
    same(scalar(c, "select count(*) from jdbc_bad"), "0");
    execute(c, "drop table jdbc_bad");
    c.commit();
  }

  static void transactions(Connection c) throws Exception {
    execute(c, "drop table if exists jdbc_tx", "create table jdbc_tx (v int primary key)");
    c.setAutoCommit(false);
    execute(c, "insert into jdbc_tx values (1)");
    Savepoint before = c.setSavepoint("before");
    fails("23505", () -> execute(c, "insert into jdbc_tx values (1)"));
    c.rollback(before);
    execute(c, "insert into jdbc_tx values (3)");
    c.commit();
    execute(c, "delete from jdbc_tx");
    c.rollback();
    same(scalar(c, "select string_agg(v::text, ',' order by v) from jdbc_tx"), "1,3");
    execute(c, "drop table jdbc_tx");
    c.commit();
  }

  static void autosave(Connection unused) throws Exception {
    // A savepoint of pgjdbc's own before each query.
    try (Connection c = connect("autosave", "always", "cleanupSavepoints", "true")) {
      c.setAutoCommit(false);
      for (int n = 0; n < 10; n++) {
        same(scalar(c, "select ?::int", n), String.valueOf(n));
        fails("22012", () -> scalar(c, "select 1 / ?::int", 0));
        same(scalar(c, "select ?::int", n), String.valueOf(n));
      }
      c.commit();
    }
  }

  static void fetchSize(Connection c) throws Exception {
    c.setAutoCommit(false);
    try (PreparedStatement statement = c.prepareStatement("select g from generate_series(1, ?) g")) {
      statement.setFetchSize(300);
      statement.setInt(1, 10_000);
      long total = 0;
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          total += rows.getInt(1);
        }
      }
      same(total, 50_005_000L);
    }
    c.commit();
  }

  static void copyInAndOut(Connection c) throws Exception {
    execute(c, "drop table if exists jdbc_copy", "create table jdbc_copy (a int, b text)");
    StringBuilder text = new StringBuilder();
    for (int n = 0; n < 50_000; n++) {
      text.append(n).append("\trow ").append(n).append('\n');
    }
    CopyManager copy = c.unwrap(PGConnection.class).getCopyAPI();
    same(copy.copyIn("copy jdbc_copy from stdin", new StringReader(text.toString())), 50_000L);
    ByteArrayOutputStream back = new ByteArrayOutputStream();
    same(copy.copyOut("copy (select * from jdbc_copy order by a) to stdout", back), 50_000L);
    same(back.toString(StandardCharsets.UTF_8).contentEquals(text), true);
    fails("22P02", () -> copy.copyIn("copy jdbc_copy from stdin", new StringReader("x\ty\n".repeat(50_000))));
    same(scalar(c, "select count(*) from jdbc_copy"), "50000");
    execute(c, "drop table jdbc_copy");
  }

  static void cancel(Connection observer) throws Exception {
    try (Connection c = connect(); Statement statement = c.createStatement()) {
      var executor = Executors.newSingleThreadExecutor();
      Future<?> asked = executor.submit(() -> {
        String sleeping = "select count(*) from pg_stat_activity where query like '%jdbc sleeper%' and wait_event = 'PgSleep'";
        while (!scalar(observer, sleeping).equals("1")) {
          Thread.onSpinWait();
        }
        statement.cancel();
        return null;
      });
      fails("57014", () -> statement.execute("select pg_sleep(600) /* jdbc sleeper */"));
      asked.get();
      executor.shutdown();
      same(scalar(c, "select 1"), "1");
    }
  }

  static void queryTimeout(Connection c) throws Exception {
    try (Statement statement = c.createStatement()) {
      statement.setQueryTimeout(1);
      fails("57014", () -> statement.execute("select pg_sleep(600)"));
    }
    for (int n = 0; n < 20; n++) {
      same(scalar(c, "select ?::int", n), String.valueOf(n));
    }
  }

  static void bigRows(Connection c) throws Exception {
    same(scalar(c, "select repeat('x', ?)", BIG_BYTES).length(), BIG_BYTES);
    byte[] payload = new byte[BIG_BYTES];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) i;
    }
    try (PreparedStatement statement = c.prepareStatement("select ?::bytea")) {
      statement.setBytes(1, payload);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        same(Arrays.equals(rows.getBytes(1), payload), true);
      }
    }
  }

  static void manyRows(Connection c) throws Exception {
    try (Statement statement = c.createStatement();
        ResultSet rows = statement.executeQuery("select g, 'row ' || g from generate_series(1, 100000) g")) {
      int count = 0;
      String last = null;
      while (rows.next()) {
        count++;
        last = rows.getString(2);
      }
      same(count, 100_000);
      same(last, "row 100000");
    }
  }

  static void errorsAndGoingOn(Connection c) throws Exception {
    for (int n = 0; n < 10; n++) {
      fails("42601", () -> execute(c, "selec 1"));
      fails("42P01", () -> scalar(c, "select * from nothing_here where v = ?", 1));
      fails("22012", () -> scalar(c, "select 1 / ?::int", 0));
      same(scalar(c, "select 1 / ?::int", 1), "1");
    }
  }

  static void startupParameters(Connection unused) throws Exception {
    try (Connection c = connect("ApplicationName", "pgjdbc check")) {
      for (int n = 0; n < 30; n++) {
        same(scalar(c, "show application_name"), "pgjdbc check");
        same(scalar(c, "show DateStyle"), "ISO, MDY");
      }
    }
  }

  static void setParameters(Connection c) throws Exception {
    execute(c, "set timezone to 'Asia/Kathmandu'");
    c.setClientInfo("ApplicationName", "renamed");
    for (int n = 0; n < 30; n++) {
      same(scalar(c, "show timezone"), "Asia/Kathmandu");
      same(scalar(c, "show application_name"), "renamed");
    }
    same(c.unwrap(PGConnection.class).getParameterStatus("TimeZone"), "Asia/Kathmandu");
  }

  static void changedTable(Connection other) throws Exception {
    try (Connection c = connect("prepareThreshold", "1")) {
      execute(c, "drop table if exists jdbc_changed", "create table jdbc_changed (a int)", "insert into jdbc_changed values (1)");
      try (PreparedStatement statement = c.prepareStatement("select * from jdbc_changed")) {
        for (int n = 0; n < 5; n++) {
          same(columns(statement), 1);
        }
        execute(other, "alter table jdbc_changed add b text default 'new'");
        // pgjdbc prepares again by itself outside a transaction, unless the pooler has done so before.
        same(columns(statement), 2);
      }
      execute(c, "drop table jdbc_changed");
    }
  }

  static int columns(PreparedStatement statement) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      return rows.getMetaData().getColumnCount();
    }
  }

  static void readOnly(Connection c) throws Exception {
    c.setAutoCommit(false);
    c.setReadOnly(true);
    if (SESSION) {
      // SET SESSION CHARACTERISTICS: state of one server connection, which PostgreSQL does not report.
      c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      same(scalar(c, "show transaction_isolation"), "repeatable read");
    }
    same(scalar(c, "show transaction_read_only"), "on");
    fails("25006", () -> execute(c, "create table jdbc_never (v int)"));
    c.rollback();
    c.setReadOnly(false);
    execute(c, "drop table if exists jdbc_never");
    c.commit();
  }

  static void notices(Connection c) throws Exception {
    try (Statement statement = c.createStatement()) {
      statement.execute("do $$ begin raise notice 'hear %', 'me'; raise warning 'and me'; end $$");
      same(statement.getWarnings().getMessage(), "hear me");
      same(statement.getWarnings().getNextWarning().getMessage(), "and me");
    }
  }

  static void severalStatements(Connection c) throws Exception {
    try (Statement statement = c.createStatement()) {
      statement.execute("select 1; select 2");
      same(statement.getMoreResults(), true);
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        same(rows.getInt(1), 2);
      }
    }
  }

  static void generatedKeys(Connection c) throws Exception {
    execute(c, "drop table if exists jdbc_keys", "create table jdbc_keys (id serial primary key, v text)");
    String insert = "insert into jdbc_keys (v) values (?)";
    try (PreparedStatement statement = c.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
      for (int n = 1; n <= 20; n++) {
        statement.setString(1, "v" + n);
        same(statement.executeUpdate(), 1);
        try (ResultSet keys = statement.getGeneratedKeys()) {
          keys.next();
          same(keys.getInt("id"), n);
        }
      }
    }
    execute(c, "drop table jdbc_keys");
  }

  static void metadata(Connection c) throws Exception {
    execute(c, "drop table if exists jdbc_meta", "create table jdbc_meta (id int primary key, v text)");
    try (ResultSet columns = c.getMetaData().getColumns(null, "public", "jdbc_meta", null)) {
      columns.next();
      same(columns.getString("COLUMN_NAME"), "id");
      columns.next();
      same(columns.getString("TYPE_NAME"), "text");
    }
    try (PreparedStatement statement = c.prepareStatement("select * from jdbc_meta where id = ?")) {
      same(statement.getMetaData().getColumnCount(), 2);
      same(statement.getParameterMetaData().getParameterTypeName(1), "int4");
    }
    same(c.isValid(10), true);
    execute(c, "drop table jdbc_meta");
  }

  static void manyConnections(Connection unused) throws Exception {
    var executor = Executors.newFixedThreadPool(CLIENTS);
    var futures = IntStream.range(0, CLIENTS).mapToObj(number -> executor.submit(() -> {
      try (Connection c = connect("prepareThreshold", "2")) {
        c.setAutoCommit(false);
        for (int turn = 0; turn < 30; turn++) {
          same(scalar(c, "select ?::int", number), String.valueOf(number));
          same(scalar(c, "select ?::int + " + number, turn), String.valueOf(turn + number));
          c.commit();
        }
      }
      return null;
    })).toList();
    for (Future<?> future : futures) {
      future.get();
    }
    executor.shutdown();
  }

  static void serverConnection(Connection c) throws Exception {
    Set<String> pids = new HashSet<>();
    int turns = SESSION ? 50 : 5000;
    for (int n = 0; n < turns && (SESSION || pids.size() < 2); n++) {
      pids.add(scalar(c, "select pg_backend_pid()"));
    }
    if (SESSION) {
      same(pids, Set.of(String.valueOf(c.unwrap(PGConnection.class).getBackendPID())));
    } else if (CHURN && pids.size() < 2) {
      throw new AssertionError("the server connection never changed: this run has shown nothing");
    }
  }

  static void listenAndNotify(Connection listener) throws Exception {
    execute(listener, "listen jdbc_news");
    try (Connection speaker = connect()) {
      execute(speaker, "notify jdbc_news, 'extra'");
    }
    var news = listener.unwrap(PGConnection.class).getNotifications(20_000);
    same(news.length, 1);
    same(news[0].getName() + " " + news[0].getParameter(), "jdbc_news extra");
  }

  static void temporaryTables(Connection c) throws Exception {
    execute(c, "create temp table scratch (v int)", "insert into scratch values (5)");
    same(scalar(c, "select v from scratch"), "5");
  }
}
