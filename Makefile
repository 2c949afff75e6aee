# The targets first install what is missing (scripts/setup lists it).
SHELL := /bin/bash
# Some services and CI machines start programs without a HOME.
HOME ?= $(shell getent passwd $$(id -u) | cut -d: -f6)
export HOME
CARGO_HOME ?= $(HOME)/.cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR

.PHONY: run test suites bench bench-parser bench-jvm release fmt lint

# Starts a temporary PostgreSQL and Trunkline in front of it, and prints a short comparison. ONCE=1 ends after the table.
run:
	@scripts/setup run
	@cargo build --locked --release --package trunkline --package trunkline-testkit --bin trunkline --bin demo
	@TRUNKLINE_BIN=$(abspath $(CARGO_TARGET_DIR))/release/trunkline exec $(CARGO_TARGET_DIR)/release/demo

# Runs everything that must pass before a change is merged. The last line has the counts.
test:
	@scripts/setup test
	@scripts/test

# Runs the long checks: more random input, the packages, the release build. Takes an hour on two cores.
suites:
	@scripts/setup test
	@scripts/suites

# Builds the binary to ship, optimised by a profile of the benchmark's loads, and prints its path.
release:
	@scripts/setup release
	@scripts/release

# Measures Trunkline, PgBouncer and a bare relay, writes the tables into docs/benchmarks.md and draws the README's chart.
# `trunkline-bench chart docs` draws the chart again without measuring.
bench:
	@scripts/setup release
	@trunkline=$$(scripts/release) && \
		cargo run --locked --release --package trunkline-bench -- --trunkline "$$trunkline" --docs docs
	@$(MAKE) --no-print-directory bench-parser

# Measures the parser, pg_query, pg_raw_parse, sqlparser and the bare C call: times, and instructions by callgrind. Prints
# the tables of docs/benchmarks.md.
bench-parser:
	@scripts/setup bench
	@cargo build --locked --release --manifest-path crates/dev/bench-parser/Cargo.toml --bins
	@$(CARGO_TARGET_DIR)/release/trunkline-bench-parser

# Measures Trunkline's clients for the JVM, pgjdbc, vertx-pg-client and bare sockets, and draws charts in docs/.
bench-jvm:
	@scripts/setup bench-jvm
	@cargo build --locked --package trunkline-testkit --bin cluster
	@CLUSTER_BIN=$(CARGO_TARGET_DIR)/debug/cluster clients/bench/run

fmt:
	@cargo fmt --all

lint:
	@cargo clippy --locked --workspace --all-targets -- -D warnings
	@cargo xtask tidy
