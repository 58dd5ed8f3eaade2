#!/usr/bin/env bash
# Makes the wheel from a build folder that was configured and built already: tools/wheel.sh build/ci
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
python=$PWD/.venv/bin/python
rm -rf build/wheel
PATH="$PWD/.venv/bin:$PATH" "$python" -m pip wheel . -q --disable-pip-version-check --no-deps \
  --no-build-isolation -w build/wheel -C build-dir="$build" -C cmake.build-type= \
  -C cmake.args="--preset=$(basename "$build")" \
  -C cmake.define.INFINO_PYTHON="$python" -C cmake.define.Python_EXECUTABLE="$python" \
  -C cmake.define.INFINO_BUILD_CLI=ON
ls -l build/wheel
