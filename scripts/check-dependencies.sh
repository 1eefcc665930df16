#!/usr/bin/env bash
# Checks the dependencies as deny.toml says: banned crates, licenses, sources and security advisories. Uses the cargo-deny
# on the PATH, or builds one below .tools, once.
set -euo pipefail
version=0.20.2
cd "$(dirname "$0")/.."
PATH=$PATH:$PWD/.tools/cargo-deny-$version/bin

if ! command -v cargo-deny >/dev/null; then
  echo "Building cargo-deny $version, once; this takes some minutes."
  cargo install --quiet --locked --root ".tools/cargo-deny-$version" --version "$version" cargo-deny
fi
cargo-deny --log-level error check bans licenses sources

# Without a network there is nothing to compare with, and that is no fault of the change that is checked.
if ! cargo-deny --log-level off fetch db >/dev/null 2>&1; then
  echo "advisories not checked: the database could not be fetched from github.com/rustsec/advisory-db"
  exit 0
fi
cargo-deny --log-level error check --disable-fetch advisories
