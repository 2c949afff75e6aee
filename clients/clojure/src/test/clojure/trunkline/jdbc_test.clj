(ns trunkline.jdbc-test
  "What a program that was written for next.jdbc does."
  (:require [clojure.test :refer [deftest is]]
            [trunkline.jdbc :as jdbc]
            [trunkline.plan :as plan]
            [trunkline.servers :as servers]
            [trunkline.sql :as sql]))

(deftest a-program-of-next-jdbc
  (with-open [ds (jdbc/get-datasource (assoc (servers/spec) :dbtype "postgresql"))]
    (jdbc/execute! ds ["drop table if exists jdbc_users"])
    (jdbc/execute! ds ["create table jdbc_users (id int primary key, full_name text, tags jsonb)"])
    (is (= [{:next.jdbc/update-count 2}]
           (jdbc/execute! ds ["insert into jdbc_users values (?, ?, '{\"a\": 1}'), (?, ?, '{}')" 1 "Ada" 2 "Grace"])))
    (is (= [{:jdbc_users/id 1 :jdbc_users/full_name "Ada"} {:jdbc_users/id 2 :jdbc_users/full_name "Grace"}]
           (jdbc/execute! ds ["select id, full_name from jdbc_users order by id"])))
    (is (= {:full_name "Grace"}
           (jdbc/execute-one! ds ["select full_name from jdbc_users where id = ?" 2]
                              {:builder-fn jdbc/as-unqualified-maps})))
    (is (= {:jdbc-users/full-name "Ada"}
           (jdbc/execute-one! ds ["select full_name from jdbc_users where tags ?? 'a'"]
                              {:builder-fn jdbc/as-kebab-maps})))
    (is (= [[:jdbc_users/id :n] [1 "Ada"] [2 "Grace"]]
           (jdbc/execute! ds ["select id, full_name || '' as n from jdbc_users order by id"] {:builder-fn jdbc/as-arrays})))
    (is (= [[:id :full_name] [1 "Ada"]]
           (jdbc/execute! ds ["select id, full_name from jdbc_users order by id"]
                          {:builder-fn jdbc/as-unqualified-arrays :max-rows 1})))
    (is (= [2 "Grace"] (jdbc/execute-one! ds ["select id, full_name from jdbc_users where id = ?" 2]
                                          {:builder-fn jdbc/as-unqualified-arrays})))
    (is (thrown-with-msg? IllegalArgumentException #"builder-fn"
                          (jdbc/execute! ds ["select 1"] {:builder-fn (fn [_ _])})))
    (is (= [1 1] (jdbc/execute-batch! ds "insert into jdbc_users values (?, ?)" [[3 "x"] [4 "y"]])))
    (is (= 10 (reduce (fn [sum row] (+ sum (:id row))) 0 (jdbc/plan ds ["select id from jdbc_users"]))))
    (is (= [[1 1 nil nil] [2 2 nil nil]]
           (into [] (map (juxt :id :jdbc_users/id :jdbc_users/name :name))
                 (jdbc/plan ds ["select id from jdbc_users order by id"] {:max-rows 2}))) "with the table's name too")
    (is (= [{:id 1 :x/id 2}] (into [] (map #(assoc % :x/id 2)) (jdbc/plan ds ["select id from jdbc_users where id = 1"]))))
    (is (= [[1]] (into [] (jdbc/plan ds ["select 1"] {:builder-fn jdbc/as-arrays}))))
    (is (thrown? Exception (jdbc/with-transaction [tx ds]
                             (jdbc/execute! tx ["delete from jdbc_users"])
                             (throw (ex-info "no" {})))))
    (is (= {:n 4} (jdbc/execute-one! ds ["select count(*) as n from jdbc_users"])))
    (jdbc/with-transaction [tx ds {:rollback-only true}]
      (jdbc/execute! tx ["delete from jdbc_users"]))
    (is (nil? (jdbc/execute-one! ds ["select 1 from jdbc_users where id = ?" 99])))
    (is (= {:n 4} (jdbc/execute-one! ds ["select count(*) as n from jdbc_users"])))
    (jdbc/execute! ds ["drop table jdbc_users"])
    (is (= [{:next.jdbc/update-count 0}]
           (jdbc/execute! ds ["drop table if exists jdbc_one; create table jdbc_one (i int); -- the end"]))
        "several statements in one text, as in schemas")
    (is (= [{:v 1}] (jdbc/execute! ds ["select 1 as v; select 2 as w;"])))
    (is (= [{:v ";"}] (jdbc/execute! ds ["select ';' as v;"])))
    (jdbc/execute! ds ["drop table jdbc_one"]))
  (with-open [connection (jdbc/get-connection (servers/spec))]
    (is (= {:v 1} (jdbc/execute-one! connection ["select 1 as v"] {:timeout 5})))))

(deftest sources-as-next-jdbc-names-them
  (let [{:keys [host port user password dbname]} (servers/spec)
        url (str "jdbc:postgresql://" host ":" port "/" dbname "?sslmode=disable")]
    (doseq [spec [(str url "&user=" user "&password=" password)
                  {:jdbcUrl url :user user :password password}
                  {:jdbcUrl url :username user :password password}
                  {:dbtype "postgresql" :host host :port port :dbname dbname :username user :password password
                   :sslmode "disable" :ApplicationName "till" :reWriteBatchedInserts true}
                  (str url "&user=" user "&password=" password "&currentSchema=pg_catalog&loginTimeout=5&prepareThreshold=0"
                       "&targetServerType=primary&ApplicationName=till")]]
      (with-open [connection (jdbc/get-connection spec)]
        (is (= {:u user} (jdbc/execute-one! connection ["select current_user::text as u"])))))))

(deftest prepared-statements-and-plans
  (with-open [ds (jdbc/get-datasource (servers/spec))]
    (jdbc/execute! ds ["drop table if exists jdbc_prepared; create table jdbc_prepared (id int, v text)"])
    (jdbc/on-connection [c ds]
      (with-open [insert (jdbc/prepare c ["insert into jdbc_prepared values (?, ?)"])
                  all (jdbc/prepare c ["select * from jdbc_prepared where id > ? order by id" 1]
                                    {:builder-fn jdbc/as-unqualified-maps})]
        (is (= [1 1] (jdbc/execute-batch! insert [[1 "a"] [2 "b"]])))
        (is (= [1] (jdbc/execute-batch! insert [[3 "c"]] {:timeout 60})))
        (is (= [{:id 2 :v "b"} {:id 3 :v "c"}] (jdbc/execute! all)))
        (is (= {:id 2 :v "b"} (jdbc/execute-one! all)))
        (is (= [2 3] (into [] (map :id) (jdbc/plan all))))))
    (is (= [1 2 3] (plan/select! ds :id ["select * from jdbc_prepared order by id"])))
    (is (= #{{:id 1 :v "a"} {:id 2 :v "b"}}
           (plan/select! ds [:id :v] ["select *, 1 as more from jdbc_prepared where id < ?" 3] {:into #{}})))
    (is (= "a1" (plan/select-one! ds (fn [{:keys [id v]}] (str v id)) ["select * from jdbc_prepared order by id"])))
    (is (nil? (plan/select-one! ds :id ["select * from jdbc_prepared where false"])))
    (jdbc/execute! ds ["drop table jdbc_prepared"])))

(deftest urls-of-jdbc
  (doseq [[jdbc url] {"jdbc:postgresql://h:1,i:2/d?ssl=true" "postgresql://h:1,i:2/d?ssl=true"
                      "jdbc:postgresql:d" "postgresql:///d"
                      "jdbc:postgresql:/" "postgresql:///"
                      "jdbc:postgresql:d?targetServerType=preferSecondary&loadBalanceHosts=true"
                      "postgresql:///d?target_session_attrs=prefer-standby&load_balance_hosts=random"
                      "jdbc:postgresql://h/d?prepareThreshold=0" "postgresql://h/d"
                      "postgres://u@h/d" "postgres://u@h/d"}]
    (is (= url (#'jdbc/url-of jdbc)))))

(deftest options-for-all
  (with-open [ds (jdbc/get-datasource (servers/spec))]
    (jdbc/execute! ds ["drop table if exists jdbc_options"])
    (jdbc/execute! ds ["create table jdbc_options (an_id int primary key, v text)"])
    (let [kebab (jdbc/with-options ds {:builder-fn jdbc/as-unqualified-kebab-maps})]
      (is (= {:an-id 1 :v "x"}
             (jdbc/execute-one! kebab ["insert into jdbc_options values (?, ?)" 1 "x"] {:return-keys true})))
      (is (= [{:v "y"}] (jdbc/execute! kebab ["update jdbc_options set v = ? -- returning\n;" "y"] {:return-keys [:v]})))
      (is (= [{:v "y"}] (jdbc/execute! kebab ["select v from jdbc_options"] {:return-keys true})))
      (is (= [{:v "y"}] (jdbc/execute! kebab ["update jdbc_options set v = v returning v"] {:return-keys true})))
      (is (= [{:v " returning "}]
             (jdbc/execute! kebab ["with w as (select 2 as i) insert into jdbc_options select i, ' returning ' from w"]
                            {:return-keys [:v]})))
      (is (= {:next.jdbc/update-count 1} (jdbc/execute-one! kebab ["delete from jdbc_options where an_id = ?" 2])))
      (is (= [{:an-id 1 :v "y"}] (into [] (jdbc/plan kebab ["select * from jdbc_options"] {:fetch-size 1}))))
      (is (= [{:an-id 1}] (jdbc/with-transaction+options [tx kebab] (jdbc/execute! tx ["select an_id from jdbc_options"]))))
      (is (= {:jdbc_options/an_id 1}
             (jdbc/on-connection [c kebab] (jdbc/execute-one! c ["select an_id from jdbc_options"])))))
    (jdbc/execute! ds ["drop table jdbc_options"])))

(deftest kebab-case-both-ways
  (with-open [ds (jdbc/get-datasource (servers/spec))]
    (jdbc/execute! ds ["drop table if exists snake_table; create table snake_table (an_id int, a_name text)"])
    (let [both (jdbc/with-options ds jdbc/snake-kebab-opts)
          short (jdbc/with-options ds jdbc/unqualified-snake-kebab-opts)]
      (is (= #:snake-table{:an-id 1 :a-name "x"} (sql/insert! both :snake-table {:an-id 1 :a-name "x"})))
      (is (= [{:an-id 1 :a-name "x"}] (sql/find-by-keys short :snake-table {:an-id 1})))
      (is (= {:next.jdbc/update-count 1} (sql/update! both :snake-table {:a-name "y"} {:an-id 1})))
      (is (= "y" (sql/aggregate-by-keys short :snake-table "max(a_name)" {:an-id 1}))))
    (jdbc/execute! ds ["drop table snake_table"])))

(deftest statements-of-maps
  (with-open [ds (jdbc/get-datasource (servers/spec))]
    (jdbc/execute! ds ["drop table if exists sql_users"])
    (jdbc/execute! ds ["create table sql_users (id int generated always as identity primary key, name text, \"a-b\" int)"])
    (is (= #:sql_users{:id 1 :name "Ada" :a-b 7} (sql/insert! ds :sql_users {:name "Ada" :a-b 7})))
    (is (= [#:sql_users{:id 2 :name "Grace" :a-b nil} #:sql_users{:id 3 :name "Edsger" :a-b 1}]
           (sql/insert-multi! ds :sql_users [{:name "Grace" :a-b nil} {:a-b 1 :name "Edsger"}])))
    (is (= [{:id 4}] (sql/insert-multi! ds :sql_users [:name] [["Alan"]]
                                        {:return-keys [:id] :builder-fn jdbc/as-unqualified-maps})))
    (is (= [] (sql/insert-multi! ds :sql_users [])))
    (is (thrown? IllegalArgumentException (sql/insert-multi! ds :sql_users [{:name "x"} {:a-b 1}])))
    (is (= {:next.jdbc/update-count 1} (sql/update! ds :sql_users {:name "Ada L."} {:id 1 :a-b 7})))
    (is (= {:next.jdbc/update-count 2} (sql/update! ds :sql_users {:a-b 5} ["id >= ?" 3])))
    (is (= #:sql_users{:id 1 :name "Ada L." :a-b 7} (sql/get-by-id ds :sql_users 1)))
    (is (= 2 (:sql_users/id (sql/get-by-id ds "sql_users" "Grace" :name {}))))
    (is (nil? (sql/get-by-id ds :sql_users 99)))
    (is (= [2] (map :sql_users/id (sql/find-by-keys ds :sql_users {:a-b nil}))))
    (is (= [#:sql_users{:id 4} #:sql_users{:id 3}]
           (sql/find-by-keys ds :sql_users :all {:columns [:id] :order-by [[:id :desc]] :limit 2})))
    (is (= [3] (map :sql_users/id (sql/find-by-keys ds :sql_users ["name like ?" "Eds%"]))))
    (is (= 4 (sql/aggregate-by-keys ds :sql_users "count(*)" :all)))
    (is (= 1 (sql/aggregate-by-keys ds :sql_users "count(*)" {:name "Alan"})))
    (is (= {:next.jdbc/update-count 1} (sql/delete! ds :sql_users {:name "Alan"})))
    (is (thrown? IllegalArgumentException (sql/delete! ds :sql_users {})))
    (is (= [{:n 3}] (sql/query ds ["select count(*) as n from sql_users"])))
    (jdbc/execute! ds ["drop table sql_users"])))
