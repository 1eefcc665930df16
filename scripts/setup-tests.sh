#!/usr/bin/env bash
# Installs what the tests need beyond Rust and Node: the sandbox for `bash_exec` and a fake clock for the
# clock-jump test. Does nothing when both are there.
set -euo pipefail

missing=()
command -v bwrap >/dev/null || missing+=(bubblewrap)
[ -n "$(find /usr/lib /usr/lib64 /usr/local/lib -name 'libfaketime.so.1' -print -quit 2>/dev/null)" ] || missing+=(libfaketime)
[ ${#missing[@]} -eq 0 ] && exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if ! command -v apt-get >/dev/null; then
  echo "The tests need ${missing[*]}; install them with your system's package manager." >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  sudo=(sudo -n)
fi
export DEBIAN_FRONTEND=noninteractive
if ! { "${sudo[@]}" apt-get update -qq && "${sudo[@]}" "${install[@]}" -qq >/dev/null; }; then
  echo "The tests need ${missing[*]}; install them with: sudo ${install[*]}" >&2
  exit 1
fi
