# Two commands: `make run` starts Pilothouse, `make test` proves it. Both do their own set-up.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash

# The page as the program embeds it, and all it is made of. Folders count, so that a file that goes is noticed too.
PAGE := web/dist/index.html
PACKAGES := web/node_modules/.package-lock.json
PAGE_SOURCES := $(shell find web/src web/public -not -name '*.test.ts*') $(wildcard web/*.html web/*.ts web/package.json)

.PHONY: help run web test soak lint bench gen pictures setup

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 8

run: web ## Build and start the server on http://127.0.0.1:8006 (ARGS="--port 9000" …)
	cargo run --profile quick -p pilothouse -- serve $(ARGS)

web: $(PAGE) ## Build the page that the server carries, if it has changed

$(PAGE): $(PACKAGES) $(PAGE_SOURCES)
	@scripts/check-node.sh
	npm --prefix web run --silent build -- --logLevel warn

# Not `npm ci`: it refuses a lock file without the packages for other systems, which not every registry has. This takes
# the same versions and leaves the lock file as it is.
$(PACKAGES): web/package-lock.json
	@scripts/check-node.sh
	npm --prefix web install --no-save --no-audit --no-fund --prefer-offline --loglevel error
	@touch $@

test: ## Check style and run every test (a table at the end says how each step went)
	scripts/test.sh

soak: ## Run every test with four times the seeds, kill points and races, and all browser tests on both engines
	TEST_SCALE=4 scripts/test.sh

lint: $(PACKAGES) ## Check style, lints, architecture, documentation, dependencies and spelling
	scripts/format.sh --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo run --quiet -p xtask -- tidy
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
	npm --prefix web run --silent check
	scripts/check-dependencies.sh
	scripts/check-spelling.sh

bench: web ## Measure both engines against the limit and against Node, and how smooth the page is (about eight minutes)
	cargo build --release -p pilothouse -p pilothouse-bench
	target/release/pilothouse-bench
	MEASURES=1 PILOTHOUSE_BIN=$(CURDIR)/target/release/pilothouse web/e2e/test.sh embedded

gen: $(PACKAGES) ## Update generated files: settings table, API document and its types, list of tools, third-party licenses
	cargo run --quiet -p xtask -- gen
	npm --prefix web run --silent gen

pictures: web ## Take the pictures of the documentation anew
	PICTURES=$(CURDIR)/docs/pictures web/e2e/test.sh embedded

setup: ## Install what the tests need beyond Rust and Node
	scripts/setup-tests.sh
