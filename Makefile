# `make run` and `make test` install what is missing first (scripts/setup says what).
SHELL := /bin/bash
# Some services and CI machines start programs without a HOME.
HOME ?= $(shell getent passwd $$(id -u) | cut -d: -f6)
export HOME
CARGO_HOME ?= $(HOME)/.cargo
export PATH := $(CARGO_HOME)/bin:$(PATH)
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR

.PHONY: run test suites bench bench-parser bench-jvm release fmt lint

# A throwaway PostgreSQL, Trunkline in front of it, and a short comparison. ONCE=1 leaves after the table.
run:
	@scripts/setup run
	@cargo build --locked --release --package trunkline --package trunkline-testkit --bin trunkline --bin demo
	@TRUNKLINE_BIN=$(abspath $(CARGO_TARGET_DIR))/release/trunkline exec $(CARGO_TARGET_DIR)/release/demo

# Everything that must hold before a change lands; the last line counts.
test:
	@scripts/setup test
	@scripts/test

# What is rare and long: more of the same random input, the packages, the release build. An hour on two cores.
suites:
	@scripts/setup test
	@scripts/suites

# The binary to ship, optimised by a profile of the benchmark's loads: prints where it is.
release:
	@scripts/setup release
	@scripts/release

# Measures Trunkline beside PgBouncer and a bare relay, writes the tables into docs/benchmarks.md and draws the README's
# chart of them. `trunkline-bench chart docs` draws it again without measuring.
bench:
	@scripts/setup release
	@trunkline=$$(scripts/release) && \
		cargo run --locked --release --package trunkline-bench -- --trunkline "$$trunkline" --docs docs
	@$(MAKE) --no-print-directory bench-parser

# The parser beside pg_query, pg_raw_parse, sqlparser and the bare C call: times, and instructions by callgrind. Prints
# the tables that stand in docs/benchmarks.md.
bench-parser:
	@scripts/setup bench
	@cargo build --locked --release --manifest-path crates/dev/bench-parser/Cargo.toml --bins
	@$(CARGO_TARGET_DIR)/release/trunkline-bench-parser

# Our clients for the JVM beside pgjdbc, vertx-pg-client and bare sockets, with charts in docs/.
bench-jvm:
	@scripts/setup bench-jvm
	@cargo build --locked --package trunkline-testkit --bin cluster
	@CLUSTER_BIN=$(CARGO_TARGET_DIR)/debug/cluster clients/bench/run

fmt:
	@cargo fmt --all

lint:
	@cargo clippy --locked --workspace --all-targets -- -D warnings
	@cargo xtask tidy
