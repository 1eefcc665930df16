#!/bin/sh
# Builds the server and lets the published npm packages drive it. Installs them first if need be.
set -eu
here=$(dirname "$0")
root=$here/../..

cargo build --quiet --manifest-path "$root/Cargo.toml" --package pilothouse
if ! [ "$here/node_modules/.package-lock.json" -nt "$here/package-lock.json" ]; then
    (cd "$here" && npm ci --silent)
fi
PILOTHOUSE_BIN=${CARGO_TARGET_DIR:-$root/target}/debug/pilothouse exec node "$here/run.mjs"
