"""Measures an HTTP server whose pages are rows as JSON: `pages.py VALUES PORT ROUNDS JAVA...` for clients/bench/run.

The pages are asked for in turns, by wrk; the server says how much CPU it has used. Medians of the rounds.
"""

import re
import socket
import statistics
import subprocess
import sys
import urllib.request

PAGES = {
    "rows": "rows, decoded into the page",
    "maps": "Clojure maps",
    "eager": "rows, decoded into maps first",
    "pgjdbc": "next.jdbc's maps on pgjdbc",
}
CONNECTIONS = (1, 16, 64)
SECONDS = 3


def main():
    values, port, rounds, *java = sys.argv[1:]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        listen = probe.getsockname()[1]
    server = subprocess.Popen([*java, port, str(listen)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if server.stdout.readline().strip() != "ready":
        sys.exit("the HTTP server did not start")
    try:
        url = f"http://127.0.0.1:{listen}/"
        for page in PAGES:
            ask(url, page, 16, 5)
        figures = {}
        for _ in range(int(rounds)):
            for connections in CONNECTIONS:
                for page in PAGES:
                    figures.setdefault((page, connections), []).append(ask(url, page, connections, SECONDS))
        write(values, figures)
    finally:
        server.stdin.close()
        server.wait()


def ask(url, page, connections, seconds):
    """Requests a second, and the server's CPU in microseconds for each."""
    before = cpu(url)
    said = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url + page], capture_output=True, text=True,
                          check=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(f"the page {page} fails:\n{said}")
    requests = int(re.search(r"(\d+) requests in", said)[1])
    return float(re.search(r"Requests/sec: +([\d.]+)", said)[1]), (cpu(url) - before) * 1000 / requests


def cpu(url):
    with urllib.request.urlopen(url + "cpu") as answer:
        return int(answer.read())


def write(values, figures):
    print("\n### HTTP with JSON: 100 rows of nine columns a page\n")
    print("| way | " + " | ".join(f"{n} connections, requests/s | CPU us" for n in CONNECTIONS) + " |")
    print("|---|" + "---:|---:|" * len(CONNECTIONS))
    with open(values, "a") as out:
        for page, name in PAGES.items():
            cells = []
            for connections in CONNECTIONS:
                rate, cost = (statistics.median(column) for column in zip(*figures[page, connections]))
                cells.append(f"{rate:,.0f} | {cost:.0f}")
                out.write(f"http {connections}\t{name}\t{rate:.3f}\t{cost:.3f}\n")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
