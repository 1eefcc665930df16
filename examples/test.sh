#!/bin/sh
# test.sh [embedded]: runs every example against a real server with the offline model, the pages in a real browser.
# Installs the packages of the examples first if need be. With PILOTHOUSE_BIN set, that program is tested and nothing of
# it is built.
set -eu
if [ "${1:-embedded}" != embedded ]; then
    echo "usage: test.sh [embedded]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
if [ -z "${PILOTHOUSE_BIN:-}" ]; then
    cargo build --quiet --manifest-path "$root/Cargo.toml" --package pilothouse
    PILOTHOUSE_BIN=${CARGO_TARGET_DIR:-$root/target}/debug/pilothouse
fi
PILOTHOUSE_BIN=$(realpath "$PILOTHOUSE_BIN")
export PILOTHOUSE_BIN NEXT_TELEMETRY_DISABLED=1

# The browser is driven with a package of web/.
make --silent -C "$root" web/node_modules/.package-lock.json

cd "$here/nextjs"
if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
    npm install --no-save --no-audit --no-fund --prefer-offline --loglevel error
    touch node_modules/.package-lock.json
fi
# Built again only after a change, because it takes most of the time of this test.
if [ ! -f .next/BUILD_ID ] || [ -n "$(find app next.config.ts package-lock.json tsconfig.json -newer .next/BUILD_ID)" ]; then
    node node_modules/next/dist/bin/next build
fi

# They wait more than they work.
exec node --test --test-concurrency=4 --test-reporter=spec "$here"/test/*.test.mjs
