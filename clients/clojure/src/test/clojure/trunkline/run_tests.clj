(ns trunkline.run-tests
  "Runs all suites, against all servers that TRUNKLINE_TEST_SERVERS names, and prints the counts as CI reads them."
  (:require [clojure.test :as t]
            [trunkline.core-test]
            [trunkline.jdbc-test]
            [trunkline.row-map-test]
            [trunkline.row-vector-test]
            [trunkline.servers :as servers]))

(defn- run [namespaces]
  (apply t/run-tests namespaces))

(defn -main []
  (let [live (for [server (servers/all)]
               (binding [servers/*server* server]
                 (println "\n#" (:version server) (:way server))
                 (run '[trunkline.core-test trunkline.jdbc-test])))
        results (doall (cons (run '[trunkline.row-map-test trunkline.row-vector-test]) live))
        {:keys [pass fail error]} (apply merge-with + (map #(select-keys % [:pass :fail :error]) results))
        failed (+ fail error)]
    (println (format "%d passed, %d failed" pass failed))
    (shutdown-agents)
    (System/exit (if (zero? failed) 0 1))))
