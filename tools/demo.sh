#!/usr/bin/env bash
# Installs what is needed, builds infino, loads the sample into a table and searches it.
# Runs again in seconds; what is done already is not done twice.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s\n' "$*"; }

tools/bootstrap.sh
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

say "building the infino command (a few minutes the first time)"
cmake --preset release -DINFINO_PYTHON="$PWD/.venv/bin/python"
cmake --build --preset release --target infino

infino=build/release/cli/infino
say "loading sample/packages.parquet into the table 'packages' under demo/"
if "$infino" schema demo packages 2> /dev/null | grep -q '"vector, '; then
  echo "already there"
else
  if "$infino" schema demo packages > /dev/null 2>&1; then "$infino" drop demo packages; fi
  "$infino" create demo packages --from sample/packages.parquet --fts text --vector embedding
  "$infino" append demo packages sample/packages.parquet
fi
if ! "$infino" schema demo queries > /dev/null 2>&1; then
  "$infino" create demo queries --from sample/queries.parquet --fts text
  "$infino" append demo queries sample/queries.parquet --quiet
fi

say "infino search demo packages text 'command line tool for csv files' -k 5"
"$infino" --format table search demo packages text 'command line tool for csv files' -k 5 \
  --columns id,text,score

say "the embedding of a query of the sample: 'A command-line tool to convert YouTube videos to MP3 ...'"
"$infino" --format json search demo queries text 'convert youtube' -k 1 --columns embedding |
  grep -o '\[.*\]' > build/demo-query.txt
say "infino vector demo packages embedding @build/demo-query.txt -k 5"
"$infino" --format table vector demo packages embedding @build/demo-query.txt -k 5 --columns id,text,score

say "infino hybrid demo packages text 'youtube mp3' embedding @build/demo-query.txt -k 5"
"$infino" --format table hybrid demo packages text 'youtube mp3' embedding @build/demo-query.txt -k 5 \
  --columns id,text,score
say "done: try your own with $infino search demo packages text 'your words'"
