"""Holds infino's analyzer against the reference's: counts every distinct token of many texts in both.

  build/peers/tokens/bin/python bench/tokens.py FILE|characters|cldr [--column text] [--rows N]
                       [--most-non-ascii] [--english] [--program build/rel/bench/token_counts]

FILE is a Parquet file; `characters` are characters, each alone and between letters and digits; `cldr`
are the names of languages, places, units and dates in all of CLDR's locales.

Tokens come from infino's analyzer (`token_counts`, built with -DINFINO_BUILD_BENCH=ON) and, so that one
which only the reference sees is found too, from others who know nothing of it: an implementation of
UAX #29 in Python, Python's own idea of a word, whole runs between blanks, and every single character.
Prints each token that the two count differently, with a text that has it. Environments: bench/peers.sh.
"""

from __future__ import annotations

import argparse
import collections
import functools
import pathlib
import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from uniseg.wordbreak import words as segments

import compare

CHUNK = 5000  # Queries a line to a worker.


def characters() -> list[str]:
    """Each character that NFC leaves alone, by itself and in between; of the thousands of ideographs
    and Hangul syllables every fortieth."""
    texts = []
    for point in range(1, 0x110000):
        one = chr(point)
        many = 0x3400 <= point < 0xA000 or 0xAC00 <= point < 0xD7A4 or 0x20000 <= point < 0x40000
        if (unicodedata.category(one) in ("Cn", "Co", "Cs") or (many and point % 40)
                or not unicodedata.is_normalized("NFC", one)):
            continue
        texts += [one, f"a{one}b", f"1{one}2", f"ア{one}カ"]
    return texts


def cldr() -> list[str]:
    from babel import localedata

    texts: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, str):
            texts.add(value)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                collect(inner)
        elif isinstance(value, Mapping):
            collect(list(value.values()))

    for locale in localedata.locale_identifiers():
        data = localedata.load(locale)
        collect([data.get(key) for key in (
            "languages", "territories", "scripts", "variants", "currency_names", "months", "days", "eras",
            "unit_display_names", "unit_patterns", "date_fields", "list_patterns")])
    return sorted(texts)


def load(arguments: argparse.Namespace) -> list[str]:
    """The texts, those with the most characters beyond ASCII first if asked for."""
    if arguments.file == "characters":
        texts = characters()
    elif arguments.file == "cldr":
        texts = cldr()
    else:
        texts = pq.read_table(arguments.file, columns=[arguments.column]).column(0).to_pylist()
    # A NUL parts words, as a blank does, but it ends texts on the way to `token_counts`.
    texts = [text.replace("\0", " ") for text in texts if text]
    if arguments.most_non_ascii:
        texts.sort(key=lambda text: -sum(character > "\x7f" for character in text))
    return texts[:arguments.rows]


def infino_tokens(texts: list[str], program: str, options: list[str]) -> dict[str, int]:
    done = subprocess.run([program, *options], input="\0".join([*texts, ""]).encode(), check=True,
                          stdout=subprocess.PIPE)
    lines = [line.split(" ", 1) for line in done.stdout.decode().split("\n") if line]
    return {token: int(count) for count, token in lines}


@functools.cache
def words_of(run: str) -> frozenset[str]:
    """What may be words in characters between blanks, to any reading of them."""
    whole = run.strip('+-*"')  # But for what is a sign in a query.
    found = {*segments(run), *re.findall(r"\w+", run), *run, *([] if '"' in whole else [whole])}
    lower = {word.lower() for word in found}
    return frozenset(lower | {unicodedata.normalize("NFC", word) for word in lower})


def independent_tokens(texts: list[str]) -> set[str]:
    runs = {run for text in texts for run in text.split(" ")}
    return {word for run in runs for word in words_of(run)}


def counts(name: str, corpus: pathlib.Path, tokens: list[str], index: dict[str, str]) -> list[int]:
    """In how many texts the engine finds each token, all of it where it takes it for several words."""
    engine = compare.Engine(name, None, {"index": index})
    path = str(compare.WORK / f"tokens-{name}")
    engine.ask(op="build", corpus=str(corpus), path=path)
    engine.ask(op="open", path=path)
    found: list[int] = []
    for first in range(0, len(tokens), CHUNK):
        found += engine.ask(op="counts", queries=tokens[first:first + CHUNK], mode="and")["counts"]
        print(f"\r{name}: {len(found):,} of {len(tokens):,}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    engine.close()
    return found


def a_text_with(token: str, texts: list[str]) -> str:
    wanted = unicodedata.normalize("NFC", token)
    for text in texts:
        at = unicodedata.normalize("NFC", text.lower()).find(wanted)
        if at >= 0:
            return " ".join(text[max(at - 30, 0):at + len(token) + 30].split())
    return ""


def report(texts: list[str], differing: list[tuple[str, int, int]]) -> None:
    if differing:
        print("\n| token | code points | infino | reference | in |\n|---|---|---|---|---|")
    for token, ours, theirs in differing:
        points = " ".join(f"{ord(character):04X}" for character in token[:12])
        example = a_text_with(token, texts).replace("|", "\\|")
        print(f"| {token[:40]} | {points} | {ours} | {theirs} | {example} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--column", default="text")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--most-non-ascii", action="store_true")
    parser.add_argument("--english", action="store_true", help="with stop words and stems")
    parser.add_argument("--program", default=str(compare.ROOT / "build/rel/bench/token_counts"))
    arguments = parser.parse_args()

    texts = load(arguments)
    index = {"stopwords": "english", "stemmer": "english"} if arguments.english else {}
    compare.WORK.mkdir(parents=True, exist_ok=True)
    corpus = compare.WORK / "tokens.parquet"
    pq.write_table(pa.table({"id": pa.array(range(len(texts)), pa.int64()),
                             "text": pa.array(texts, pa.large_utf8())}), corpus)
    own = infino_tokens(texts, arguments.program, list(index))
    independent = independent_tokens(texts)
    tokens = sorted(own.keys() | independent)
    ours = counts("infino", corpus, tokens, index)
    theirs = counts("reference", corpus, tokens, index)

    print(f"{len(texts):,} texts, {sum(not text.isascii() for text in texts):,} of them not ASCII; "
          f"{len(own):,} tokens of the analyzer and {len(tokens) - len(own):,} further candidates")
    not_found = [t for t, found in zip(tokens, ours, strict=True) if own.get(t, found) != found]
    if not arguments.english and not_found:  # A stem need not be its own stem.
        raise SystemExit(f"infino does not find its own tokens: {not_found[:20]}")
    differing = [(token, a, b) for token, a, b in zip(tokens, ours, theirs, strict=True) if a != b]
    kinds = collections.Counter("NFC" if unicodedata.is_normalized("NFC", token) else "not NFC"
                                for token, _, _ in differing)
    print(f"{len(tokens) - len(differing):,} counted alike, {len(differing):,} not: {dict(kinds)}")
    report(texts, differing)


if __name__ == "__main__":
    main()
