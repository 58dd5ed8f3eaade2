"""House rules that a compiler does not check: layers, doors, limits, banned words. Exit 1 on a fault.

Run from anywhere; reads the files that git tracks. Rules are explained in STYLE.md.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A folder may include itself and what its row names, and everything those name.
LAYERS = {
    "common": [],
    "codec": ["common"],
    "storage": ["common"],
    "index": ["codec", "common"],
    "superfile": ["index", "codec", "common"],
    "manifest": ["superfile", "index", "codec", "storage", "common"],
    "supertable": ["manifest", "superfile", "index", "codec", "storage", "common"],
    "query": ["supertable", "manifest", "superfile", "index", "codec", "storage", "common"],
    "commit": ["query", "supertable", "manifest", "superfile", "index", "codec", "storage", "common"],
    "sql": ["query", "supertable", "manifest", "superfile", "index", "codec", "storage", "common"],
    "catalog": ["sql", "commit", "query", "supertable", "manifest", "superfile", "index", "codec", "storage",
                "common"],
}
PUBLIC_HEADERS = {"connection.h", "table.h", "index_spec.h", "search.h", "options.h", "error.h", "log.h"}

# An outside header may be included only from the files that match.
DOORS = {
    r'"duckdb': r"src/infino/sql/",
    r"<nlohmann/": r"src/infino/common/json\.",
    r"<roaring/": r"src/infino/codec/row_bitmap\.cc",
    r"<parquet/": r"src/infino/superfile/|tests/|fuzz/|bench/|cli/",
    r"<unicode/": r"src/infino/index/text/|tests/unit/index/",
    r"<libstemmer": r"src/infino/index/text/",
    r"<isa-l": r"src/infino/common/(checksum|hash)\.cc",
    r"<blake3": r"src/infino/common/content_hash\.cc",
    r"<nanobind": r"python/src/",
    r"<CLI/": r"cli/",
    r"<histedit": r"cli/line_editor\.cc",
    r'"infino/storage/cloud/': r"src/infino/storage/cloud_bucket\.cc",
    r"<immintrin": r"src/infino/(codec|index/vector)/.*_(avx2|avx512)\.cc",
    r"<arm_neon": r"src/infino/(codec|index/vector)/.*_neon\.cc",
}

# Word, where it is allowed, what to use instead. Applies to the library only.
BANNED = [
    (r"\bstd::(thread|jthread|async)\b", r"common/work_pool", "WorkPool"),
    (r"\b(system_clock|steady_clock)\b", r"common/clock", "Clock"),
    (r"\bstd::random_device\b|\bmt19937|\b(s?rand)\(", r"common/random", "Random"),
    (r"\bsleep_for\b|\busleep\(", r"common/clock|sql/execution\.cc", "Clock::Sleep"),
    (r"\bnew [A-Za-z_:]+[({\[]|\bdelete\b(?!;)(?! *(\[\])? *;)", r"common/work_pool", "make_unique or a container"),
    (r"\breinterpret_cast\b|\bmemcpy\(",
     r"codec/|common/bytes\.cc|index/text/.*arena|index/vector/(.*_(avx2|avx512|neon)|vector_math)\.cc"
     r"|sql/(bound_copy|conform_array|manifest_statistics|parameters|superfile_system)\.cc",
     "ByteReader"),
    (r"\b(try|catch|throw)\b *[({;]", r"superfile/parquet_guard|src/infino/sql/", "Status; only doors may catch"),
    (r"\bstd::c(out|err)\b|\bf?printf\(", r"^$", "a Status or a callback"),
    (r"\bgetenv\(", r"catalog/option_parser", "options"),
]

LINES_MAX = 500
PUBLIC_LINES_MAX = 150
COLUMNS_MAX = 100
FILE_BYTES_MAX = 100_000
EXEMPT_FROM_SIZE = re.compile(r"^(sample|tests/golden|fuzz/corpus)/|\.lock$|LICENSE$")

faults: list[str] = []


def fault(path: pathlib.PurePath | str, line: int, text: str) -> None:
    faults.append(f"{path}:{line}: {text}")


def code_of(line: str) -> str:
    """The line without strings and comments, roughly."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    return line.split("//", 1)[0]


def check_includes(path: str, number: int, line: str) -> None:
    match = re.match(r'#include (["<][^">]*[">])', line)
    if not match:
        return
    target = match.group(1)
    for header, door in DOORS.items():
        if re.match(header, target) and not re.search(door, path):
            fault(path, number, f"{target} may be included only from {door}")
    layer = re.match(r"src/infino/(\w+)/", path)
    ours = re.match(r'"infino/([^"]+)"', target)
    if not (layer and ours):
        return
    wanted = ours.group(1)
    if wanted in PUBLIC_HEADERS:
        if wanted in {"connection.h", "table.h"} and layer.group(1) not in {"catalog", "commit"}:
            fault(path, number, f"{wanted} belongs to the top; move the type down")
        return
    folder = wanted.split("/", 1)[0]
    if folder != layer.group(1) and folder not in LAYERS.get(layer.group(1), []):
        fault(path, number, f"layer {layer.group(1)} may not include {folder}")


def check_source(path: str, text: str) -> None:
    lines = text.split("\n")
    limit = PUBLIC_LINES_MAX if path.startswith("include/") else LINES_MAX
    if len(lines) - 1 > limit:
        fault(path, len(lines), f"{len(lines) - 1} lines; the limit is {limit}")
    if path.endswith(".h") and "#pragma once" not in text:
        fault(path, 1, "a header starts with #pragma once")
    library = path.startswith(("src/infino/", "include/"))
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX:
            fault(path, number, f"{len(line)} columns; the limit is {COLUMNS_MAX}")
        check_includes(path, number, line)
        if not library:
            continue
        code = code_of(line)
        for pattern, allowed, instead in BANNED:
            match = re.search(pattern, code)
            if match and "= delete" not in code and not re.search(allowed, path):
                fault(path, number, f"'{match.group(0)}' is banned here; use {instead}")


def check_any(path: str, data: bytes) -> None:
    if len(data) > FILE_BYTES_MAX and not EXEMPT_FROM_SIZE.search(path):
        fault(path, 1, f"{len(data)} bytes; the limit is {FILE_BYTES_MAX}")
    if b"\0" in data:
        return
    text = data.decode("utf-8", "replace")
    if path != "tools/tidy.py":
        for number, line in enumerate(text.split("\n"), 1):
            if re.search(r"\b(FIXME|TODO|XXX)\b", line):
                fault(path, number, "left open: finish it or file it")
    if path.endswith((".cc", ".h")):
        check_source(path, text)
    if path.endswith(".md"):
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        if len(re.findall(r"^# ", prose, flags=re.M)) != 1:
            fault(path, 1, "a document has one title")


def check_formats(paths: list[str]) -> None:
    """Every format header names its document, and the document exists; fuzz targets have sources."""
    for path in paths:
        if re.search(r"_format\.h$", path):
            text = (ROOT / path).read_text()
            match = re.search(r"docs/format/[\w-]+\.md", text)
            if not match or not (ROOT / match.group(0)).exists():
                fault(path, 1, "names no document under docs/format/")


def main() -> int:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, check=True)
    paths = [p for p in listed.stdout.decode().split("\0") if p and (ROOT / p).is_file()]
    for path in paths:
        check_any(path, (ROOT / path).read_bytes())
    check_formats(paths)
    for line in faults:
        print(line)
    print(f"tidy: {len(paths)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
