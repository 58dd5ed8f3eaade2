"""Random SQL statements whose result depends on the rows alone: not on their order, nor on how a
plan is run. They read the tables of sql_rows."""

# What a column of the tables is used as. Narrow integers are compared and aggregated as they are,
# and calculated with in 64 bits.
KIND = {"k": "int", "i": "int", "j": "small", "u": "small", "big": "big", "f": "float",
        "g": "real", "t": "text", "w": "text", "d": "date", "ts": "time", "ns": "nanos",
        "m": "decimal", "o": "bool", "l": "list", "x": "bytes", "gap": "int", '"Odd Name"': "text"}

TEXTS = ["red", "RED", "blue", "green fish", "a", "", "über", "日本 語", "it''s", "zzz", "0"]
PATTERNS = ["%", "r%", "%e%", "RED%", "%ü%", "_", "a_b%", "100\\%%", "%語", "green%", "", "%''%",
            "red%red", "_ed%", "x\\\\y"]
TIMES = ["1969-12-31 23:59:59.999999", "1970-01-01", "2000-02-29 12:00:00", "2024-06-01"]
DATES = ["2023-01-01", "2024-01-01", "2024-02-29", "2025-12-31"]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "!=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]


class Column:
    """A column in scope: how it is written, and what it is used as."""

    def __init__(self, name, kind):
        self.name = name
        self.kind = kind


class Scope:
    """What expressions may name. `keys` make a row unique, unless they are None."""

    def __init__(self, columns, keys=None):
        self.columns = columns
        self.keys = keys

    def of(self, *kinds):
        return [column.name for column in self.columns if column.kind in kinds]


class Expressions:
    """Random expressions of a kind over a scope. None of them fails on some rows alone, and none
    is volatile."""

    def __init__(self, random, with_parameters=False):
        self.random = random
        self.with_parameters = with_parameters
        self.parameters = {}

    def pick(self, *options):
        return self.random.choice(options)

    def chance(self, share):
        return self.random.random() < share

    def parameter(self, value, otherwise):
        """A value as a parameter, if the statement has any."""
        if not self.with_parameters or self.chance(0.5):
            return otherwise
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return "$" + name

    def kind_in(self, scope, *kinds):
        """One of the kinds, rather one of which there are columns."""
        there = [kind for kind in kinds if scope.of(kind)]
        return self.random.choice(there if there and self.chance(0.9) else kinds)

    def literal(self, kind):
        random = self.random
        if kind == "int":
            value = random.choice([0, 1, 2, 3, -1, 7, random.randint(-900, 900)])
            return self.parameter(value, f"{value}::BIGINT" if self.chance(0.5) else str(value))
        if kind == "small":
            value = random.choice([0, 1, 2, 3, 59, 200, 255, 256, -1])
            return self.parameter(value, str(value))
        if kind == "big":
            value = random.choice([0, 1, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1])
            return self.parameter(value, str(value))
        if kind in ("float", "real"):
            return self.pick("0.0", "-0.0", "0.5", "1e0", "2.25::DOUBLE", "-3.75", "1e6",
                             "'nan'::DOUBLE", "'inf'::DOUBLE", self.parameter(0.25, "0.25"))
        if kind == "text":
            value = random.choice(TEXTS)
            return self.parameter(value.replace("''", "'"), f"'{value}'")
        if kind == "date":
            return f"DATE '{random.choice(DATES)}'"
        if kind in ("time", "nanos"):
            return f"TIMESTAMP '{random.choice(TIMES)}'"
        if kind == "decimal":
            return self.pick("0", "1.10", "1.1", "1.105::DECIMAL(9,3)", "-123.45", "999.99", "2.5")
        if kind == "bool":
            return self.pick("true", "false")
        if kind == "list":
            return self.pick("[1, 2]", "[0, NULL]", "[]::BIGINT[]", "[7]")
        return self.pick("'ab'::BLOB", "''::BLOB", r"'\xFF\xFE'::BLOB")

    def leaf(self, scope, kind):
        names = scope.of(kind)
        if kind == "int" and self.chance(0.3):
            names = [f"{name}::BIGINT" for name in scope.of("small")] or names
        if kind == "float" and self.chance(0.2):
            names = [f"{name}::DOUBLE" for name in scope.of("real", "int", "decimal")] or names
        if names and self.chance(0.8):
            return self.random.choice(names)
        return "NULL" if self.chance(0.03) and kind != "list" else self.literal(kind)

    def of(self, scope, kind, depth=2):
        """An expression of a kind."""
        if depth <= 0 or self.chance(0.35) or kind in ("small", "big", "real", "nanos", "bytes"):
            return self.leaf(scope, kind)
        if self.chance(0.15):
            return self.general(scope, kind, depth)
        return getattr(self, "of_" + kind)(scope, depth - 1)

    def general(self, scope, kind, depth):
        one, two = (self.of(scope, kind, depth - 1) for _ in "12")
        condition = self.condition(scope, depth - 1)
        return self.pick(f"CASE WHEN {condition} THEN {one} ELSE {two} END",
                         f"CASE WHEN {condition} THEN {one} END", f"coalesce({one}, {two})",
                         f"nullif({one}, {two})", f"if({condition}, {one}, {two})")

    def of_int(self, scope, depth):
        # Only columns are cast from text: '-', which may come of more, is 0 in DuckDB 1.5 alone.
        one, two = (self.of(scope, "int", depth) for _ in "12")
        text, date = self.of(scope, "text", depth), self.of(scope, "date", depth)
        small = self.leaf(scope, "small")
        return self.pick(
            f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} / {two})",
            f"({one} % {two})", f"(-({one}))", f"abs({one})", f"length({text})", f"sign({one})",
            f"greatest({one}, {two})", f"least({one}, {two})", f"year({date})",
            f"instr({text}, 'e')",
            f"extract(dow FROM {date})", f"date_diff('day', {date}, DATE '2024-03-01')",
            f"len({self.of(scope, 'list', depth)})", f"({self.of(scope, 'bool', depth)})::BIGINT",
            f"({one} & {two})", f"({one} | {two})",
            f"TRY_CAST({self.leaf(scope, 'text')} AS BIGINT)",
            f"{small}::BIGINT", f"strlen({text})", f"ascii({text})")

    def of_float(self, scope, depth):
        one, two = (self.of(scope, "float", depth) for _ in "12")
        return self.pick(
            f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"({one} / ({two} + 0.0))",
            f"abs({one})", f"floor({one})", f"ceil({one})", f"sqrt(abs({one}))", f"(-({one}))",
            f"round({one}, 1)", f"({self.of(scope, 'int', depth)})::DOUBLE", f"trunc({one})",
            f"greatest({one}, {two})", f"({self.leaf(scope, 'decimal')})::DOUBLE")

    def of_text(self, scope, depth):
        one, two = (self.of(scope, "text", depth) for _ in "12")
        number = self.of(scope, "int", depth)
        return self.pick(
            f"upper({one})", f"lower({one})", f"({one} || {two})", f"substr({one}, 1, 3)",
            f"concat({one}, '-', {two})", f"replace({one}, 'e', 'E')", f"trim({one})",
            f"left({one}, 2)", f"right({one}, 2)", f"reverse({one})", f"({number})::VARCHAR",
            f"lpad({one}, 5, '*')", f"split_part({one}, ' ', 1)", f"concat_ws('/', {one}, {two})",
            f"regexp_replace({one}, '[aeiou]+', '_', 'g')", f"translate({one}, 'er', 'ER')",
            f"strftime({self.leaf(scope, 'date')}, '%Y')", f"md5({one})",
            f"({self.leaf(scope, 'decimal')})::VARCHAR")

    def of_date(self, scope, depth):
        one = self.of(scope, "date", depth)
        return self.pick(f"({one} + {self.pick('1', '30', '-400')})",
                         f"date_trunc('month', {one})::DATE",
                         f"({self.of(scope, 'time', depth)})::DATE", f"last_day({one})")

    def of_time(self, scope, depth):
        one = self.of(scope, "time", depth)
        return self.pick(f"({one} + INTERVAL {self.pick('1 DAY', '3 MONTH', '90 MINUTE')})",
                         f"({one} - INTERVAL 1 YEAR)", f"date_trunc('year', {one})",
                         f"({self.of(scope, 'date', depth)})::TIMESTAMP")

    def of_decimal(self, scope, depth):
        one = self.leaf(scope, "decimal")
        return self.pick(f"({one} + 1.5)", f"({one} - 0.25)", f"abs({one})", f"(-{one})",
                         f"({one} * 2)", f"({one})::DECIMAL(12, 1)", f"round({one}, 1)")

    def of_list(self, scope, depth):
        one = self.of(scope, "list", depth)
        return self.pick(f"list_sort({one})", f"list_concat({one}, {self.leaf(scope, 'list')})",
                         f"list_distinct({one}).list_sort()", f"({one})[1:2]",
                         f"[item + 1 FOR item IN {one}]", f"list_filter({one}, lambda v: v > 1)")

    def of_bool(self, scope, depth):
        return f"({self.condition(scope, depth)})"

    def condition(self, scope, depth=2):
        """A boolean expression."""
        if depth > 0 and self.chance(0.35):
            one, two = (self.condition(scope, depth - 1) for _ in "12")
            return self.pick(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})",
                             f"(({one}) IS NOT TRUE)", f"(({one}) IS NULL)", f"(({one}) = ({two}))",
                             f"xor(({one})::INT, ({two})::INT) = 1")
        kind = self.kind_in(scope, "int", "int", "small", "big", "float", "real", "text", "text",
                            "date", "time", "nanos", "decimal", "bool", "list", "bytes")
        one, two = (self.of(scope, kind, depth - 1) for _ in "12")
        three = self.literal(kind)
        if kind == "text" and self.chance(0.5):
            return self.text_condition(one, two)
        if kind == "list" and self.chance(0.5):
            return self.pick(f"list_contains({one}, 2)", f"len({one}) > 1",
                             f"({one})[1] = 1")
        if kind == "bool" and self.chance(0.5):
            return self.pick(one, f"NOT {one}", f"{one} IS NOT FALSE", f"{one} = {two}")
        items = ", ".join([one, two, three, *(["NULL"] if self.chance(0.1) else [])])
        return self.pick(
            f"{one} {self.random.choice(COMPARISONS)} {two}",
            f"{self.leaf(scope, kind)} {self.random.choice(COMPARISONS)} {self.literal(kind)}",
            f"{one} BETWEEN {two} AND {three}", f"{one} NOT BETWEEN {two} AND {three}",
            f"{self.leaf(scope, kind)} IN ({', '.join(self.literal(kind) for _ in range(5))})",
            f"{one} IN ({items})", f"{one} NOT IN ({items})", f"{one} IS NULL",
            f"{one} IS NOT NULL")

    def text_condition(self, one, two):
        pattern = self.random.choice(PATTERNS)
        unescaped = pattern.replace("\\", "")
        word = self.pick("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE")
        return self.pick(
            f"{one} {word} '{pattern}' ESCAPE '\\'", f"{one} {word} '{unescaped}'",
            f"starts_with({one}, {two})", f"contains({one}, {two})", f"suffix({one}, 'd')",
            f"regexp_matches({one}, '^[a-m]')", f"{one} SIMILAR TO '(r|b)[a-z]+'",
            f"{one} LIKE {two}", f"{one} GLOB 'r*'", f"starts_with({one}, 'r')")
