#!/usr/bin/env bash
# release-notes.sh VERSION: prints the section of CHANGELOG.md about this version. Fails when there is none, or when
# Cargo.toml, docs/openapi.json or the README has another version.
set -euo pipefail
version=${1:?usage: release-notes.sh VERSION}
cd "$(dirname "$0")/.."

fail() {
  echo "$1" >&2
  exit 1
}
grep -qx "version = \"$version\"" Cargo.toml || fail "Cargo.toml does not have version $version."
grep -q "\"version\": \"$version\"" docs/openapi.json || fail "docs/openapi.json does not have version $version: run make gen."
grep -qx "Pilothouse $version" README.md || fail "The README shows another version than $version."
notes=$(awk -v heading="## [$version]" 'index($0, "## [") == 1 { inside = index($0, heading) == 1; next } inside' CHANGELOG.md)
[ -n "${notes//[[:space:]]/}" ] || fail "CHANGELOG.md has no section about $version."
printf '%s\n' "$notes" | sed -e '/./,$!d'
