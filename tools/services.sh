#!/usr/bin/env bash
# Installs the object storage servers that the tests run against, into build/services. What can't be
# installed is said, and its tests will be skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
services=$PWD/build/services
python=${PYTHON:-.venv/bin/python}
mkdir -p "$services"
missing() { printf 'tools/services.sh: no %s: its tests will be skipped\n' "$1" >&2; }

if ! cmp -s tools/services-requirements.txt "$services/venv/.requirements"; then
  { "$python" -m venv "$services/venv" &&
    "$services/venv/bin/pip" install -q --no-compile --disable-pip-version-check -r tools/services-requirements.txt &&
    cp tools/services-requirements.txt "$services/venv/.requirements"; } || missing "SeaweedFS and moto"
fi

azurite=3.35.0
if [[ $(cat "$services/.azurite" 2>/dev/null) != "$azurite" ]]; then
  { npm install --prefix "$services" --ignore-scripts --no-save --no-audit --no-fund --silent \
      "azurite@$azurite" && echo "$azurite" > "$services/.azurite"; } || missing Azurite
fi

exit 0
