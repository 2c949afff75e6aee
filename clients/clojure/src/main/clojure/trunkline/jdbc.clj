(ns trunkline.jdbc
  "next.jdbc's functions on this client, so that moving a program takes minutes: change the namespace it requires.

  It is no JDBC driver: there is no java.sql.Connection in it, so Hibernate, jOOQ, HikariCP, Flyway and their like cannot
  use it. Parameters are `?` outside of texts, names, comments and dollar quotes (`??` for the operators with a question
  mark), or $1, $2 and so on."
  (:require [trunkline.core :as core])
  (:import (io.github.trunkline Connection)
           (io.github.trunkline.clojure Placeholders)
           (io.github.trunkline.pool Pool)
           (io.github.trunkline.row Rows)))

(set! *warn-on-reflection* true)

(def as-maps "Maps with the table's name in each key: next.jdbc's default." {:keys :qualified})
(def as-unqualified-maps "Maps with the columns' names." {})
(def as-kebab-maps "Maps with the table's name in each key, all in kebab case." {:keys :qualified-kebab})
(def as-unqualified-kebab-maps "Maps with the columns' names in kebab case." {:keys :kebab})
(def as-arrays "A vector of the keys, then a vector for each row." {:as :arrays})

(defn get-datasource
  "A pool of a URL, or of a map with `:host`, `:port`, `:user`, `:password` and `:dbname` (`:dbtype` is looked over)."
  [spec]
  (if (instance? Pool spec)
    spec
    (core/pool (if (map? spec) (dissoc spec :dbtype) spec))))

(defn get-connection
  "A connection of its own, to be closed. `spec` is as for `get-datasource`, but no pool."
  ^Connection [spec]
  (core/connect (if (map? spec) (dissoc spec :dbtype) spec)))

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
  `:next.jdbc/update-count` if it gives none. Options: `:builder-fn` (`as-unqualified-maps` and its like above) and
  `:timeout` in seconds."
  ([source sql-params] (execute! source sql-params {}))
  ([source sql-params options]
   (result source (numbered sql-params) (options-of options))))

(defn execute-one!
  "As `execute!`, but gives the first row only, or nil."
  ([source sql-params] (execute-one! source sql-params {}))
  ([source sql-params options]
   (let [rows (execute! source sql-params options)]
     (if (= as-arrays (:builder-fn options)) (second rows) (first rows)))))

(defn plan
  "A reducible of a statement's rows, read as they come. Keys are the columns' names, without the table's, as in
  next.jdbc's own `plan` when a row is used as a map."
  ([source sql-params] (plan source sql-params {}))
  ([source sql-params options]
   (core/plan source (numbered sql-params)
              (let [given (options-of options)]
                (if (#{:qualified :qualified-kebab} (:keys given)) (dissoc given :keys) given)))))

(defn execute-batch!
  "Runs one statement for each group of parameters, in one round trip and one transaction. Gives the update counts."
  ([source sql groups] (execute-batch! source sql groups {}))
  ([source sql groups _options]
   (core/execute-batch source (Placeholders/number sql) groups)))

(defn transact
  "Calls `f` with a connection in a transaction. Options as for `with-transaction`."
  ([source f] (transact source f {}))
  ([source f options]
   (core/transact source f options)))

(defmacro with-transaction
  "Runs `body` in a transaction, with `name` bound to its connection. Options: `:isolation`, `:read-only`,
  `:rollback-only`. Inside of another it is a savepoint."
  [[name source options] & body]
  `(transact ~source (fn [~name] ~@body) ~options))
