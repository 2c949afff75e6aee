(ns trunkline.row-map-test
  "Rows as maps: no server is needed, the rows are made here."
  (:require [clojure.test :refer [deftest is testing]])
  (:import (clojure.lang IPersistentMap)
           (io.github.trunkline.clojure Keys Placeholders RowMap SqlText)
           (io.github.trunkline.row Columns Row)
           (io.github.trunkline.type Decoder Types)
           (io.github.trunkline.wire ColumnDescription Out)
           (java.util.concurrent.atomic AtomicLong)))

(defn- counting
  "A decoder that counts how often it decodes."
  [^Decoder decoder ^AtomicLong times]
  (reify Decoder
    (decode [_ bytes at length]
      (.incrementAndGet times)
      (.decode decoder bytes at length))))

(defn- row
  "A row of int8 (or NULL) under these names, and the count of decoded values."
  [names values]
  (let [out (Out.)
        times (AtomicLong.)
        int8 (.binary (.codec (Types.) 20))
        columns (Columns. (mapv #(ColumnDescription. % 0 0 20 8 -1 1) names)
                          (into-array Decoder (repeat (count names) (counting int8 times))))]
    (.int16 out (count values))
    (doseq [v values]
      (if (nil? v) (.int32 out -1) (-> out (.int32 8) (.int64 v))))
    [(RowMap/of (Keys/keywords columns) (Row/of columns (java.util.Arrays/copyOf (.array out) (.size out)))) times]))

(defn- row-of [names values] (first (row names values)))

(deftest is-an-ordinary-map
  (let [m (row-of ["a" "b" "c"] [1 2 nil])]
    (is (map? m))
    (is (= {:a 1 :b 2 :c nil} m))
    (is (= m {:a 1 :b 2 :c nil}))
    (is (= (hash {:a 1 :b 2 :c nil}) (hash m)))
    (is (= (.hashCode ^Object {:a 1 :b 2 :c nil}) (.hashCode ^Object m)))
    (is (.equals ^Object m {:a 1 :b 2 :c nil}))
    (is (= #{m} #{{:a 1 :b 2 :c nil}}))
    (is (= 3 (count m)))
    (is (= "{:a 1, :b 2, :c nil}" (pr-str m)))
    (is (= [[:a 1] [:b 2] [:c nil]] (seq m)))
    (is (= [:a :b :c] (keys m)))
    (is (= [1 2 nil] (vals m)))
    (is (= 1 (m :a)) "a function of its keys")
    (is (= 1 (:a m)))
    (is (= 7 (:d m 7)))
    (is (nil? (:c m 7)) "nil is a value")
    (is (= 1 (get m :a 9)))
    (is (contains? m :c))
    (is (not (contains? m :d)))
    (is (= [:b 2] (find m :b)))
    (is (= 3 (reduce-kv (fn [sum _ v] (+ sum (or v 0))) 0 m)))
    (is (= :b (reduce-kv (fn [_ k v] (if (= v 2) (reduced k) k)) nil m)))
    (is (= {:a 1} (select-keys m [:a])))
    (is (= {:a 1 :b 2 :c nil :d 4} (merge m {:d 4})))
    (is (= {:a 2 :b 3} (update-vals (dissoc m :c) inc)))
    (is (= {:a 1 :b 2 :c nil} (into {} m)))
    (is (= {:a 1 :b 2 :c nil :z 0} (into m {:z 0})))
    (is (= {} (empty m)))
    (is (= 3 (let [{:keys [a b]} m] (+ a b))) "destructured")))

(deftest changes-leave-the-others-undecoded
  (let [[m ^AtomicLong times] (row ["a" "b" "c"] [1 2 3])
        changed (-> m (assoc :b 20) (assoc :x 9) (dissoc :c) (assoc :c 30) (dissoc :c))]
    (is (zero? (.get times)))
    (is (= 20 (:b changed)))
    (is (= 9 (:x changed)))
    (is (= 3 (count changed)))
    (is (not (contains? changed :c)))
    (is (= :none (:c changed :none)))
    (is (nil? (find changed :c)))
    (is (zero? (.get times)) "what was not asked for was not decoded")
    (is (= {:a 1 :b 20 :x 9} changed))
    (is (= 1 (.get times)))
    (is (= {:a 1 :b 2 :c 3} m) "the original is as it was")
    (is (= {:a nil :b 2 :c 3} (assoc m :a nil)))
    (is (identical? m (dissoc m :nowhere)))
    (is (= {:b 2 :c 3 :y 1} (-> m (assoc :y 1) (dissoc :a))))
    (is (= {:b 2 :c 3} (-> m (assoc :y 1) (dissoc :a :y))))))

(deftest decodes-once
  (let [[m ^AtomicLong times] (row ["a" "b"] [1 nil])]
    (dotimes [_ 5] (is (= [1 nil] [(:a m) (:b m)])))
    (is (= 1 (.get times)))))

(deftest keeps-metadata
  (let [m (with-meta (row-of ["a"] [1]) {:from :here})]
    (is (= {:from :here} (meta m)))
    (is (= {:from :here} (meta (assoc m :b 2))))
    (is (= {:from :here} (meta (dissoc m :a))))
    (is (nil? (meta (row-of ["a"] [1]))))
    (is (= {:a 1} m))))

(deftest call-sites-see-many-kinds-of-maps
  (let [look (fn [m] (:a m))
        rows [(row-of ["a" "b"] [1 2]) (row-of ["b" "a"] [3 4]) {:a 5} (row-of ["b"] [6]) nil
              (dissoc (row-of ["a"] [7]) :a) (row-of ["a"] [nil]) (assoc (row-of ["b"] [8]) :a 9)]]
    (dotimes [_ 3]
      (is (= [1 4 5 nil nil nil nil 9] (mapv look rows))))))

(deftest the-last-of-columns-with-one-name-counts
  (let [m (row-of ["a" "b" "a"] [1 2 3])]
    (is (= {:a 3 :b 2} m))
    (is (= 2 (count m)))
    (is (= [[:b 2] [:a 3]] (seq m)))))

(deftest wide-rows-and-rows-without-columns
  (let [names (mapv #(str "c" %) (range 100))
        m (row-of names (range 100))]
    (is (= (into {} (map (fn [i] [(keyword (str "c" i)) i])) (range 100)) m))
    (is (= 99 (:c99 m))))
  (is (= {} (row-of [] [])))
  (is (nil? (seq (row-of [] []))))
  (is (= {:a 1} (assoc (row-of [] []) :a 1))))

(deftest threads-share-a-row
  (let [wrong (AtomicLong.)
        n 2000]
    (dotimes [_ 20]
      (let [rows (mapv #(row-of ["a" "b"] [% (* 2 %)]) (range n))
            look (fn [] (dotimes [i n]
                          (let [m (nth rows i)]
                            (when-not (and (= i (:a m)) (= (* 2 i) (:b m)))
                              (.incrementAndGet wrong)))))]
        (run! deref (mapv (fn [_] (future (look))) (range 4)))))
    (is (zero? (.get wrong)))))

(deftest detached-and-decoded
  (let [m (assoc (row-of ["a" "b"] [1 2]) :x 3)]
    (is (= {:a 1 :b 2 :x 3} (.detach ^RowMap m)))
    (is (= {:a 1 :b 2 :x 3} (.toMap ^RowMap m)))
    (is (not (instance? RowMap (.toMap ^RowMap m))))
    (is (instance? IPersistentMap m))))

(deftest question-marks
  (doseq [[from to] {"select ?, ?" "select $1, $2"
                     "select 1" "select 1"
                     "select '?', \"?\", ? -- ?\n, ?" "select '?', \"?\", $1 -- ?\n, $2"
                     "select /* ? /* ? */ ? */ ?" "select /* ? /* ? */ ? */ $1"
                     "select $$?$$, $a$ ? $$ ? $a$, ?" "select $$?$$, $a$ ? $$ ? $a$, $1"
                     "select a ?? 'b', a ??| b, ?" "select a ? 'b', a ?| b, $1"
                     "select 'it''s ?', E'\\'?', e'''?', ?" "select 'it''s ?', E'\\'?', e'''?', $1"
                     "select name'\\', ?" "select name'\\', $1"
                     "select $1, a$b$?, c$b$" "select $1, a$b$$1, c$b$"
                     "select '?" "select '?"}]
    (testing from
      (is (= to (Placeholders/number from))))))

(deftest question-marks-or-numbers
  (doseq [[from to] {"select ?, ?" "select $1, $2"
                     "select a ? $1" "select a ? $1"
                     "select a ?? $1" "select a ?? $1"
                     "select '$1', a$1, ? -- $2" "select '$1', a$1, $1 -- $2"
                     "select $1" "select $1"}]
    (testing from
      (is (= to (Placeholders/numberUnlessNumbered from))))))

(deftest texts-of-sql
  (is (SqlText/hasWord "insert into t values (1) RETURNING id" "returning"))
  (is (not (SqlText/hasWord "insert into t values ('returning') -- returning" "returning")))
  (is (not (SqlText/hasWord "insert into returning_t values ($$ returning $$)" "returning")))
  (is (= "insert" (SqlText/firstWord " /* select */ -- update\n INSERT into t")))
  (is (= "" (SqlText/firstWord " -- nothing")))
  (is (= "select ';' -- x\n, 1" (SqlText/trimmed "select ';' -- x\n, 1 ; -- end\n ;; /* ; */ ")))
  (is (= "" (SqlText/trimmed " ; ")))
  (doseq [[sql several] {"select 1" false "select 1;" false "select 1 ; -- ; two\n" false "select ';' ; /* ; */" false
                         "select 1; select 2" true "; select 1" false "select $$ ; $$, \";\"" false
                         "create table a (i int);\ncreate table b (i int);\n" true}]
    (testing sql
      (is (= several (SqlText/hasSeveral sql))))))
