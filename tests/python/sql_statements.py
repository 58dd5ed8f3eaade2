"""Random statements over the tables of sql_rows, made of the expressions of sql_generator."""

from sql_generator import KIND, Column, Expressions, Scope

EQUATED = ["int", "small", "text", "date", "bool", "decimal", "float", "big", "time"]
SELECTED = ["int", "int", "small", "big", "float", "real", "text", "text", "date", "time", "nanos",
            "decimal", "bool", "list", "bytes"]
GROUPED = ["int", "small", "text", "date", "bool", "decimal", "float", "big", "list", "bytes"]


class Statements(Expressions):
    """Random statements. `used` names the constructs that the last one has. `sources` are things
    to read from beside the tables, with the columns of a table and a `score`."""

    def __init__(self, random, with_parameters=False, sources=()):
        super().__init__(random, with_parameters)
        self.sources = sources
        self.aliases = 0
        self.ctes = {}
        self.used = set()
        self.is_ordered = False

    def statement(self):
        """A statement. `is_ordered` says whether its rows come in one order."""
        self.used = set()
        prefix = ""
        if self.chance(0.12):
            self.used.add("cte")
            sql, columns = self.query(1)
            hint = self.pick("", "MATERIALIZED ", "NOT MATERIALIZED ")
            self.ctes["c"] = columns
            prefix = f"WITH c AS {hint}({sql}) "
        body, columns = self.unordered(2)
        self.is_ordered = self.chance(0.5)
        self.ctes = {}
        return prefix + body + (self.ordered(columns) if self.is_ordered else "")

    # What is read.

    def alias(self):
        self.aliases += 1
        return f"t{self.aliases}"

    def table(self, depth):
        """One thing to read from, and its scope."""
        alias = self.alias()
        if self.ctes and self.chance(0.5):
            return f"c {alias}", self.derived(alias, self.ctes["c"])
        if depth > 0 and self.chance(0.2):
            self.used.add("derived")
            sql, columns = self.query(depth - 1)
            return f"({sql}) {alias}", self.derived(alias, columns)
        if self.sources and self.chance(0.5):
            columns = [Column(f"{alias}.{each}", kind) for each, kind in KIND.items()]
            columns.append(Column(f"{alias}.score", "real"))
            return f"{self.random.choice(self.sources)} {alias}", Scope(columns, [f"{alias}.k"])
        if self.chance(0.05):
            self.used.add("series")
            column = Column(f"{alias}.n", "int")
            return f"range(-2, 5) {alias}(n)", Scope([column], [column.name])
        if self.chance(0.05):
            self.used.add("unnest")
            columns = [Column(f"{alias}.k", "int"), Column(f"{alias}.v", "int")]
            return f"(SELECT k, unnest(l) AS v FROM a) {alias}", Scope(columns)
        name = self.pick(*"aaaaaaabbbbe")
        columns = [Column(f"{alias}.{each}", kind) for each, kind in KIND.items()]
        return f"{name} {alias}", Scope(columns, [f"{alias}.k"])

    def derived(self, alias, columns):
        return Scope([Column(f"{alias}.{name}", kind) for name, kind in columns])

    def source(self, depth):
        """A FROM clause and its scope."""
        sql, scope = self.table(depth)
        for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
            sql, scope = self.join(sql, scope, depth)
        return sql, scope

    def join(self, sql, scope, depth):
        right, other = self.table(depth - 1)
        keys = None if None in (scope.keys, other.keys) else scope.keys + other.keys
        both = Scope(scope.columns + other.columns, keys)
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN",
                         "ANTI JOIN")
        self.used.add(kind)
        condition = self.join_condition(scope, other, both, "FULL" in kind)
        if kind in ("SEMI JOIN", "ANTI JOIN"):
            both = scope
        return f"{sql} {kind} {right} ON {condition}", both

    def join_condition(self, left, right, both, only_equal):
        equal = self.equality(left, right)
        if equal is None:
            return "false" if only_equal else self.condition(both, 1)
        while not only_equal and self.chance(0.25):
            equal += f" AND {self.condition(both, 1)}"
        return equal

    def equality(self, left, right):
        """That columns of both sides are equal, None if they have no kind in common."""
        kinds = [kind for kind in EQUATED if left.of(kind) and right.of(kind)]
        if not kinds:
            return None
        kind = self.random.choice(kinds)
        word = "IS NOT DISTINCT FROM" if self.chance(0.1) else "="
        return f"{self.random.choice(left.of(kind))} {word} {self.random.choice(right.of(kind))}"

    def where(self, scope):
        """A WHERE clause, or none."""
        if self.chance(0.3):
            return ""
        conditions = [self.condition(scope)]
        if self.chance(0.25):
            conditions.append(self.subquery_condition(scope))
        return " WHERE " + self.pick(" AND ", " AND ", " OR ").join(conditions)

    def subquery_condition(self, scope):
        self.used.add("subquery")
        alias = self.alias()
        inner = Scope([Column(f"{alias}.{name}", kind) for name, kind in KIND.items()])
        table = f"{self.pick(*'aaabbbbe')} {alias}"
        kind = self.pick("int", "text", "date", "float")
        one, two = self.of(scope, kind, 1), self.of(inner, kind, 1)
        rest = f"WHERE {self.condition(inner, 1)}"
        equal = self.equality(scope, inner) or "true"
        correlated = f"WHERE {equal}"
        return self.pick(
            f"{one} IN (SELECT {two} FROM {table} {rest})",
            f"{one} NOT IN (SELECT {two} FROM {table} {rest})",
            f"EXISTS (SELECT 1 FROM {table} {correlated})",
            f"NOT EXISTS (SELECT 1 FROM {table} {correlated} AND {self.condition(inner, 0)})",
            f"{one} > (SELECT min({two}) FROM {table} {rest})",
            f"{one} >= ALL (SELECT {two} FROM {table} {rest})",
            f"{one} < ANY (SELECT {two} FROM {table} {rest})",
            f"(SELECT count(*) FROM {table} {correlated}) > 1",
            f"{one} = (SELECT max({two}) FROM {table} {correlated})")

    # What is made of it.

    def query(self, depth):
        """A query and its columns, as (name, kind)."""
        sql, columns = self.unordered(depth)
        return sql + (self.ordered(columns) if self.chance(0.5) else ""), columns

    def unordered(self, depth):
        if depth > 0 and self.chance(0.12):
            return self.set_operation(depth)
        shape = self.pick(self.plain, self.plain, self.plain, self.grouped, self.grouped,
                          self.windowed)
        return shape(depth)

    def ordered(self, columns):
        """A total order, and perhaps a limit."""
        directions = ["", " ASC", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
        places = list(range(1, len(columns) + 1))
        self.random.shuffle(places)
        order = ", ".join(f"{place}{self.random.choice(directions)}" for place in places)
        sql = f" ORDER BY {order}" if self.chance(0.8) else " ORDER BY ALL"
        if self.chance(0.6):
            self.used.add("limit")
            sql += f" LIMIT {self.pick('0', '1', '3', '10', '10000')}"
            if self.chance(0.4):
                sql += f" OFFSET {self.pick('0', '1', '5', '400')}"
        return sql

    def named(self, kinds):
        return [(f"c{number}", kind) for number, kind in enumerate(kinds)]

    def plain(self, depth):
        source, scope = self.source(depth)
        kinds = [self.kind_in(scope, *SELECTED) for _ in range(self.pick(1, 2, 3, 5))]
        columns = self.named(kinds)
        selected = ", ".join(f"{self.of(scope, kind)} AS {name}" for name, kind in columns)
        distinct = ""
        if self.chance(0.2):
            self.used.add("distinct")
            distinct = "DISTINCT "
        return f"SELECT {distinct}{selected} FROM {source}{self.where(scope)}", columns

    def grouped(self, depth):
        self.used.add("group by")
        source, scope = self.source(depth)
        keys = [self.kind_in(scope, *GROUPED) for _ in range(self.pick(0, 1, 1, 2))]
        results = [self.aggregate(scope) for _ in range(self.pick(1, 2, 3))]
        columns = self.named(keys + [kind for _, kind in results])
        expressions = [self.of(scope, kind, 1) for kind in keys]
        selected = [*expressions, *(sql for sql, _ in results)]
        sql = "SELECT " + ", ".join(f"{one} AS {name}" for one, (name, _) in
                                    zip(selected, columns, strict=True))
        sql += f" FROM {source}{self.where(scope)}"
        if keys:
            sql += " GROUP BY " + self.grouping(len(keys))
        if self.chance(0.25):
            self.used.add("having")
            sql += f" HAVING {self.having(scope)}"
        return sql, columns

    def grouping(self, count):
        places = [str(place) for place in range(1, count + 1)]
        if self.chance(0.15):
            return "ALL"
        if self.chance(0.15):
            self.used.add("grouping sets")
            return f"{self.pick('ROLLUP', 'CUBE')} ({', '.join(places)})"
        return ", ".join(places)

    def having(self, scope):
        one, kind = self.aggregate(scope)
        if kind in ("int", "float"):
            return f"{one} > {self.pick('0', '1', '-5', '100')}"
        return f"{one} IS NOT NULL"

    def aggregate(self, scope):
        """An aggregate and the kind of its results."""
        whole = self.of(scope, "int", 1)
        real = self.of(scope, "float", 1)
        kind = self.kind_in(scope, *SELECTED)
        any_kind = self.of(scope, kind, 1)
        condition = self.condition(scope, 1)
        text = self.of(scope, "text", 1)
        filtered = f" FILTER (WHERE {condition})" if self.chance(0.2) else ""
        sql, made = self.pick(
            ("count(*)", "int"), ("count(*)", "int"), (f"count({any_kind})", "int"),
            (f"count(DISTINCT {any_kind})", "int"), (f"sum({whole})", "int"),
            (f"sum(DISTINCT {whole})", "int"), (f"avg({whole})", "float"),
            (f"avg({real})", "float"), (f"sum({real})", "float"), (f"min({any_kind})", kind),
            (f"max({any_kind})", kind), (f"min({any_kind})", kind), (f"max({any_kind})", kind),
            (f"round(stddev({whole}), 6)", "float"), (f"median({whole})", "float"),
            (f"quantile_disc({whole}, 0.25)", "int"), (f"bool_and({condition})", "bool"),
            (f"bool_or({condition})", "bool"), (f"bit_or({whole})", "int"),
            (f"bit_xor({whole})", "int"), (f"string_agg({text}, ',' ORDER BY {text})", "text"),
            (f"list({whole} ORDER BY {whole})", "list"),
            (f"sum({self.leaf(scope, 'small')})", "int"),
            (f"list(DISTINCT {whole}).list_sort()", "list"), (f"count_if({condition})", "int"),
            (f"sum({self.leaf(scope, 'decimal')})", "float"))
        if scope.keys is not None and self.chance(0.1):
            sql, made = f"first({whole} ORDER BY {', '.join(scope.keys)})", "int"
        if filtered and sql.endswith(")") and ")." not in sql and not sql.startswith("round"):
            return sql + filtered, made
        return sql, made

    def windowed(self, depth):
        source, scope = self.source(depth)
        if scope.keys is None:
            return self.plain(depth)
        self.used.add("window")
        results = [self.window(scope) for _ in range(self.pick(1, 2))]
        kinds = [self.kind_in(scope, *SELECTED) for _ in range(self.pick(0, 1, 2))]
        columns = self.named(kinds + [kind for _, kind in results])
        selected = [*(self.of(scope, kind, 1) for kind in kinds), *(sql for sql, _ in results)]
        sql = "SELECT " + ", ".join(f"{one} AS {name}" for one, (name, _) in
                                    zip(selected, columns, strict=True))
        sql += f" FROM {source}{self.where(scope)}"
        if self.chance(0.3):
            self.used.add("qualify")
            sql += f" QUALIFY row_number() OVER ({self.window_order(scope)}) <= {self.pick(1, 3)}"
        return sql, columns

    def window_order(self, scope):
        """PARTITION BY and a total ORDER BY."""
        kind = self.kind_in(scope, *GROUPED)
        sql = f"PARTITION BY {self.of(scope, kind, 1)} " if self.chance(0.6) else ""
        first = self.of(scope, self.kind_in(scope, *GROUPED), 1)
        return f"{sql}ORDER BY {first}{self.pick('', ' DESC')}, {', '.join(scope.keys)}"

    def window(self, scope):
        total = self.window_order(scope)
        partial = total.rsplit(", ", len(scope.keys))[0]
        kind = self.kind_in(scope, *SELECTED)
        one, whole = self.of(scope, kind, 1), self.of(scope, "int", 1)
        frame = self.pick(
            "", "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", "ROWS UNBOUNDED PRECEDING",
            "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW",
            "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
            "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW")
        return self.pick(
            (f"row_number() OVER ({total})", "int"), (f"rank() OVER ({partial})", "int"),
            (f"dense_rank() OVER ({partial})", "int"), (f"cume_dist() OVER ({partial})", "float"),
            (f"percent_rank() OVER ({partial})", "float"), (f"ntile(3) OVER ({total})", "int"),
            (f"lag({one}) OVER ({total})", kind), (f"lead({one}, 2) OVER ({total})", kind),
            (f"first_value({one}) OVER ({total} {frame})", kind),
            (f"last_value({one}) OVER ({total} {frame})", kind),
            (f"nth_value({one}, 2) OVER ({total} {frame})", kind),
            (f"sum({whole}) OVER ({total} {frame})", "int"),
            (f"sum({whole}) OVER ({partial})", "int"),
            (f"count({one}) OVER ({total} {frame})", "int"),
            (f"min({one}) OVER ({total} {frame})", kind),
            (f"max({one}) OVER ({partial})", kind),
            (f"avg({whole}) OVER ({total} {frame})", "float"),
            (f"count(*) OVER ()", "int"))

    def set_operation(self, depth):
        word = self.pick("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL")
        self.used.add(word)
        kinds = [self.random.choice(["int", "text", "date", "bool", "float", "small"])
                 for _ in range(self.pick(1, 1, 2))]
        columns = self.named(kinds)
        arms = []
        for _ in range(2):
            source, scope = self.source(depth - 1)
            selected = ", ".join(f"{self.of(scope, kind, 1)} AS {name}" for name, kind in columns)
            arms.append(f"SELECT {selected} FROM {source}{self.where(scope)}")
        return f" {word} ".join(arms), columns
