(ns trunkline.sql
  "next.jdbc.sql's functions on this client: statements made of maps. Options are trunkline.jdbc's, and `:table-fn` and
  `:column-fn`, which make a name of SQL of a name here. Without them a name that is more than letters, digits and
  underscores (and points between a schema and a table) is quoted."
  (:refer-clojure :exclude [update])
  (:require [clojure.string :as string]
            [trunkline.jdbc :as jdbc])
  (:import (io.github.trunkline Connection)))

(set! *warn-on-reflection* true)

(defn- entity [k f]
  (let [n (name k)]
    (cond
      f (f n)
      (re-matches #"[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*" n) n
      :else (Connection/quoteIdentifier n))))

(defn- table [k options] (entity k (:table-fn options)))
(defn- column [k options] (entity k (:column-fn options)))

(defn- columns [ks options] (string/join ", " (map #(column % options) ks)))

(defn- where
  "A condition and its parameters, from a map of columns and values that must all match (nil is NULL), or from a vector of a
  text and its parameters; nil for no condition."
  [conditions options]
  (cond
    (= :all conditions) nil
    (map? conditions) (do (when (empty? conditions)
                            (throw (IllegalArgumentException. "no conditions are given: :all stands for all rows")))
                          (into [(string/join " and " (for [[k v] conditions]
                                                        (str (column k options) (if (nil? v) " is null" " = ?"))))]
                                (remove nil?) (vals conditions)))
    :else conditions))

(defn- statement [& parts] (string/join " " (remove nil? parts)))

(defn- condition [[text]] (when text (str "where " text)))

(defn query
  "Runs a vector of a text and its parameters, and returns its rows."
  ([source sql-params] (query source sql-params {}))
  ([source sql-params options] (jdbc/execute! source sql-params options)))

(defn insert!
  "Inserts a map's values and returns the inserted row, or the count if `:return-keys` is false."
  ([source to row] (insert! source to row {}))
  ([source to row options]
   (let [options (jdbc/options-for source options)]
     (jdbc/execute-one! source
                        (into [(str "insert into " (table to options) " (" (columns (keys row) options) ") values ("
                                    (string/join ", " (repeat (count row) "?")) ")")]
                              (vals row))
                        (merge {:return-keys true} options)))))

(defn insert-multi!
  "Inserts many rows in one statement and returns the inserted rows. Takes maps with the same keys, or columns and a sequence
  of rows of values."
  ([source to rows] (insert-multi! source to rows {}))
  ([source to rows options]
   (let [ks (keys (first rows))]
     (when-not (every? #(= (set ks) (set (keys %))) rows)
       (throw (IllegalArgumentException. "the rows do not all have the same keys")))
     (insert-multi! source to ks (map (fn [row] (map row ks)) rows) options)))
  ([source to ks rows options]
   (if (empty? rows)
     []
     (let [options (jdbc/options-for source options)]
       (jdbc/execute! source
                      (into [(str "insert into " (table to options) " (" (columns ks options) ") values "
                                  (string/join ", " (repeat (count rows)
                                                            (str "(" (string/join ", " (repeat (count ks) "?")) ")"))))]
                            cat rows)
                      (merge {:return-keys true} options))))))

(defn update!
  "Sets a map's values where the conditions hold (a map, or a vector of a text and its parameters), and returns the count."
  ([source of values conditions] (update! source of values conditions {}))
  ([source of values conditions options]
   (let [options (jdbc/options-for source options)
         [_ & parameters :as holds] (where conditions options)]
     (jdbc/execute-one! source
                        (-> [(statement "update" (table of options) "set"
                                        (string/join ", " (map #(str (column % options) " = ?") (keys values)))
                                        (condition holds))]
                            (into (vals values))
                            (into parameters))
                        options))))

(defn delete!
  "Deletes the rows for which the conditions hold, and returns the count."
  ([source from conditions] (delete! source from conditions {}))
  ([source from conditions options]
   (let [options (jdbc/options-for source options)
         [_ & parameters :as holds] (where conditions options)]
     (jdbc/execute-one! source (into [(statement "delete from" (table from options) (condition holds))] parameters)
                        options))))

(defn- order [by options]
  (string/join ", " (for [each by]
                      (if (sequential? each)
                        (str (column (first each) options) (case (second each) :asc " asc" :desc " desc"))
                        (column each options)))))

(defn find-by-keys
  "Rows where the conditions hold: a map, a vector of a text and its parameters, or :all. Options: `:columns`, `:order-by`
  (columns, or pairs of a column and :asc or :desc), `:limit` (or `:top`), `:offset`."
  ([source from conditions] (find-by-keys source from conditions {}))
  ([source from conditions options]
   (let [options (jdbc/options-for source options)
         [_ & parameters :as holds] (where conditions options)
         {:keys [order-by limit offset top] wanted :columns} options
         most (or limit top)]
     (jdbc/execute! source
                    (cond-> (into [(statement "select" (if wanted (columns wanted options) "*")
                                              "from" (table from options)
                                              (condition holds)
                                              (when order-by (str "order by " (order order-by options)))
                                              (when most "limit ?")
                                              (when offset "offset ?"))]
                                  parameters)
                      most (conj most)
                      offset (conj offset))
                    (dissoc options :columns :order-by :limit :offset :top)))))

(defn get-by-id
  "The row with this value in the column `id`, or in another column; nil if there is none."
  ([source from id] (get-by-id source from id :id {}))
  ([source from id options] (get-by-id source from id :id options))
  ([source from id key options] (first (find-by-keys source from {key id} options))))

(defn aggregate-by-keys
  "The value of an expression such as \"count(*)\" over the rows where the conditions hold."
  ([source from expression conditions] (aggregate-by-keys source from expression conditions {}))
  ([source from expression conditions options]
   (let [options (jdbc/options-for source options)
         [_ & parameters :as holds] (where conditions options)]
     (-> (jdbc/execute-one! source
                            (into [(statement "select" expression "as aggregate from" (table from options)
                                              (condition holds))]
                                  parameters)
                            (assoc options :builder-fn jdbc/as-unqualified-maps))
         :aggregate))))
