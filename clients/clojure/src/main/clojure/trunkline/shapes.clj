(ns trunkline.shapes
  "The shapes of results and the keys of their columns: the options `:as` and `:keys` of `core/query`."
  (:require [clojure.string :as string])
  (:import (io.github.trunkline Connection)
           (io.github.trunkline.clojure Keys Results)
           (io.github.trunkline.row Columns Row Rows)
           (io.github.trunkline.wire ColumnDescription)))

(set! *warn-on-reflection* true)

(def ^:private tables-sql
  "select oid::int8, relname::text from pg_catalog.pg_class where oid = any ($1::pg_catalog.oid[])")

(defn- table-names
  "Names of tables by their object ids."
  [^Connection connection oids]
  (into {} (map (fn [^Row row] [(.getLong row 0) (.getString row 1)]))
        (.query connection ^String tables-sql (object-array [(vec oids)]))))

(defn- qualified
  "Keys with the table's name as namespace, where a column comes from a table."
  [^Connection connection ^Columns columns f]
  (let [oid (fn [i] (Integer/toUnsignedLong (.table ^ColumnDescription (.description columns (int i)))))
        indexes (range (.size columns))
        oids (into #{} (comp (map oid) (remove zero?)) indexes)
        names (if (seq oids) (table-names connection oids) {})]
    (map (fn [i]
           (let [table (names (oid i))]
             (keyword (when table (f table)) (f (.name columns (int i))))))
         indexes)))

(defn keys-of
  "The keys of a result: `:keys` of the options is nil for the names as they are, `:kebab`, `:qualified`, `:unqualified`,
  `:qualified-kebab`, or a function from a column's name to its key. The server is asked for tables' names once for each prepared
  statement."
  ^Keys [connection ^Columns columns how]
  (let [each (fn [f] (fn [^Columns columns] (map #(f (.name columns (int %))) (range (.size columns)))))
        tables (fn [f] (fn [columns] (qualified connection columns f)))
        dashes #(string/lower-case (string/replace % "_" "-"))]
    ;; A function may be a new one each time, so that its keys are not kept.
    (case how
      nil (Keys/keywords columns)
      :unqualified (Keys/unqualified columns)
      :kebab (Keys/of columns how (each (comp keyword dashes)))
      :qualified (Keys/of columns how (tables identity))
      :qualified-kebab (Keys/of columns how (tables dashes))
      (Keys/of columns nil (each how)))))

(defn shaped
  "A result, the Java client's `Rows`, as the options of `core/query` want it. A connection is needed for qualified keys."
  [connection ^Rows rows {:keys [as] how :keys :or {as :maps}}]
  (case as
    :maps (Results/maps rows (keys-of connection (.columns rows) how))
    :vectors (Results/vectors rows)
    :columns (Results/columns rows (keys-of connection (.columns rows) how))
    :rows rows))
