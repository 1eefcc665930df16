#!/usr/bin/env bash
# format.sh [--check]: formats every Rust file. `cargo fmt` alone follows `mod` lines, so it never sees the modules that a
# macro declares, such as `tools!` in crates/toolbox/src/tools/mod.rs.
set -euo pipefail
cd "$(dirname "$0")/.."

find bench crates xtask -name '*.rs' -not -path '*/target/*' -print0 | xargs -0 rustfmt "$@"
