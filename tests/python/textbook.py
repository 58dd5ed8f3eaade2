"""Keyword search as the textbook has it, over ASCII text: what the engine is held against.

Shares nothing with the engine: a regular expression finds the words, the PyPI package `snowballstemmer`
stems them, and every score is summed up from its definition. A query is a list of clauses, so nothing
here reads the query language; `typed` writes it.
"""

import dataclasses
import functools
import math
import re

import numpy as np
import snowballstemmer

STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there "
    "these they this to was will with".split())


@dataclasses.dataclass(frozen=True)
class Options:
    """How a column is indexed."""

    stopwords: str | None = None
    stemmer: str | None = None
    stored: bool = True
    positions: bool = False
    k1: float | None = None
    b: float | None = None


@dataclasses.dataclass(frozen=True)
class Clause:
    """One part of a query: a sign ('', '+' or '-') and a word, the start of one ('*') or a phrase ('"')."""

    sign: str
    kind: str
    text: str

    def typed(self):
        return {"": f"{self.sign}{self.text}", "*": f"{self.sign}{self.text}*",
                '"': f'{self.sign}"{self.text}"'}[self.kind]


class NeedsPositions(Exception):
    """A phrase of two words or more, and a column that keeps no positions."""


class NothingAskedFor(Exception):
    """Words are excluded and none is asked for."""


def typed(clauses):
    return " ".join(clause.typed() for clause in clauses)


@functools.cache
def stem(word):
    return snowballstemmer.stemmer("english").stemWord(word)


def tokens_of(text, options):
    """The terms of a text and their places."""
    found = []
    for place, word in enumerate(re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", (text or "").lower())):
        if options.stopwords is None or word not in STOP_WORDS:
            found.append((place, word if options.stemmer is None else stem(word)))
    return found


@dataclasses.dataclass(frozen=True)
class Part:
    """What is left of a clause once its text is analysed: terms with distances from the first."""

    sign: str
    prefix: bool
    terms: tuple[tuple[int, str], ...]


def parts_of(clauses, options, mode):
    """The parts of a query that the analyzer leaves, every positive one required in mode `and`."""
    parts = []
    for clause in clauses:
        sign = "+" if clause.sign == "" and mode == "and" else clause.sign
        terms = tokens_of(clause.text, options)
        if clause.kind == '"' and len(terms) > 1:
            if not options.positions:
                raise NeedsPositions
            first = terms[0][0]
            parts.append(Part(sign, False, tuple((place - first, term) for place, term in terms)))
        else:
            parts += [Part(sign, clause.kind == "*", ((0, term),)) for _, term in terms]
    if parts and all(part.sign == "-" for part in parts):
        raise NothingAskedFor
    return parts


class Textbook:
    """One column: its texts (None for null), numbered from 0."""

    def __init__(self, texts, options):
        self.options = options
        self.places = []  # By text: term → its places.
        self.lengths = []
        self.texts_with = {}
        for text in texts:
            places = {}
            tokens = tokens_of(text, options)
            for place, term in tokens:
                places.setdefault(term, []).append(place)
            for term in places:
                self.texts_with[term] = self.texts_with.get(term, 0) + 1
            self.places.append(places)
            self.lengths.append(len(tokens))
        self.filled = sum(length > 0 for length in self.lengths)
        self.average = sum(self.lengths) / self.filled if self.filled else 0.0

    def weight(self, term):
        frequency = self.texts_with.get(term, 0)
        return math.log(1 + (self.filled - frequency + 0.5) / (frequency + 0.5))

    def occurrences(self, row, part):
        """(weight, frequency) of all that a part finds in a row."""
        places = self.places[row]
        first = part.terms[0][1]
        if part.prefix:
            return [(self.weight(term), len(places[term]))
                    for term in sorted(places) if term.startswith(first)]
        times = sum(all(at + distance in places.get(term, ()) for distance, term in part.terms)
                    for at in places.get(first, ()))
        return [(sum(self.weight(term) for _, term in part.terms), times)] if times else []

    def matches(self, row, parts):
        found = [(part.sign, bool(self.occurrences(row, part))) for part in parts]
        if any(here for sign, here in found if sign == "-"):
            return False
        required = [here for sign, here in found if sign == "+"]
        return all(required) if required else any(here for _, here in found)

    def match(self, clauses, mode="or"):
        parts = parts_of(clauses, self.options, mode)
        return [row for row in range(len(self.places)) if self.matches(row, parts)]

    def search(self, clauses, mode="or", k1=None, b=None):
        """All (row, score) that match, best first, equal scores by row."""
        parts = parts_of(clauses, self.options, mode)
        if k1 is None:
            k1 = 1.2 if self.options.k1 is None else self.options.k1
            b = 0.75 if self.options.b is None else self.options.b
        found = []
        for row in range(len(self.places)):
            if not self.matches(row, parts):
                continue
            norm = k1 * (1 - b + b * self.lengths[row] / self.average)
            score = sum(weight * times / (times + norm)
                        for part in parts if part.sign != "-"
                        for weight, times in self.occurrences(row, part))
            found.append((row, float(np.float32(score))))
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))
