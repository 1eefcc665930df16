#!/bin/sh
# test.sh [embedded | distributed] [FILTER…]: builds the server with its page and runs the browser tests. The
# distributed engine uses the servers named by DATABASE_URL, REDIS_URL and RABBITMQ_URL; those that are not set are
# started for the test run. With PILOTHOUSE_BIN set, that program is tested and nothing is built.
set -eu
engine=${1:-embedded}
[ $# -eq 0 ] || shift
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
programs=${CARGO_TARGET_DIR:-$root/target}/debug

if [ -z "${PILOTHOUSE_BIN:-}" ]; then
    make --no-print-directory -C "$root" web
    cargo build --quiet --manifest-path "$root/Cargo.toml" --package pilothouse
    PILOTHOUSE_BIN=$programs/pilothouse
fi
export PILOTHOUSE_BIN
export PILOTHOUSE_ENGINE="$engine"
cd "$here/.."
case $engine in
embedded) exec npx vitest run --config e2e/vitest.config.ts "$@" ;;
distributed)
    # Built already when all tests are run, and then with the same features as they are.
    [ -x "$programs/with-services" ] ||
        cargo build --quiet --manifest-path "$root/Cargo.toml" --package pilothouse-testkit --bin with-services
    exec "$programs/with-services" --own -- npx vitest run --config e2e/vitest.config.ts "$@"
    ;;
*)
    echo "usage: test.sh [embedded | distributed] [FILTER…]" >&2
    exit 2
    ;;
esac
