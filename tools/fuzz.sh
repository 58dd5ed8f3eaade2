#!/usr/bin/env bash
# Runs every fuzz target of a build folder for some seconds each: tools/fuzz.sh build/asan 5
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
seconds=$2
# Arrow's own allocator would hide from the sanitizer what is read beyond a buffer.
export ARROW_DEFAULT_MEMORY_POOL=system
export ASAN_OPTIONS=detect_container_overflow=0:detect_leaks=0:allocator_may_return_null=1
passed=0
for target in "$build"/fuzz/*_fuzz; do
  name=$(basename "$target")
  corpus=$build/corpus/$name
  mkdir -p "$corpus"
  if [[ -d fuzz/corpus/${name%_fuzz} ]]; then cp -n fuzz/corpus/"${name%_fuzz}"/* "$corpus"/; fi
  if ! "$target" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=20 \
      -artifact_prefix="$build/crash-$name-" "$corpus" > "$build/$name.log" 2>&1; then
    tail -40 "$build/$name.log"
    echo "$name failed"
    exit 1
  fi
  printf '%-28s %s\n' "$name" "$(grep -E '^Done|stat::number' "$build/$name.log" | head -1)"
  passed=$((passed + 1))
done
echo "$passed fuzz targets found nothing"
