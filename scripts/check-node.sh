#!/usr/bin/env bash
# Says how to get Node when there is none or it is too old to build the page. The version is that of web/package.json.
set -euo pipefail
needed=$(sed -n 's/.*"node": ">=\([0-9.]*\)".*/\1/p' "$(dirname "$0")/../web/package.json")

if command -v node >/dev/null && command -v npm >/dev/null; then
  found=$(node --version)
  oldest=$(printf '%s\n' "$needed" "${found#v}" | sort -V | head -n 1)
  [ "$oldest" != "$needed" ] || exit 0
  found="Node ${found#v}"
elif command -v node >/dev/null; then
  found="no npm"
else
  found="no Node"
fi

cat >&2 <<END
The page is built with Node $needed or newer and npm; here is $found. Install it with one of:
  curl -fsSL https://deb.nodesource.com/setup_22.x | sudo bash - && sudo apt-get install -y nodejs   # Debian, Ubuntu
  brew install node                                                                                  # macOS
  https://nodejs.org/en/download                                                                     # others
Without it, the server starts without its page: cargo run --profile quick -p pilothouse -- serve
END
exit 1
