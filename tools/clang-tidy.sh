#!/usr/bin/env bash
# Runs clang-tidy over all sources of the library, or over those given.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
cmake --preset tidy -DINFINO_PYTHON="$python" -DPython_EXECUTABLE="$python" > /dev/null
files=("$@")
if ((${#files[@]} == 0)); then
  mapfile -t files < <(git ls-files 'src/infino/*.cc')
fi
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy-19 -p build/tidy --quiet
echo "clang-tidy: ${#files[@]} files are clean"
