(ns trunkline.jdbc
  "next.jdbc's functions on this client. To move a program, change the namespace that it requires. The functions of
  next.jdbc.sql are in trunkline.sql.

  This is not a JDBC driver: it has no java.sql.Connection, so Hibernate, jOOQ, HikariCP, Flyway and their like cannot
  use it. Parameters are `?` outside of texts, names, comments and dollar quotes (`??` for the operators with a question
  mark), or $1, $2 and so on."
  (:require [clojure.string :as string]
            [trunkline.core :as core]
            [trunkline.shapes :as shapes])
  (:import (io.github.trunkline Connection)
           (io.github.trunkline.clojure Placeholders SqlText)
           (io.github.trunkline.config Config)
           (io.github.trunkline.pool Pool)
           (io.github.trunkline.row Rows)))

(set! *warn-on-reflection* true)

(def as-maps "Maps with the table's name in each key: next.jdbc's default." {:keys :qualified})
(def as-unqualified-maps "Maps with the columns' names." {})
(def as-kebab-maps "Maps with the table's name in each key, all in kebab case." {:keys :qualified-kebab})
(def as-unqualified-kebab-maps "Maps with the columns' names in kebab case." {:keys :kebab})
(def as-lower-maps "As `as-maps`: PostgreSQL's names are in lower case unless they were quoted." as-maps)
(def as-unqualified-lower-maps "As `as-unqualified-maps`." as-unqualified-maps)
(def as-arrays
  "A vector of the keys, with the table's name in each, then a vector for each row."
  {:as :arrays :keys :qualified})
(def as-unqualified-arrays "A vector of the keys, then a vector for each row." {:as :arrays})
(def as-lower-arrays "As `as-arrays`." as-arrays)
(def as-unqualified-lower-arrays "As `as-unqualified-arrays`." as-unqualified-arrays)

(defn- snake [n] (string/replace n "-" "_"))

(def snake-kebab-opts
  "Options for maps in kebab case of names in snake case, and for trunkline.sql's names the other way round."
  {:builder-fn as-kebab-maps :table-fn snake :column-fn snake})
(def unqualified-snake-kebab-opts
  "The same without the tables' names."
  {:builder-fn as-unqualified-kebab-maps :table-fn snake :column-fn snake})

(def ^:private properties
  "pgjdbc's properties that have another name here."
  {"ApplicationName" "application_name" "currentSchema" "search_path" "connectTimeout" "connect_timeout"
   "loginTimeout" "connect_timeout" "targetServerType" "target_session_attrs" "loadBalanceHosts" "load_balance_hosts"})

(def ^:private needless
  "pgjdbc's properties that this client does not need, because it does the same anyway or in another way."
  #{"reWriteBatchedInserts" "prepareThreshold" "preparedStatementCacheQueries" "preparedStatementCacheSizeMiB"
    "binaryTransfer" "stringtype" "tcpKeepAlive" "defaultRowFetchSize" "tcpNoDelay" "assumeMinServerVersion"})

(def ^:private words
  "Values of pgjdbc's properties by the names here."
  {"target_session_attrs" {"master" "primary" "secondary" "standby" "preferSecondary" "prefer-standby"
                           "preferPrimary" "any"}
   "load_balance_hosts" {"true" "random" "false" "disable"}})

(defn- property
  "A property of a URL under its name in this client; nil if this client does not need it."
  [part]
  (let [[k v] (string/split part #"=" 2)
        k' (properties k k)]
    (when-not (needless k)
      (str k' (when v (str "=" (get-in words [k' v] v)))))))

(defn- url-of
  "A URL for `core/connect` of one of JDBC's, `jdbc:postgresql://host/database` or `jdbc:postgresql:database`."
  [url]
  (let [[address options] (string/split (string/replace url #"^jdbc:" "") #"\?" 2)
        address (string/replace address #"^(postgres(?:ql)?):(?!//)/?" "$1:///")
        kept (when options (keep property (string/split options #"&")))]
    (cond-> address (seq kept) (str "?" (string/join "&" kept)))))

(defn- spec-of
  "Converts a spec of next.jdbc for `core/connect`."
  [spec]
  (cond
    (string? spec) (url-of spec)
    (:jdbcUrl spec) (let [{:keys [jdbcUrl user username password]} spec
                          ^Config config (core/config (spec-of jdbcUrl))
                          builder (.toBuilder config)]
                      (some->> (or user username) (.user builder))
                      (some->> password (.password builder))
                      (.build builder))
    (map? spec) (cond-> (into {} (for [[k v] (dissoc spec :dbtype :username)
                                       :let [k' (properties (name k) (name k))]
                                       :when (not (needless (name k)))]
                                   [(keyword k') (get-in words [k' v] v)]))
                  (:username spec) (assoc :user (:username spec)))
    :else spec))

(defn get-datasource
  "A pool of a URL (with or without `jdbc:` before it), or of a map with `:host`, `:port`, `:user`, `:password` and `:dbname`
  (`:dbtype` is ignored), or with `:jdbcUrl`."
  [spec]
  (if (instance? Pool spec)
    spec
    (core/pool (spec-of spec))))

(defrecord ^:private WithOptions [source options])

(defn with-options
  "`source` with default options for every function of this namespace."
  [source options]
  (->WithOptions source options))

(defn- source-of [source] (if (instance? WithOptions source) (:source source) source))

(defn options-for
  "The options of a call: its own, and by default those of `with-options`."
  [source options]
  (if (instance? WithOptions source) (merge (:options source) options) options))

(defn get-connection
  "A new connection, to be closed. `spec` is as for `get-datasource`, but not a pool."
  ^Connection [spec]
  (core/connect (spec-of spec)))

(defmacro on-connection
  "Runs `body` with `name` bound to a connection of `source`, the same one for all of it."
  [[name source] & body]
  `(core/with-connection* (#'source-of ~source) (fn [~(vary-meta name assoc :tag `Connection)] ~@body)))

(defrecord ^:private Prepared [source sql-params options]
  java.lang.AutoCloseable
  ;; The connection keeps the statement by its text, for later calls.
  (close [_]))

(defn- numbered [[sql & parameters]]
  (into [(Placeholders/number sql)] parameters))

(defn prepare
  "A statement of a connection, prepared now, for `execute!`, `execute-one!`, `plan` and `execute-batch!`. A connection
  prepares all statements and keeps them by their text anyway, so that this is rarely needed."
  ([connection sql-params] (prepare connection sql-params {}))
  ([connection sql-params options]
   (let [^Connection on (source-of connection)]
     (.prepare on ^String (first (numbered sql-params))))
   (->Prepared connection sql-params options)))

(defn- returning
  "The statement with a `returning` clause for all columns or the given ones. Only if it changes rows, and has none yet."
  [sql return-keys]
  (if (or (SqlText/hasWord sql "returning")
          (not (#{"insert" "update" "delete" "merge" "with"} (SqlText/firstWord sql)))
          (not-any? #(SqlText/hasWord sql %) ["insert" "update" "delete" "merge"]))
    sql
    ;; On a line of its own, since the text may end with a comment.
    (str (SqlText/trimmed sql) "\nreturning "
         (if (sequential? return-keys)
           (string/join ", " (map #(Connection/quoteIdentifier (name %)) return-keys))
           "*"))))

(defn- options-of [{:keys [builder-fn timeout]}]
  (when-not (or (nil? builder-fn) (map? builder-fn))
    (throw (IllegalArgumentException. (str ":builder-fn is one of trunkline.jdbc's own, such as as-unqualified-maps, not "
                                           (pr-str builder-fn)))))
  (cond-> (or builder-fn as-maps)
    ;; next.jdbc's timeout is in seconds.
    timeout (assoc :timeout-ms (* 1000 (long timeout)))))

(defn- at-most [most rows] (if (and most (pos? most)) (into [] (take most) rows) rows))

(defn- result [source [sql & parameters :as q] {:keys [as] :as options} max-rows]
  (core/with-connection* source
    (fn [^Connection connection]
      (let [^Rows rows (if (and (nil? parameters) (SqlText/hasSeveral sql))
                         ;; Several statements in one text cannot be prepared. The result is the first one's.
                         (first (core/script connection sql {:as :rows}))
                         (core/query connection q (assoc options :as :rows)))
            columns (.columns rows)]
        (cond
          (zero? (.size columns)) [{:next.jdbc/update-count (.affected rows)}]
          (= :arrays as) (into [(vec (.all (shapes/keys-of connection columns (:keys options))))]
                               (at-most max-rows (shapes/shaped connection rows {:as :vectors})))
          :else (at-most max-rows (shapes/shaped connection rows options)))))))

(defn execute!
  "Runs a statement, a vector of a text and its parameters. Returns a vector of its rows, or of one map with
  `:next.jdbc/update-count` if it returns no rows. A text of several statements, without parameters, returns the first one's
  result. Options: `:builder-fn` (`as-unqualified-maps` and its like above), `:timeout` in seconds, `:max-rows`,
  `:return-keys` (true, or names of columns: the result is the rows that an insert, update, delete or merge has changed)."
  ([{:keys [source sql-params options]}] (execute! source sql-params options))
  ([source sql-params] (execute! source sql-params {}))
  ([source sql-params options]
   (let [options (options-for source options)
         [sql & parameters] sql-params
         sql (cond-> sql (:return-keys options) (returning (:return-keys options)))]
     (result (source-of source) (numbered (into [sql] parameters)) (options-of options) (:max-rows options)))))

(defn execute-one!
  "As `execute!`, but returns the first row only, or nil."
  ([{:keys [source sql-params options]}] (execute-one! source sql-params options))
  ([source sql-params] (execute-one! source sql-params {}))
  ([source sql-params options]
   (let [rows (execute! source sql-params options)]
     (if (= :arrays (:as (:builder-fn (options-for source options)))) (second rows) (first rows)))))

(defn plan
  "A reducible of a statement's rows, read as they arrive, `:fetch-size` at a time, at most `:max-rows`. Keys are the columns'
  names without the table's. A lookup with a table's name, as in `(:users/id row)`, works too, as in next.jdbc's own `plan`."
  ([{:keys [source sql-params options]}] (plan source sql-params options))
  ([source sql-params] (plan source sql-params {}))
  ([source sql-params options]
   (let [options (options-for source options)
         given (options-of options)]
     (cond->> (core/plan (source-of source) (numbered sql-params)
                         (cond-> (if (#{nil :qualified :qualified-kebab} (:keys given))
                                   (assoc given :keys :unqualified)
                                   given)
                           (= :arrays (:as given)) (assoc :as :vectors)
                           (:fetch-size options) (assoc :fetch-rows (:fetch-size options))))
       (some-> (:max-rows options) pos?) (eduction (take (:max-rows options)))))))

(defn execute-batch!
  "Runs one statement for each group of parameters, in one round trip and one transaction. Returns the update counts.
  Options: `:timeout` in seconds, for all together. Instead of a source and a text, give the result of `prepare`."
  ([prepared groups] (execute-batch! prepared groups {}))
  ([source sql groups]
   (if (instance? Prepared source)
     (execute-batch! (:source source) (first (:sql-params source)) sql (merge (:options source) groups))
     (execute-batch! source sql groups {})))
  ([source sql groups options]
   (core/execute-batch (source-of source) (Placeholders/number sql) groups
                       (select-keys (options-of (options-for source options)) [:timeout-ms]))))

(defn transact
  "Calls `f` with a connection in a transaction. Options as for `with-transaction`."
  ([source f] (transact source f {}))
  ([source f options]
   (core/transact (source-of source) f options)))

(defmacro with-transaction
  "Runs `body` in a transaction, with `name` bound to its connection. Options: `:isolation`, `:read-only`,
  `:rollback-only`. Within another transaction it is a savepoint."
  [[name source options] & body]
  `(transact ~source (fn [~name] ~@body) ~options))

(defmacro with-transaction+options
  "As `with-transaction`, but `name` has the options that `with-options` gave to `source`."
  [[name source options] & body]
  `(let [source# ~source]
     (transact source#
               (fn [tx#] (let [~name (with-options tx# (options-for source# {}))] ~@body))
               ~options)))
