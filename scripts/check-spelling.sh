#!/usr/bin/env bash
# Checks the spelling of names and texts with `typos`, as typos.toml says. Installs it below .tools if need be: from PyPI,
# which has it as a program that is ready to run.
set -euo pipefail
version=1.51.1
cd "$(dirname "$0")/.."
folder=.tools/typos-$version
typos=$folder/bin/typos

if [ ! -x "$typos" ]; then
  rm -rf "$folder"
  if ! { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --disable-pip-version-check "typos==$version"; }; then
    rm -rf "$folder"
    echo "The spelling check needs Python 3 with venv and pip (Debian: apt-get install python3-venv)." >&2
    exit 1
  fi
fi
exec "$typos" --format brief
