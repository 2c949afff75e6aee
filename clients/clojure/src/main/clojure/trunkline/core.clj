(ns trunkline.core
  "A PostgreSQL client. A source is a connection (`connect`) or a pool (`pool`); a query is a text with $1, $2 and so on,
  or a vector of such a text and its parameters, as HoneySQL's `format` with `:numbered true` makes them.

  Rows are maps that keep the received bytes, and decode a value when the program first asks for it. Otherwise they are
  ordinary maps: equal, hashed, printed, destructured and associated like any map, and safe to share between threads."
  (:refer-clojure :exclude [reduce])
  (:require [clojure.string :as string]
            [trunkline.shapes :as shapes])
  (:import (clojure.lang IReduceInit)
           (io.github.trunkline Connection Query QueryListener Notification PostgresException ServerException
                                TransactionMode
                                TransactionMode$Isolation)
           (io.github.trunkline.clojure Placeholders Results RowMap)
           (io.github.trunkline.config Config)
           (io.github.trunkline.copy CopyIn CopyOut)
           (io.github.trunkline.pool Pool Pool$Settings)
           (io.github.trunkline.row Row Rows Values)
           (io.github.trunkline.type JsonCodec Types)
           (io.github.trunkline.wire Fields)
           (java.time Duration)
           (java.util HashMap List Map)))

(set! *warn-on-reflection* true)

;;; Connecting

(defn config
  "A `Config` made from a URL or a map; a `Config` is returned unchanged. A map has libpq's names as keywords, in kebab case
  or not: `{:host \"localhost\" :port 5432 :user \"app\" :password \"...\" :dbname \"app\" :sslmode :require}`; any other name is
  a parameter of the session, such as `:search_path`. `:jdbc-url`-like strings begin with postgres:// or postgresql://."
  ^Config [source]
  (cond
    (instance? Config source) source
    (string? source) (Config/of ^String source)
    (map? source) (let [keywords (HashMap.)]
                    (doseq [[k v] source
                            :when (and (some? v) (not (#{:types :json-read :json-write} k)))]
                      (.put keywords
                            (string/replace (name k) "-" "_")
                            (if (keyword? v) (name v) (str v))))
                    (Config/of ^Map keywords))
    :else (throw (IllegalArgumentException. (str "neither a URL, nor a map, nor a Config: " (class source))))))

(defn- adapted
  "Types that accept Clojure's values as parameters, at any depth."
  ^Types [^Types types]
  (.adapt types (reify java.util.function.UnaryOperator (apply [_ value] (Results/parameter value)))))

(defn types
  "The codecs of a connection. `:json-read` is a function of a json or jsonb document, a String; `:json-write` turns a
  parameter of these types into a String. Without them documents are Strings."
  (^Types [] (types {}))
  (^Types [{:keys [json-read json-write]}]
   (adapted
    (if (or json-read json-write)
      (Types. (reify JsonCodec
                (read [_ bytes at length]
                  ((or json-read identity) (String. ^bytes bytes (int at) (int length) "UTF-8")))
                (write [_ value]
                  (.getBytes ^String ((or json-write str) value) "UTF-8"))))
      (Types.)))))

(defn- types-of ^Types [source]
  (or (and (map? source) (some-> (:types source) adapted))
      (types (if (map? source) (select-keys source [:json-read :json-write]) {}))))

(defn connect
  "A connection, to be closed. `source` is as for `config`; a map may have `:json-read` and `:json-write`, or `:types`, a
  `Types` of the Java client with the program's own codecs. Without a source the PG* environment says where to connect."
  (^Connection [] (connect (Config/fromEnvironment)))
  (^Connection [source]
   (Connection/connect (config source) (types-of source))))

(defn pool
  "A pool of connections, to be closed. Options: `:max` connections (10), `:wait-ms` for one (30000), `:idle-ms` before one
  is closed (600000), `:life-ms` of each (3600000), `:check-ms` idle before one is checked (1000),
  `:on-connect`, a function of each new connection."
  (^Pool [source] (pool source {}))
  (^Pool [source {:keys [max wait-ms idle-ms life-ms check-ms on-connect]
                  :or {max 10 wait-ms 30000 idle-ms 600000 life-ms 3600000 check-ms 1000}}]
   (let [settings (Pool$Settings. (int max) (Duration/ofMillis wait-ms) (Duration/ofMillis idle-ms)
                                  (Duration/ofMillis life-ms) (Duration/ofMillis check-ms))
         made (Pool/open (config source) settings (types-of source))]
     (when on-connect
       (.onConnect made (reify java.util.function.Consumer (accept [_ connection] (on-connect connection)))))
     made)))

(defn with-connection*
  "Calls `f` with a connection of `source`: a pool's, the connection itself, or a new one that is closed afterwards."
  [source f]
  (cond
    (instance? Pool source) (.with ^Pool source (reify java.util.function.Function (apply [_ connection] (f connection))))
    (instance? Connection source) (f source)
    :else (with-open [connection (connect source)] (f connection))))

(defmacro with-connection
  "Runs `body` with `name` bound to a connection of `source`: a pool, a connection, or what `connect` takes."
  [[name source] & body]
  `(with-connection* ~source (fn [~(vary-meta name assoc :tag `Connection)] ~@body)))

;;; Queries

(defn- numbered
  "The vector's text, with each `?` replaced by $1, $2 and so on, unless it has these already. Without parameters a `?` is an
  operator."
  ^String [[sql & parameters]]
  (if parameters (Placeholders/numberUnlessNumbered (str sql)) (str sql)))

(defn- query-of ^Query [query {:keys [timeout-ms fetch-rows]}]
  (let [^Query made (cond
                      (instance? Query query) query
                      (string? query) (Query/of query (object-array 0))
                      (sequential? query) (Query/of (numbered query) (Results/parameters (rest query)))
                      :else (throw (IllegalArgumentException.
                                    (str "a query is a text, or a vector of one and its parameters, not a "
                                         (class query)))))]
    (cond-> made
      timeout-ms (.timeout (Duration/ofMillis timeout-ms))
      fetch-rows (.fetchRows (int fetch-rows)))))

(defn query
  "Runs a query and returns its rows. Options:

  - `:as`: `:maps` (a vector of maps), `:vectors`, `:columns` (one map from key to a vector of values), or `:rows` (the
    Java client's own `Rows`)
  - `:keys`: nil (the column's name as a keyword), `:kebab`, `:qualified`, `:qualified-kebab`, or a function of the name
  - `:timeout-ms`: a deadline, after which the server is told to cancel"
  ([source q] (query source q nil))
  ([source q options]
   (let [made (query-of q options)]
     (cond
       ;; All values are wanted, so that they are decoded while the rows arrive.
       (= :vectors (:as options))
       (Results/vectors ^Values (with-connection* source #(.queryValues ^Connection % made)))

       ;; The pool gets the connection back as soon as the bytes are read.
       (and (instance? Pool source) (not (#{:qualified :qualified-kebab} (:keys options))))
       (shapes/shaped nil (.query ^Pool source made) options)

       :else
       (with-connection* source #(shapes/shaped % (.query ^Connection % made) options))))))

(defn query-one
  "Runs a query and returns its first row, or nil. Options as for `query`."
  ([source q] (query-one source q nil))
  ([source q options] (first (query source q options))))

(defn execute
  "Runs a statement and returns how many rows it changed. Options: `:timeout-ms`."
  ([source q] (execute source q nil))
  ([source q options]
   (.affected ^Rows (query source q (assoc options :as :rows)))))

(defn plan
  "A reducible of a query's rows. Each reduction runs the query, holds a connection, and reads rows as they arrive, in
  bounded memory; `reduced` ends it early. Rows are maps, or vectors if `:as` is `:vectors`; the program may keep them.
  Options as for `query`, and `:fetch-rows`: how many are asked for at a time (2000), 0 for all."
  ([source q] (plan source q nil))
  ([source q options]
   (reify IReduceInit
     (reduce [_ f init]
       (with-connection* source
         (fn [^Connection connection]
           (let [made (query-of q options)]
             (loop []
               (let [columns (.columns connection (.sql made))
                     ;; Before the stream begins, since the connection cannot be used during it.
                     ks (when-not (= :vectors (:as options))
                          (some->> columns (#(shapes/keys-of connection % (:keys options)))))
                     as-value (if ks (fn [^Row row] (RowMap/of ks row)) (fn [^Row row] (RowMap/vector row)))
                     result (with-open [rows (.stream connection made)]
                              ;; If not, a table has changed meanwhile, and the statement was prepared again.
                              (if (identical? columns (.columns rows))
                                (Results/reduce rows as-value f init)
                                ::changed))]
                 (if (identical? ::changed result) (recur) result))))))))))

(defn script
  "Runs a text of several statements, without parameters, and returns the rows of each. Options as for `query`."
  ([source sql] (script source sql nil))
  ([source sql options]
   (with-connection* source
     (fn [^Connection connection]
       (mapv #(shapes/shaped connection % options) (.script connection sql))))))

(defn pipeline
  "Runs queries one after the other in one round trip and one transaction, and returns the rows of each. Options as for
  `query`, for all of them; `:timeout-ms` is for all together."
  ([source queries] (pipeline source queries nil))
  ([source queries options]
   (let [made (mapv #(query-of % options) queries)]
     (with-connection* source
       (fn [^Connection connection]
         (mapv #(shapes/shaped connection % options) (.pipeline connection ^List made)))))))

(defn execute-batch
  "Runs one statement for each of `parameter-sets`, in one round trip and one transaction, and returns how many rows each
  changed. Options: `:timeout-ms`, for all together."
  ([source sql parameter-sets] (execute-batch source sql parameter-sets nil))
  ([source sql parameter-sets {:keys [timeout-ms]}]
   (with-connection* source
     (fn [^Connection connection]
       (let [sql (Placeholders/numberUnlessNumbered sql)
             ^Iterable sets (mapv #(vec (Results/parameters %)) parameter-sets)]
         (mapv #(.affected ^Rows %)
               (if timeout-ms
                 (.batch connection sql sets (Duration/ofMillis timeout-ms))
                 (.batch connection sql sets))))))))

(defn prepare
  "Prepares a statement on a connection before its first use, and returns a function of its parameters that runs it and
  returns its rows. A connection keeps all statements by their text anyway: this saves only the first use a round trip."
  ([connection sql] (prepare connection sql nil))
  ([^Connection connection sql options]
   (.prepare connection ^String sql)
   (fn [& parameters] (query connection (into [sql] parameters) options))))

;;; Transactions

(defn- mode ^TransactionMode [{:keys [isolation read-only deferrable]}]
  (TransactionMode. (case isolation
                      nil TransactionMode$Isolation/DEFAULT
                      ;; PostgreSQL treats read uncommitted as read committed.
                      (:read-committed :read-uncommitted) TransactionMode$Isolation/READ_COMMITTED
                      :repeatable-read TransactionMode$Isolation/REPEATABLE_READ
                      :serializable TransactionMode$Isolation/SERIALIZABLE
                      (throw (IllegalArgumentException. (str "there is no isolation level " isolation))))
                    (boolean read-only) (boolean deferrable)))

(defn transact
  "Calls `f` with a connection in a transaction, and commits it; rolls back if `f` throws. Within a transaction this is a
  savepoint. Options: `:isolation` (`:read-committed`, `:repeatable-read`, `:serializable`), `:read-only`, `:deferrable`,
  `:rollback-only` (never commits)."
  ([source f] (transact source f nil))
  ([source f {:keys [rollback-only] :as options}]
   (with-connection* source
     (fn [^Connection connection]
       (let [kept (volatile! nil)
             signal (when rollback-only (ex-info "rolled back, as asked" {}))]
         (try
           (.transaction connection (mode options)
                         (reify java.util.function.Function
                           (apply [_ tx]
                             (let [result (f tx)]
                               (when signal
                                 (vreset! kept result)
                                 (throw signal))
                               result))))
           (catch clojure.lang.ExceptionInfo e
             (if (and signal (identical? e signal)) @kept (throw e)))))))))

(defmacro with-transaction
  "Runs `body` in a transaction, with `name` bound to its connection. Options as for `transact`."
  [[name source options] & body]
  `(transact ~source (fn [~(vary-meta name assoc :tag `Connection)] ~@body) ~options))

;;; COPY

(defn- sets-of
  "Parameter sets for the Java client, converted lazily."
  ^Iterable [sets]
  (map #(vec (Results/parameters %)) sets))

(defn copy-in
  "Runs `COPY ... FROM STDIN` and returns how many rows the server took. `data` is an InputStream, a Reader, a String, or a
  sequence of rows. Rows want `:types`, the columns' object ids, and a statement WITH (FORMAT binary) or without options;
  `copy-rows` finds the types out by itself."
  ([source sql data] (copy-in source sql data nil))
  ([source sql data {:keys [types]}]
   (with-connection* source
     (fn [^Connection connection]
       (with-open [^CopyIn in (.copyIn connection sql)]
         (cond
           types (.rows in (int-array types) (sets-of data))
           (instance? java.io.InputStream data) (do (.transferTo ^java.io.InputStream data in) (.finish in))
           (or (string? data) (instance? java.io.Reader data))
           (let [writer (java.io.OutputStreamWriter. in "UTF-8")
                 ^java.io.Reader reader (if (string? data) (java.io.StringReader. data) data)]
             (.transferTo reader writer)
             ;; Flushed, not closed: closing undoes a COPY that is not finished.
             (.flush writer)
             (.finish in))
           :else (throw (IllegalArgumentException.
                         "data is an InputStream, a Reader or a String; rows of values want :types"))))))))

(defn copy-rows
  "Puts rows into a table by COPY and returns how many the server took. `table` is as SQL names it; `rows` is a sequence of
  sequences with a value for each of `columns`, or of maps with these keys. If one cannot be sent, the table stays unchanged."
  [source table columns rows]
  (let [values (fn [row] (if (map? row) (map #(get row %) columns) row))]
    (with-connection* source
      (fn [^Connection connection]
        (.copyRows connection (name table) ^List (mapv name columns) (sets-of (map values rows)))))))

(defn copy-out
  "Runs `COPY ... TO STDOUT` and writes its data to `out`, an OutputStream. With `:types`, the columns' object ids, and a
  statement WITH (FORMAT binary), `out` is a function of each row's values, a vector."
  ([source sql out] (copy-out source sql out nil))
  ([source sql out {:keys [types]}]
   (with-connection* source
     (fn [^Connection connection]
       (with-open [^CopyOut from (.copyOut connection sql)]
         (if types
           (.rows from (int-array types)
                  (reify java.util.function.Consumer (accept [_ row] (out (vec ^objects row)))))
           (.transferTo from ^java.io.OutputStream out))
         nil)))))

;;; LISTEN and NOTIFY

(defn listen
  "Begins to receive a channel's notifications on a connection."
  [^Connection connection channel]
  (.listen connection (name channel)))

(defn unlisten
  "Stops receiving a channel's notifications on a connection."
  [^Connection connection channel]
  (.unlisten connection (name channel)))

(defn notify
  "Notifies the sessions that listen to a channel."
  [source channel payload]
  (with-connection* source #(.notify ^Connection % (name channel) payload)))

(defn- notification [^Notification n]
  {:channel (.channel n) :payload (.payload n) :process-id (.processId n)})

(defn notifications
  "Takes the notifications that arrived with other answers."
  [^Connection connection]
  (mapv notification (.notifications connection)))

(defn await-notifications
  "Waits for notifications, at most so many milliseconds, and takes them."
  [^Connection connection milliseconds]
  (mapv notification (.awaitNotifications connection (Duration/ofMillis milliseconds))))

;;; More

(defn cancel
  "Asks the server to cancel a connection's query. To be called by another thread."
  [^Connection connection]
  (.cancel connection))

(defn on-query
  "Calls `f` after each query, stream and COPY of a connection, or of all that a pool lends from now on, for metrics, with a
  map of `:sql`, `:nanoseconds`, `:rows` and `:error` (nil or the exception). Nil removes a connection's listener."
  [source f]
  (let [listener (when f
                   (reify QueryListener
                     (finished [_ sql nanoseconds rows error]
                       (f {:sql sql :nanoseconds nanoseconds :rows rows :error error}))))]
    (if (instance? Pool source)
      (.onQuery ^Pool source listener)
      (.onQuery ^Connection source listener))
    nil))

(defn on-notice
  "Calls `f` with each notice of the server (`raise notice` and its like), a map of `:severity`, `:code`, `:message`,
  `:detail` and `:hint`, on the thread whose query it came with. It cannot use the connection itself."
  [^Connection connection f]
  (.onNotice connection
             (reify java.util.function.Consumer
               (accept [_ fields]
                 (let [text (fn [letter] (.orElse (.text ^Fields fields (char letter)) nil))]
                   (f {:severity (text \S) :code (text \C) :message (text \M) :detail (text \D) :hint (text \H)}))))))

(defn error-data
  "A `PostgresException` as a map: `:sql-state`, `:message`, and for a `ServerException`, or an exception caused by one,
  `:severity`, `:detail`, `:hint`, `:position`, `:constraint`, `:table` and `:column`, where the server has sent them."
  [^PostgresException e]
  (let [^ServerException server (first (filter #(instance? ServerException %) [e (.getCause e)]))
        all (cond-> {:sql-state (.sqlState e) :message (.getMessage e)}
              server (assoc :message (.primaryMessage server) :severity (.severity server)
                            :detail (.orElse (.detail server) nil) :hint (.orElse (.hint server) nil)
                            :position (.orElse (.position server) nil) :constraint (.orElse (.constraint server) nil)
                            :table (.orElse (.table server) nil) :column (.orElse (.column server) nil)))]
    (into {} (filter (comp some? val)) all)))

(defn detach
  "The row with its bytes in an array of its own. For a row that is kept for long while most of its neighbours are dropped."
  [^RowMap row]
  (.detach row))

(defn decoded
  "An ordinary map of a row, with all values decoded."
  [^RowMap row]
  (.toMap row))
