(ns trunkline.row-vector-test
  "Results as vectors of maps, each made when it is asked for. Without a server: the rows are made here."
  (:require [clojure.core.reducers :as reducers]
            [clojure.test :refer [deftest is testing]])
  (:import (clojure.lang IChunkedSeq)
           (io.github.trunkline.clojure Keys Results)
           (io.github.trunkline.row Columns RowCollector)
           (io.github.trunkline.type Decoder Types)
           (io.github.trunkline.wire ColumnDescription Out)))

(defn- rows-of
  "A result of so many rows: `:n` counts from 0."
  [size]
  (let [columns (Columns. [(ColumnDescription. "n" 0 0 20 8 -1 1)]
                          (into-array Decoder [(.binary (.codec (Types.) 20))]))
        collector (RowCollector. columns)
        out (Out.)]
    (dotimes [n size]
      (.int8 out (int \D))
      (.int32 out (+ 4 2 4 8))
      (.add collector (.size out))
      (-> out (.int16 1) (.int32 8) (.int64 n)))
    (.slabDone collector (.array out))
    (Results/maps (.finish collector "SELECT") (Keys/keywords columns))))

(defn- ordinary [size] (mapv #(hash-map :n %) (range size)))

(deftest is-an-ordinary-vector
  (doseq [size [0 1 31 32 33 64 100]
          :let [v (rows-of size)
                expected (ordinary size)]]
    (testing (str size " rows")
      (is (vector? v))
      (is (= expected v))
      (is (= v expected))
      (is (.equals ^Object v expected))
      (is (= (hash expected) (hash v)))
      (is (= (.hashCode ^Object expected) (.hashCode ^Object v)))
      (is (= size (count v)))
      (is (= (seq expected) (seq v)))
      (is (= (rseq expected) (rseq v)))
      (is (= (pr-str expected) (pr-str v)))
      (is (= expected (into [] v)))
      (is (= expected (vec (seq v))))
      (is (= (map :n expected) (map :n v)))
      (is (= (reduce + (map :n expected)) (transduce (map :n) + v)))
      (is (= (reduce + (map :n expected)) (reducers/fold + (reducers/map :n v))))
      (is (= (reduce-kv (fn [sum i m] (+ sum (* i (:n m)))) 0 expected)
             (reduce-kv (fn [sum i m] (+ sum (* i (:n m)))) 0 v)))
      (is (= (conj expected {:n -1}) (conj v {:n -1})))
      (is (= (into expected [1 2]) (into v [1 2])))
      (is (= (seq (to-array expected)) (seq (to-array v))))
      (is (= (persistent! (conj! (transient expected) 1)) (persistent! (conj! (transient v) 1))))
      (is (= [] (empty v)))
      (is (= :none (nth v size :none)))
      (is (nil? (get v size)))
      (is (thrown? IndexOutOfBoundsException (nth v size)))
      (is (thrown? IndexOutOfBoundsException (nth v -1)))
      (when (pos? size)
        (is (= (pop expected) (pop v)))
        (is (= (peek expected) (peek v)))
        (is (= (assoc expected 0 :x) (assoc v 0 :x)))
        (is (= (subvec expected 1) (subvec v 1)))
        (is (= (first expected) (first v) (v 0)))
        (is (= [{:n 0} 1] (reduce (fn [[one seen] _] (reduced [one (inc seen)])) [(v 0) 0] v)))
        (is (= (reduce (fn [a b] (assoc a :last (:n b))) expected)
               (reduce (fn [a b] (assoc a :last (:n b))) v)))))))

(deftest makes-each-map-once
  (let [v (rows-of 100)
        marked (with-meta v {:why :test})]
    (is (identical? (v 50) (nth (seq v) 50)))
    (is (identical? (v 50) (marked 50)))
    (is (identical? (v 50) (nth (conj v 1) 50)))
    (is (= {:why :test} (meta marked) (meta (conj marked 1)) (meta (empty marked))))
    (is (nil? (meta v)))
    (let [seen (mapv deref (mapv (fn [_] (future (mapv #(System/identityHashCode %) v))) (range 8)))]
      (is (apply = seen) "threads share the maps"))))

(deftest is-read-in-chunks
  (let [^IChunkedSeq s (seq (rows-of 70))]
    (is (chunked-seq? s))
    (is (= 32 (count (chunk-first s))))
    (is (= 70 (count s)))
    (is (= 31 (count (chunk-first (next s)))))
    (is (= [39] (map :n (take 1 (drop 6 (next (chunk-next s)))))))
    (is (nil? (chunk-next (chunk-next (chunk-next s)))))
    (is (= () (chunk-rest (chunk-next (chunk-next s)))))
    (is (= {:a 1} (meta (with-meta s {:a 1}))))))
