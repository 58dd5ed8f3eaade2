#!/usr/bin/env bash
# Installs what building infino needs: Debian packages, and a virtual environment in .venv with the
# pinned Python packages. Does nothing where all of it is there. Usage: tools/bootstrap.sh [--test]
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s\n' "$*"; }

packages=(g++ cmake ninja-build ccache pkg-config libicu-dev libisal-dev libroaring-dev libstemmer-dev
          nlohmann-json3-dev libcli11-dev libedit-dev)
if [[ "${1:-}" == --test ]]; then
  packages+=(libgtest-dev libgmock-dev clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev)
fi

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  { echo "Python 3.11 or newer is needed; set PYTHON to one" >&2; exit 1; }
"$python" -c 'import ensurepip' 2>/dev/null || packages+=(python3-venv)
"$python" -c 'import os, sysconfig as s, sys
sys.exit(not os.path.exists(s.get_paths()["include"] + "/Python.h"))' || packages+=(python3-dev)
# Debian's package cargo is too old; this one is what browsers are built with.
cargo_needed=1.85
cargo_version=$(cargo --version 2>/dev/null | cut -d' ' -f2) || cargo_version=0
printf '%s\n' "$cargo_needed" "${cargo_version:-0}" | sort -V -C || packages+=(cargo-web rustc-web)
command -v npm > /dev/null || packages+=(npm)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  say "installing Debian packages: ${missing[*]}"
  sudo=""; [[ $(id -u) == 0 ]] || sudo=sudo
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -q
  $sudo apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

stamp=.venv/.requirements
if ! cmp -s tools/requirements.txt "$stamp" || ! .venv/bin/python -c 'import pyarrow' 2>/dev/null; then
  say "installing Python packages into .venv"
  [[ -x .venv/bin/python ]] || "$python" -m venv .venv
  .venv/bin/pip install -q --disable-pip-version-check -r tools/requirements.txt
  cp tools/requirements.txt "$stamp"
fi
say "everything that the build needs is installed"
