(ns trunkline.servers
  "The servers that clients/run has started."
  (:require [clojure.string :as string]))

(def ^:dynamic *server* nil)

(defn all []
  (for [text (some-> (System/getenv "TRUNKLINE_TEST_SERVERS") (string/split #","))
        :let [[version way port] (string/split text #"\|")]]
    {:version (parse-long version) :way (keyword way) :port (parse-long port)}))

(defn spec []
  {:host "127.0.0.1" :port (:port *server*) :user "app" :password "correct-horse" :dbname "app" :sslmode :disable})

(defn keeps-sessions?
  "A server's way is direct, or the mode of the proxy before it."
  []
  (not= :transaction (:way *server*)))
