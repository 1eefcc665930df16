# Two commands: `make run` starts Pilothouse, `make test` proves it. Both do their own set-up.
.DEFAULT_GOAL := help
SHELL := bash

# nextest gives every test its own process and a time limit; plain `cargo test` runs the same tests.
TEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo "cargo nextest run" || echo "cargo test")

# Where the programs for development are.
BUILT := $(or $(CARGO_TARGET_DIR),target)/debug

.PHONY: help run test lint bench gen setup

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 8

run: ## Build and start the server on http://127.0.0.1:8006 (ARGS="--port 9000" …)
	cargo run --profile quick -p pilothouse -- serve $(ARGS)

test: setup ## Check style and run every test
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo run --quiet -p xtask -- tidy
	cargo build --quiet --workspace --bins --tests
	$(BUILT)/with-services -- $(MAKE) --no-print-directory suite

# Everything that needs the servers, once they are there.
.PHONY: suite
suite:
	$(TEST) --workspace
	clients/ai/test.sh embedded
	clients/ai/test.sh distributed

lint: ## Style, lints, architecture and licences
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo run --quiet -p xtask -- tidy
	@cargo deny --version >/dev/null 2>&1 || { echo "cargo-deny is missing; install it with: cargo install --locked cargo-deny"; exit 1; }
	cargo deny check bans licenses sources

bench: ## Measure both engines against the limit and against Node (about six minutes)
	cargo build --release -p pilothouse -p pilothouse-bench
	target/release/pilothouse-bench

gen: ## Write the generated documents anew (configuration table, API document)
	cargo run --quiet -p xtask -- gen

setup: ## Install what the tests need beyond Rust and Node
	scripts/setup-tests.sh
