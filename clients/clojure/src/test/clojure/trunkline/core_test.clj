(ns trunkline.core-test
  (:require [clojure.string :as string]
            [clojure.test :refer [deftest is use-fixtures]]
            [trunkline.core :as db]
            [trunkline.servers :as servers])
  (:import (io.github.trunkline CanceledException Connection PipelineException PostgresException ServerException ValueException)
           (io.github.trunkline.clojure RowMap)
           (java.io ByteArrayOutputStream StringReader)
           (java.time Instant)))

(def ^:dynamic ^Connection *db* nil)

(defn- connected [run]
  (with-open [connection (db/connect (servers/spec))]
    (binding [*db* connection]
      (run))))

(use-fixtures :each connected)

(deftest rows-come-as-maps-vectors-and-columns
  (let [q ["select i as id, 'n' || i as the_name from generate_series(1, $1::int) i" 2]]
    (is (= [{:id 1 :the_name "n1"} {:id 2 :the_name "n2"}] (db/query *db* q)))
    (is (instance? RowMap (first (db/query *db* q))))
    (is (= [{:id 1 :the-name "n1"} {:id 2 :the-name "n2"}] (db/query *db* q {:keys :kebab})))
    (is (= [{"ID" 1 "THE_NAME" "n1"}] (take 1 (db/query *db* q {:keys #(.toUpperCase ^String %)}))))
    (is (= [[1 "n1"] [2 "n2"]] (db/query *db* q {:as :vectors})))
    (is (= {:id [1 2] :the_name ["n1" "n2"]} (db/query *db* q {:as :columns})))
    (is (= {:id 1 :the_name "n1"} (db/query-one *db* q)))
    (is (nil? (db/query-one *db* "select 1 where false")))
    (is (= [] (db/query *db* "select 1 where false")))))

(deftest wide-rows-as-vectors
  (let [q (str "select " (string/join ", " (map #(str % " as c" %) (range 70))))]
    (is (= [(vec (range 70))] (db/query *db* q {:as :vectors})))
    (is (= 69 (peek (first (db/query *db* q {:as :vectors})))))
    (is (= [(vec (range 70))] (into [] (db/plan *db* q {:as :vectors}))))
    (is (= 33 (:c33 (first (db/query *db* q)))))))

(deftest keys-have-the-tables-name
  (db/script *db* "drop table if exists some_people; create table some_people (first_name text)")
  (db/execute *db* ["insert into some_people values ($1)" "Ada"])
  (let [q "select first_name, 1 as one from some_people"]
    (is (= [{:some_people/first_name "Ada" :one 1}] (db/query *db* q {:keys :qualified})))
    (is (= [{:some-people/first-name "Ada" :one 1}] (db/query *db* q {:keys :qualified-kebab}))))
  (let [heard (atom 0)
        q "select first_name from some_people"]
    (db/on-query *db* (fn [_] (swap! heard inc)))
    (dotimes [_ 3]
      (is (= [{:some_people/first_name "Ada"}] (db/query *db* q {:keys :qualified})))
      (is (= [{:some_people/first_name "Ada"}] (into [] (db/plan *db* q {:keys :qualified})))))
    (db/on-query *db* nil)
    (is (= 7 @heard) "three queries, three streams, and once the names of tables"))
  (db/execute *db* "drop table some_people"))

(deftest values-are-clojures-own
  (is (= {:l [1 [nil 2]] :m {"a" "b"} :t #inst "2024-01-01" :r [1 "x"]}
         (-> (db/query-one *db* "select array[1] as l, 1 as m, '2024-01-01 00:00:00+00'::timestamptz as t,
                                 row(1, 'x'::text) as r")
             (assoc :l [1 [nil 2]] :m {"a" "b"})
             (update :t #(java.util.Date/from ^Instant %)))))
  (is (= [[1 2] [3 4]] (:l (db/query-one *db* "select array[[1,2],[3,4]] as l"))))
  (is (= [[1 2] "k" 3.5M 12345678901234567890M "n/s"]
         (first (db/query *db* ["select $1::int[], $2::text, $3::numeric, $4::numeric, $5::text"
                                [1 2] :k 7/2 12345678901234567890N 'n/s] {:as :vectors}))))
  (with-open [json (db/connect (assoc (servers/spec) :json-read read-string :json-write #(string/replace (pr-str %) " " ",")))]
    (is (= {:j [1 2]} (db/query-one json ["select $1::jsonb as j" [1 2]])))))

(deftest parameters-are-clojures-own-at-any-depth
  (db/script *db* "create extension if not exists hstore; drop schema if exists clj cascade; create schema clj;
                   create type clj.pair as (a int, b text); create type clj.pairs as (p clj.pair, l clj.pair[])")
  (let [pair {:a 1 :b "x"}]
    (is (= {:p pair} (db/query-one *db* ["select $1::clj.pair as p" pair])) "what is read can be sent")
    (is (= {:p {:p pair :l [pair {:a nil :b "k"}]}}
           (db/query-one *db* ["select $1::clj.pairs as p" {:p (db/query-one *db* "select 1 as a, 'x' as b")
                                                            :l [pair {:b :k}]}])))
    (is (thrown-with-msg? ValueException #"no field c" (db/query *db* ["select $1::clj.pair" (assoc pair :c 1)])))
    (is (= {:h {"a" "1" "b" nil}} (db/query-one *db* ["select $1::hstore as h" {:a "1" 'b nil}])))
    (is (= {:l ["a" "b/c"] :n [[1M 2.5M]]}
           (db/query-one *db* ["select $1::text[] as l, $2::numeric[] as n" [:a :b/c] (list [1N 5/2])])))
    (is (= {:l #{1 2}} (update (db/query-one *db* ["select $1::int[] as l" #{1 2}]) :l set)))
    (db/script *db* "create table clj.copied (p clj.pair)")
    (is (= 1 (db/copy-rows *db* "clj.copied" [:p] [{:p pair}])))
    (is (= {:p pair} (db/query-one *db* "select p from clj.copied"))))
  (db/script *db* "drop schema clj cascade"))

(deftest takes-honeysqls-vectors
  (is (= {:a 1 :b 2} (db/query-one *db* ["SELECT ?::int AS a, ?::int AS b" 1 2])))
  (is (= {:a true} (db/query-one *db* ["SELECT '{\"k\": 1}'::jsonb ?? ?::text AS a" "k"])))
  (is (= {:a true} (db/query-one *db* ["select '{\"k\": 1}'::jsonb ? $1::text as a" "k"])))
  (is (= {:a true} (db/query-one *db* "select '{\"k\": 1}'::jsonb ? 'k' as a")))
  (is (= [1 1] (db/execute-batch *db* "select ?::int" [[1] [2]])))
  (is (= [1 2] (mapv :v (db/plan *db* ["select generate_series(1, ?::int) as v" 2]))))
  (is (= [[{:v 3}]] (db/pipeline *db* [["select ?::int as v" 3]]))))

(deftest counts-and-batches
  (db/script *db* "drop table if exists counted; create table counted (i int unique, t text)")
  (is (= 2 (db/execute *db* "insert into counted values (1, 'a'), (2, 'b')")))
  (is (= [1 1 1] (db/execute-batch *db* "insert into counted values ($1, $2)" [[3 "c"] [4 :d] [5 nil]])))
  (is (= [[{:n 5}] [{:t "d"}]]
         (db/pipeline *db* ["select count(*) as n from counted" ["select t from counted where i = $1" 4]])))
  (is (thrown? PipelineException (db/execute-batch *db* "insert into counted values ($1, $2)" [[6 "x"] [3 "y"]])))
  (is (= [[{:n 5}] []] (db/script *db* "select count(*) as n from counted; select 1 where false")))
  (is (= [{:i 3}] ((db/prepare *db* "select i from counted where i = $1") 3)))
  (db/execute *db* "drop table counted"))

(deftest plans-are-reduced-in-bounded-memory
  (let [numbers (db/plan *db* ["select i::int8 as i from generate_series(1, $1::int) i" 100000] {:fetch-rows 1000})]
    (is (= 5000050000 (reduce (fn [sum row] (+ sum (:i row))) 0 numbers)))
    (is (= [1 2 3] (into [] (comp (map :i) (take 3)) numbers)) "ends early")
    (is (= 100 (transduce (comp (filter #(zero? (mod (:i %) 1000))) (map (constantly 1))) + numbers)))
    (is (= [[1] [2]] (into [] (take 2) (db/plan *db* "select generate_series(1, 5)" {:as :vectors}))))
    (is (thrown? ArithmeticException (reduce (fn [_ _] (/ 1 0)) nil numbers)))
    (is (= [{:one 1}] (db/query *db* "select 1 as one")))
    (is (= (range 1 11) (map :i (into [] (take 10) numbers))) "rows may be kept")))

(deftest a-plan-of-a-table-that-has-changed
  (db/script *db* "drop table if exists planned; create table planned (a int); insert into planned values (1)")
  (let [rows (db/plan *db* "select * from planned")
        all (fn [] (into [] (map #(into {} %)) rows))]
    (is (= [{:a 1}] (all)))
    (db/script *db* "alter table planned add b text default 'x'")
    (is (= [{:a 1 :b "x"}] (all)))
    (db/script *db* "alter table planned drop a")
    (is (= [{:b "x"}] (all))))
  (db/script *db* "drop table planned"))

(deftest transactions
  (db/script *db* "drop table if exists acted; create table acted (i int)")
  (is (= :done (db/with-transaction [tx *db*] (db/execute tx "insert into acted values (1)") :done)))
  (is (thrown-with-msg? Exception #"mine" (db/with-transaction [tx *db*]
                                            (db/execute tx "insert into acted values (2)")
                                            (throw (ex-info "mine" {})))))
  (db/with-transaction [tx *db* {:isolation :serializable}]
    (db/execute tx "insert into acted values (3)")
    (is (= "serializable" (:v (db/query-one tx "select current_setting('transaction_isolation') as v"))))
    (is (thrown? ServerException (db/with-transaction [inner tx]
                                   (db/execute inner "insert into acted values (4)")
                                   (db/execute inner "insert into nowhere values (4)")))))
  (is (= 1 (db/with-transaction [tx *db* {:rollback-only true}] (db/execute tx "insert into acted values (5)"))))
  (is (thrown? ServerException (db/with-transaction [tx *db* {:read-only true}]
                                 (db/execute tx "insert into acted values (6)"))))
  (is (= [1 3] (map :i (db/query *db* "select i from acted order by i"))))
  (db/execute *db* "drop table acted"))

(deftest isolation-levels
  (doseq [[level shown] {:read-uncommitted "read committed" :read-committed "read committed"
                         :repeatable-read "repeatable read" :serializable "serializable"}]
    (is (= shown (db/with-transaction [tx *db* {:isolation level :deferrable true}]
                   (:v (db/query-one tx "select current_setting('transaction_isolation') as v"))))))
  (is (thrown-with-msg? IllegalArgumentException #"no isolation level :snapshot"
                        (db/with-transaction [_ *db* {:isolation :snapshot}])))
  (is (= 1 (:v (db/query-one *db* "select 1 as v")))))

(deftest copies
  (db/script *db* "drop table if exists fed; create table fed (id int8, name text)")
  (is (= 2 (db/copy-in *db* "copy fed from stdin" "1\tone\n2\ttwo\n")))
  (is (= 1 (db/copy-in *db* "copy fed from stdin" (StringReader. "3\tthr\u00eb\n"))))
  (is (= 1000 (db/copy-in *db* "copy fed from stdin with (format binary)"
                          (map (fn [i] [i (when (odd? i) (keyword (str "k" i)))]) (range 4 1004)) {:types [20 25]})))
  (let [out (ByteArrayOutputStream.)
        rows (atom [])]
    (db/copy-out *db* "copy (select * from fed order by id limit 3) to stdout" out)
    (is (= "1\tone\n2\ttwo\n3\tthr\u00eb\n" (.toString out "UTF-8")))
    (db/copy-out *db* "copy (select * from fed order by id limit 5) to stdout with (format binary)"
                 #(swap! rows conj %) {:types [20 25]})
    (is (= [[1 "one"] [2 "two"] [3 "thr\u00eb"] [4 nil] [5 "k5"]] @rows)))
  (is (thrown? ArithmeticException (db/copy-in *db* "copy fed from stdin with (format binary)"
                                               (map (fn [i] [(/ 1 i) "x"]) [1 0]) {:types [20 25]})))
  (is (= 1003 (:n (db/query-one *db* "select count(*) as n from fed"))) "half of the data is not taken")
  (is (= 1 (db/copy-in *db* "copy fed from stdin" [[5000 :k]] {:types [20 25]})) "in text")
  (is (= 3 (db/copy-rows *db* :fed [:name :id] [{:id 6000 :name "m"} ["v" 6001] (list :k 6002)])))
  (is (= [{:id 6000 :name "m"} {:id 6001 :name "v"} {:id 6002 :name "k"}]
         (db/query *db* "select * from fed where id >= 6000 order by id")))
  (db/execute *db* "drop table fed"))

(deftest listens
  (when (servers/keeps-sessions?)
    (with-open [other (db/connect (servers/spec))]
      (db/listen *db* :news)
      (db/notify other :news "hear")
      (is (= [{:channel "news" :payload "hear" :process-id (.processId other)}] (db/await-notifications *db* 30000)))
      (db/notify *db* :news "again")
      (is (= ["again"] (map :payload (db/notifications *db*))))
      (db/unlisten *db* :news)
      (is (= [] (db/await-notifications *db* 10)))))
  (is true))

(deftest hears-notices
  (let [heard (atom [])]
    (db/on-notice *db* #(swap! heard conj (select-keys % [:severity :message :hint])))
    (db/execute *db* "do $$ begin raise warning 'hear' using hint = 'listen'; end $$")
    (db/on-notice *db* (fn [_]))
    (is (= [{:severity "WARNING" :message "hear" :hint "listen"}] @heard))))

(deftest pools-tell-of-their-queries
  (with-open [pool (db/pool (servers/spec) {:max 1})]
    (let [heard (atom [])]
      (db/on-query pool #(swap! heard conj [(:sql %) (:rows %) (some? (:error %))]))
      (db/query pool "select 1 as v")
      (is (= [1 2] (into [] (comp (map :v) (take 2)) (db/plan pool "select generate_series(1, 3) as v"))))
      (is (thrown? ServerException (db/query pool "selec")))
      (is (= [["select 1 as v" 1 false] ["select generate_series(1, 3) as v" 2 false] ["selec" 0 true]] @heard)))))

(deftest pools-lend-connections
  (with-open [pool (db/pool (servers/spec) {:max 2 :on-connect #(db/execute % "set application_name = 'pooled'")})]
    (is (= (repeat 20 {:v 1}) (pmap (fn [_] (db/query-one pool "select 1 as v")) (range 20))))
    (is (<= (.size pool) 2))
    (is (= 3 (reduce (fn [n row] (+ n (:v row))) 0 (db/plan pool "select generate_series(1, 2) as v"))))
    (is (= {:v 2} (db/with-connection [c pool] (db/query-one c "select 2 as v"))))
    (is (= 2 (db/with-transaction [tx pool] (:v (db/query-one tx "select 2 as v")))))
    (is (= (.size pool) (.idle pool))))
  (is (= {:v 3} (db/with-connection [c (servers/spec)] (db/query-one c "select 3 as v")))))

(deftest says-what-is-wrong
  (is (thrown? CanceledException (db/query *db* "select pg_sleep(30)" {:timeout-ms 100})))
  (is (thrown? CanceledException (db/pipeline *db* ["select 1" "select pg_sleep(600)"] {:timeout-ms 100})))
  (is (thrown? CanceledException (db/execute-batch *db* "select pg_sleep($1)" [[0] [600]] {:timeout-ms 100})))
  (is (thrown? CanceledException (into [] (db/plan *db* "select pg_sleep(600)" {:timeout-ms 100}))))
  (let [waiting (future (try (db/query *db* "select pg_sleep(600)") (catch CanceledException e e)))]
    (future-cancel waiting)
    (is (= {:v 1} (db/query-one *db* "select 1 as v")) "the connection is free again"))
  (is (thrown? ServerException (db/query *db* "selec")))
  (is (thrown? ValueException (db/query *db* ["select $1::int" (Object.)])))
  (is (thrown? IllegalArgumentException (db/query *db* 42)))
  (db/script *db* "drop table if exists named; create table named (i int constraint positive check (i > 0))")
  (doseq [insert [#(db/execute *db* "insert into named values (-1)")
                  #(db/execute-batch *db* "insert into named values ($1)" [[1] [-1]])]]
    (is (= {:sql-state "23514" :severity "ERROR" :constraint "positive" :table "named"}
           (try (insert) (catch PostgresException e
                           (select-keys (db/error-data e) [:sql-state :severity :constraint :table :column]))))))
  (db/execute *db* "drop table named")
  (is (= #{:sql-state :message} (try (db/query *db* ["select 1" 2]) (catch ValueException e (set (keys (db/error-data e)))))))
  (let [heard (atom [])]
    (db/on-query *db* #(swap! heard conj (select-keys % [:sql :rows])))
    (is (= {:one 1} (db/query-one *db* "select 1 as one")))
    (is (= [{:sql "select 1 as one" :rows 1}] @heard))))
