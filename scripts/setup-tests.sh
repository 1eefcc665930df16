#!/usr/bin/env bash
# Installs what the tests need beyond Rust and Node: the sandbox for `bash_exec`, a fake clock for the clock-jump test,
# the servers of the distributed engine, which the tests start themselves, and a browser with a font for the page. Does
# nothing when all are there.
set -euo pipefail

has_file() { # FILE FOLDER…: somewhere below one of these folders
  local name=$1
  shift
  [ -n "$(find "$@" -name "$name" -print -quit 2>/dev/null)" ]
}
has() { PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$1" >/dev/null; }

missing=()
has bwrap || missing+=(bubblewrap)
has_file libfaketime.so.1 /usr/lib /usr/lib64 /usr/local/lib || missing+=(libfaketime)
has postgres || has_file postgres /usr/lib/postgresql || missing+=(postgresql)
has redis-server || missing+=(redis-server)
has rabbitmq-server || has_file rabbitmq-server /usr/lib/rabbitmq || missing+=(rabbitmq-server)
has chromium || missing+=(chromium)
has_file '*.ttf' /usr/share/fonts || has_file '*.otf' /usr/share/fonts || missing+=(fonts-dejavu-core)
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

# The packages would start servers of their own, which nobody needs here. This file is how a system tells them not to;
# where there is one already, its owner has decided.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" install -m 755 /dev/stdin "$policy" 2>/dev/null &&
    trap '"${sudo[@]}" rm -f "$policy"' EXIT
fi
if ! { "${sudo[@]}" apt-get update -qq &&
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}" -qq >/dev/null; }; then
  echo "The tests need ${missing[*]}; install them with: sudo ${install[*]}" >&2
  exit 1
fi
