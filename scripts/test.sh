#!/usr/bin/env bash
# test.sh: every check and every test, from a clean clone. A step that fails does not hide the others: all of them run,
# and a table at the end says how each one ended and how long it took. A step whose input could not be built is
# reported as "not run".
#
# TEST_SCALE=10 makes the parts with a size (seeds, kill points, floods, long sessions) that many times larger;
# `make soak` does that.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export TEST_REPORT=${TEST_REPORT:-$(mktemp)}

# One pass of the compiler lints the workspace and builds the tests: the Clippy driver is a complete compiler, so
# `cargo clippy` and a second build would compile every crate twice.
RUSTC_WORKSPACE_WRAPPER=$(rustup which clippy-driver 2>/dev/null || command -v clippy-driver)
export RUSTC_WORKSPACE_WRAPPER
export CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
built=${CARGO_TARGET_DIR:-$root/target}/debug
export PILOTHOUSE_BIN=$built/pilothouse

# Stores and servers of tests live a few seconds and are thrown away. In memory they do not wait for a disk, and thousands
# of them leave it alone. What a kill -9 of a process can prove is the same there.
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "$(df --output=avail -k /dev/shm | tail -n 1)" -gt 4000000 ]; then
  TMPDIR=$(mktemp -d -p /dev/shm pilothouse-test-XXXXXX)
  chmod 755 "$TMPDIR" # Postgres runs as a user of its own
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi

record() { printf '%-50s %-8s %5s s\n' "$1" "$2" "$3" >>"$TEST_REPORT"; }

step() { # NAME COMMAND…
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    record "$name" ok $((SECONDS - start))
  else
    record "$name" FAILED $((SECONDS - start))
    return 1
  fi
}

not_run() { for name; do record "$name" 'not run' 0; done; }

lint_and_build() { cargo build --quiet --workspace --bins --tests; }

# nextest gives every test its own process and a time limit; plain `cargo test` runs the same tests.
rust_tests() {
  if cargo nextest --version >/dev/null 2>&1; then
    # Most tests wait more than they work.
    cargo nextest run --workspace --test-threads $((5 * $(nproc))) -E "not ($alone)"
  else
    cargo test --workspace
  fi
}

# Tests that measure memory, or fill a disk or the server's connections. Among the others they would make all of them
# wait until nothing else runs.
alone='binary_id(pilothouse::it) & test(/::(disk_full|slow_clients|floods)::/)'
rust_tests_alone() {
  ! cargo nextest --version >/dev/null 2>&1 || cargo nextest run --workspace --test-threads 1 -E "$alone"
}

page_checks() { npm --prefix web run --silent check && npm --prefix web run --silent test; }

suite() { # what needs the servers, once they are there
  step 'Rust tests' rust_tests
  step 'Rust tests that need the machine to themselves' rust_tests_alone
  step 'npm client, embedded engine' clients/ai/test.sh embedded
  step 'npm client, distributed engine' clients/ai/test.sh distributed
  step 'examples' examples/test.sh embedded
  step 'browser, embedded engine' web/e2e/test.sh embedded
  # The page does not know which engine it talks to. On the second one it is tried where the engines differ: streams,
  # follow-ups, crashes, long work, approvals and what operators see. `make soak` runs all of it on both.
  local differ=(copilot/resume copilot/follow-ups copilot/failures copilot/long-running pages/reviews pages/ops)
  [ "${TEST_SCALE:-1}" -eq 1 ] || differ=()
  step 'browser, distributed engine' web/e2e/test.sh distributed "${differ[@]}"
}

everything() {
  step 'install what the tests need' scripts/setup-tests.sh || true
  if ! step 'build the page' make --no-print-directory web; then
    not_run 'types, lints and tests of the page' 'lint and build' 'Rust tests'
    return
  fi
  # The page's own checks need one core for a minute, and the compiler often leaves one idle.
  local log
  log=$(mktemp)
  (step 'types, lints and tests of the page' page_checks >"$log" 2>&1) &
  local page=$!
  step 'format' scripts/format.sh --check
  if step 'lint and build' lint_and_build; then
    step 'architecture, documents and names' "$built/xtask" tidy
    wait "$page"
    cat "$log"
    "$built/with-services" -- "$root/scripts/test.sh" suite
  else
    wait "$page"
    cat "$log"
    not_run 'Rust tests' 'npm client' 'examples' 'browser'
  fi
}

case ${1:-} in
suite) suite ;;
'')
  everything
  printf '\n== Result\n'
  cat "$TEST_REPORT"
  printf '%-50s %-8s %5s s\n' 'all' '' "$SECONDS"
  ! grep -qE ' (FAILED|not run) ' "$TEST_REPORT"
  ;;
*)
  echo 'usage: test.sh' >&2
  exit 2
  ;;
esac
