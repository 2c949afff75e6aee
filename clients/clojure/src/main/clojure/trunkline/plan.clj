(ns trunkline.plan
  "next.jdbc.plan's functions on this client: what is wanted of rows, taken as they come and in bounded memory. Options are
  those of trunkline.jdbc's plan, and `:into`, what select! puts its results into (a vector)."
  (:require [trunkline.jdbc :as jdbc]))

(defn- picked
  "A function of a row: some of its keys, for a vector of them; else what `cols`, a key or a function, gives."
  [cols]
  (if (vector? cols) #(select-keys % cols) cols))

(defn select-one!
  "What `cols` names of the first row; nil if there is none. No more rows are read."
  ([source cols sql-params] (select-one! source cols sql-params {}))
  ([source cols sql-params options]
   (let [pick (picked cols)]
     (reduce (fn [_ row] (reduced (pick row))) nil (jdbc/plan source sql-params options)))))

(defn select!
  "What `cols` names of each row."
  ([source cols sql-params] (select! source cols sql-params {}))
  ([source cols sql-params options]
   (into (:into options []) (map (picked cols)) (jdbc/plan source sql-params (dissoc options :into)))))
