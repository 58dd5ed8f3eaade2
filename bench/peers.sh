#!/usr/bin/env bash
# Makes one Python environment an engine under build/peers: ours (from build/wheel, see
# tools/wheel.sh), the reference module, tantivy, and for vectors faiss, hnswlib, usearch, lancedb and rabitqlib.
set -euo pipefail
cd "$(dirname "$0")/.."
make() { # name, packages…
  local folder=build/peers/$1; shift
  [[ -x $folder/bin/python ]] || .venv/bin/python -m venv "$folder"
  "$folder/bin/pip" install -q --disable-pip-version-check numpy==2.4.6 pyarrow==26.0.1 "$@"
}
make infino --force-reinstall --no-deps build/wheel/infino-*.whl
make infino numpy==2.4.6
make reference infino==0.11.0
make tantivy 'tantivy==0.27.*'
make duckdb duckdb==2.0.1
make faiss 'faiss-cpu==1.15.*'
make hnswlib 'hnswlib==0.8.*'
make usearch 'usearch==2.26.*'
make lancedb 'lancedb==0.40.*'
make rabitqlib 'rabitqlib==0.7.*'
make tokens uniseg==0.10.1 babel==2.19.0  # no engine: what bench/tokens.py runs in
