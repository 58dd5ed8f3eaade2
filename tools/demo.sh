#!/usr/bin/env bash
# Installs what is needed, builds infino, loads the sample into a table and searches it.
# Runs again in seconds; what is done already is not done twice.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s\n' "$*"; }

tools/bootstrap.sh
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

say "building the infino command (a few minutes the first time)"
cmake --preset release -DINFINO_PYTHON="$PWD/.venv/bin/python" -DPython_EXECUTABLE="$PWD/.venv/bin/python" \
  > build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
rm -f build-configure.log
cmake --build --preset release

infino=build/release/cli/infino
say "loading sample/packages.parquet into the table 'packages' under demo/"
if "$infino" tables demo --format csv 2>/dev/null | grep -qx packages; then
  echo "already there"
else
  "$infino" create demo packages --from sample/packages.parquet --fts text
  "$infino" append demo packages sample/packages.parquet
fi

say "infino search demo packages text 'command line tool for csv files' -k 5"
"$infino" search demo packages text 'command line tool for csv files' -k 5 --columns id,text,score
say "done: try your own with $infino search demo packages text 'your words'"
