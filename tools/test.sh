#!/usr/bin/env bash
# Installs what is needed, builds everything and runs all tests. Runs again quickly.
# INFINO_TEST_SEED=n repeats the random tests with that seed.
set -euo pipefail
cd "$(dirname "$0")/.."
say() { printf '\n== %s  [%(%H:%M:%S)T]\n' "$*" -1; }

tools/bootstrap.sh --test
tools/services.sh
python=$PWD/.venv/bin/python
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
here=(-DINFINO_PYTHON="$python" -DPython_EXECUTABLE="$python")

say "format and house rules"
git ls-files -z '*.cc' '*.h' | xargs -0 clang-format-19 --dry-run --Werror
"$python" tools/tidy.py

say "building all, with tests and the Python module"
cmake --preset ci "${here[@]}"
cmake --build --preset ci

say "tests of the library and the command"
ctest --preset ci -j "$CMAKE_BUILD_PARALLEL_LEVEL"

say "the wheel, from the same objects, in an environment of its own"
tools/wheel.sh build/ci
"$python" -m venv --clear build/wheel-env
build/wheel-env/bin/pip install -q --disable-pip-version-check build/wheel/infino-*.whl \
  pyarrow==26.0.1 duckdb==2.0.1 pandas==3.1.1 polars==2.1.0 pytest==9.2.0 numpy==2.4.6 \
  snowballstemmer==2.2.0
build/wheel-env/bin/python -m pytest -q -p no:cacheprovider tests/python

say "the CMake package, used by the example program"
cmake --build --preset ci --target infino_package
cmake --install build/ci --component dev --prefix build/prefix > /dev/null
cmake -S examples -B build/examples -G Ninja -DCMAKE_PREFIX_PATH="$PWD/build/prefix" "${here[0]}"
cmake --build build/examples
rm -rf build/notes
build/examples/notes build/notes "quick fox" | grep -q "the quick brown fox"
build/examples/vectors 250,120,10 warm | grep -q "warm orange"

say "the byte-handling layers under AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset asan "${here[@]}" -DINFINO_BUILD_CLI=OFF
cmake --build --preset asan --target byte_tests fuzz_targets
ctest --preset asan -L bytes -j "$CMAKE_BUILD_PARALLEL_LEVEL"

say "every fuzz target for a few seconds"
tools/fuzz.sh build/asan 5
say "all of it passed"
