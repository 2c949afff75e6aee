(ns trunkline.jdbc
  "next.jdbc's functions on this client, so that moving a program takes minutes: change the namespace it requires. Those of
  next.jdbc.sql are in trunkline.sql.

  It is no JDBC driver: there is no java.sql.Connection in it, so Hibernate, jOOQ, HikariCP, Flyway and their like cannot
  use it. Parameters are `?` outside of texts, names, comments and dollar quotes (`??` for the operators with a question
  mark), or $1, $2 and so on."
  (:require [clojure.string :as string]
            [trunkline.core :as core])
  (:import (io.github.trunkline Connection)
           (io.github.trunkline.clojure Placeholders)
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
(def as-arrays "A vector of the keys, then a vector for each row." {:as :arrays})

(defn- spec-of
  "What `core/connect` takes, of what next.jdbc takes."
  [spec]
  (cond
    (string? spec) (string/replace spec #"^jdbc:" "")
    (:jdbcUrl spec) (let [{:keys [jdbcUrl user username password]} spec
                          ^Config config (core/config (spec-of jdbcUrl))
                          builder (.toBuilder config)]
                      (some->> (or user username) (.user builder))
                      (some->> password (.password builder))
                      (.build builder))
    (map? spec) (cond-> (dissoc spec :dbtype :username)
                  (:username spec) (assoc :user (:username spec)))
    :else spec))

(defn get-datasource
  "A pool of a URL (with or without `jdbc:` before it), or of a map with `:host`, `:port`, `:user`, `:password` and `:dbname`
  (`:dbtype` is looked over), or with `:jdbcUrl`."
  [spec]
  (if (instance? Pool spec)
    spec
    (core/pool (spec-of spec))))

(defrecord ^:private WithOptions [source options])

(defn with-options
  "`source` with default options for every function here that is given it."
  [source options]
  (->WithOptions source options))

(defn- source-of [source] (if (instance? WithOptions source) (:source source) source))

(defn- options-for [source options]
  (if (instance? WithOptions source) (merge (:options source) options) options))

(defn get-connection
  "A connection of its own, to be closed. `spec` is as for `get-datasource`, but no pool."
  ^Connection [spec]
  (core/connect (spec-of spec)))

(defmacro on-connection
  "Runs `body` with `name` bound to a connection of `source`, the same one for all of it."
  [[name source] & body]
  `(core/with-connection* (#'source-of ~source) (fn [~(vary-meta name assoc :tag `Connection)] ~@body)))

(defn- returning
  "The statement, made to give the rows that it changes, or these columns of them."
  [sql return-keys]
  (if (re-find #"(?i)\breturning\b" sql)
    sql
    (str sql " returning " (if (sequential? return-keys)
                             (string/join ", " (map #(Connection/quoteIdentifier (name %)) return-keys))
                             "*"))))

(defn- numbered [[sql & parameters]]
  (into [(Placeholders/number sql)] parameters))

(defn- options-of [{:keys [builder-fn timeout]}]
  (cond-> (or builder-fn as-maps)
    ;; next.jdbc's timeout is in seconds.
    timeout (assoc :timeout-ms (* 1000 (long timeout)))))

(defn- result [source q {:keys [as] :as options}]
  (core/with-connection* source
    (fn [connection]
      (let [^Rows rows (core/query connection q (assoc options :as :rows))
            columns (.columns rows)]
        (cond
          (zero? (.size columns)) [{:next.jdbc/update-count (.affected rows)}]
          (= :arrays as) (let [ks (mapv #(keyword (.name columns (int %))) (range (.size columns)))]
                           (into [ks] (core/rows-as rows nil {:as :vectors})))
          :else (core/rows-as rows connection options))))))

(defn execute!
  "Runs a statement, a vector of a text and its parameters. Gives a vector of its rows, or of one map with
  `:next.jdbc/update-count` if it gives none. Options: `:builder-fn` (`as-unqualified-maps` and its like above), `:timeout` in
  seconds, `:return-keys` (true, or the columns' names: what an insert, update or delete has changed is its result)."
  ([source sql-params] (execute! source sql-params {}))
  ([source sql-params options]
   (let [options (options-for source options)
         [sql & parameters] sql-params
         sql (cond-> sql (:return-keys options) (returning (:return-keys options)))]
     (result (source-of source) (numbered (into [sql] parameters)) (options-of options)))))

(defn execute-one!
  "As `execute!`, but gives the first row only, or nil."
  ([source sql-params] (execute-one! source sql-params {}))
  ([source sql-params options]
   (let [rows (execute! source sql-params options)]
     (if (= as-arrays (:builder-fn (options-for source options))) (second rows) (first rows)))))

(defn plan
  "A reducible of a statement's rows, read as they come, `:fetch-size` at a time. Keys are the columns' names, without the
  table's, as in next.jdbc's own `plan` when a row is used as a map."
  ([source sql-params] (plan source sql-params {}))
  ([source sql-params options]
   (let [options (options-for source options)
         given (options-of options)]
     (core/plan (source-of source) (numbered sql-params)
                (cond-> (if (#{:qualified :qualified-kebab} (:keys given)) (dissoc given :keys) given)
                  (:fetch-size options) (assoc :fetch-rows (:fetch-size options)))))))

(defn execute-batch!
  "Runs one statement for each group of parameters, in one round trip and one transaction. Gives the update counts."
  ([source sql groups] (execute-batch! source sql groups {}))
  ([source sql groups _options]
   (core/execute-batch (source-of source) (Placeholders/number sql) groups)))

(defn transact
  "Calls `f` with a connection in a transaction. Options as for `with-transaction`."
  ([source f] (transact source f {}))
  ([source f options]
   (core/transact (source-of source) f options)))

(defmacro with-transaction
  "Runs `body` in a transaction, with `name` bound to its connection. Options: `:isolation`, `:read-only`,
  `:rollback-only`. Inside of another it is a savepoint."
  [[name source options] & body]
  `(transact ~source (fn [~name] ~@body) ~options))

(defmacro with-transaction+options
  "As `with-transaction`, with `name` having the options that `source` has by `with-options`."
  [[name source options] & body]
  `(let [source# ~source]
     (transact source#
               (fn [tx#] (let [~name (with-options tx# (#'options-for source# {}))] ~@body))
               ~options)))
