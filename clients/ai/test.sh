#!/bin/sh
# test.sh [embedded | distributed]: builds the server and tests it with the published npm packages, which are installed
# if needed. The distributed engine uses the servers named by DATABASE_URL, REDIS_URL and RABBITMQ_URL; those that are not
# named are started for the test.
# built.
set -eu
engine=${1:-embedded}
here=$(dirname "$0")
root=$here/../..
programs=${CARGO_TARGET_DIR:-$root/target}/debug

if [ -z "${PILOTHOUSE_BIN:-}" ]; then
    cargo build --quiet --manifest-path "$root/Cargo.toml" --package pilothouse
    PILOTHOUSE_BIN=$programs/pilothouse
fi
export PILOTHOUSE_BIN
if ! [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ]; then
    (cd "$here" && npm ci --silent)
fi
case $engine in
embedded) exec node "$here/run.mjs" ;;
distributed)
    # Built already when all tests are run, and then with the same features as they are.
    [ -x "$programs/with-services" ] ||
        cargo build --quiet --manifest-path "$root/Cargo.toml" --package pilothouse-testkit --bin with-services
    exec "$programs/with-services" --own -- node "$here/run.mjs" --distributed
    ;;
*)
    echo "usage: test.sh [embedded | distributed]" >&2
    exit 2
    ;;
esac
