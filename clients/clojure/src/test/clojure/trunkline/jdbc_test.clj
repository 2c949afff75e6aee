(ns trunkline.jdbc-test
  "What a program that was written for next.jdbc does."
  (:require [clojure.test :refer [deftest is]]
            [trunkline.jdbc :as jdbc]
            [trunkline.servers :as servers]))

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
    (is (= [[:id :full_name] [1 "Ada"] [2 "Grace"]]
           (jdbc/execute! ds ["select id, full_name from jdbc_users order by id"] {:builder-fn jdbc/as-arrays})))
    (is (= [1 1] (jdbc/execute-batch! ds "insert into jdbc_users values (?, ?)" [[3 "x"] [4 "y"]])))
    (is (= 10 (reduce (fn [sum row] (+ sum (:id row))) 0 (jdbc/plan ds ["select id from jdbc_users"]))))
    (is (thrown? Exception (jdbc/with-transaction [tx ds]
                             (jdbc/execute! tx ["delete from jdbc_users"])
                             (throw (ex-info "no" {})))))
    (is (= {:n 4} (jdbc/execute-one! ds ["select count(*) as n from jdbc_users"])))
    (jdbc/with-transaction [tx ds {:rollback-only true}]
      (jdbc/execute! tx ["delete from jdbc_users"]))
    (is (nil? (jdbc/execute-one! ds ["select 1 from jdbc_users where id = ?" 99])))
    (is (= {:n 4} (jdbc/execute-one! ds ["select count(*) as n from jdbc_users"])))
    (jdbc/execute! ds ["drop table jdbc_users"]))
  (with-open [connection (jdbc/get-connection (servers/spec))]
    (is (= {:v 1} (jdbc/execute-one! connection ["select 1 as v"] {:timeout 5})))))
