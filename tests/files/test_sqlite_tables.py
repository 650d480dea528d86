"""Tables of SQLite as inputs and outputs."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.errors import InputError, OutputError
from hybriddup.files.outputs import Outputs

A, B = "明天下雨吗，要不要带伞出门", "good morning, everybody"
ROWS = [(1, A, "x"), (2, B, "y"), (3, A, "z")]


def make(path: Path, *statements: str, rows: list[tuple[Any, ...]] = ROWS, table: str = "posts") -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements or ("CREATE TABLE posts (id INTEGER PRIMARY KEY, text TEXT, user TEXT)",):
            database.execute(statement)
        if rows:
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608
        database.commit()
    return path


def query(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(statement).fetchall()


def name(path: Path, table: str = "posts") -> str:
    return f"sqlite:///{path}?table={table}"


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    return make(tmp_path / "posts.db")


def tables(path: Path) -> list[str]:
    return [one for (one,) in query(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Reading and writing


def test_kept_rows_go_to_a_table_with_the_same_columns_and_key(posts: Path, tmp_path: Path) -> None:
    result = hybriddup.dedupe_files(name(posts), name(tmp_path / "kept.db", "kept"))
    assert [(one.id, one.duplicate_of) for one in result.removed] == [(3, 1)]
    assert query(tmp_path / "kept.db", "SELECT * FROM kept") == ROWS[:2]
    columns = "SELECT name, type, pk FROM pragma_table_info('{}')"
    assert query(tmp_path / "kept.db", columns.format("kept")) == query(posts, columns.format("posts"))
    assert files(tmp_path) == ["kept.db", "posts.db"]
    assert tables(posts) == ["posts"]


def test_the_default_output_is_a_table_next_to_the_input(posts: Path) -> None:
    hybriddup.dedupe_files(name(posts))
    assert query(posts, "SELECT id FROM posts_kept") == [(1,), (2,)]


def test_marks_and_tables_of_the_run_go_to_the_same_database(posts: Path) -> None:
    to = {option: name(posts, option) for option in ("removed", "clusters")}
    hybriddup.dedupe_files(name(posts), name(posts, "all"), mark=True, authors="user", **to)
    marked = query(posts, 'SELECT id, duplicate_of, score, cluster, n_copies, authors FROM "all"')
    assert marked == [
        (1, None, None, 1, 1, '["x", "z"]'),
        (2, None, None, None, 0, '["y"]'),
        (3, 1, 1.0, 1, None, None),
    ]
    assert query(posts, "SELECT id, duplicate_of, text FROM removed") == [(3, 1, A)]
    assert query(posts, "SELECT cluster, id, keeper FROM clusters") == [(1, 1, 1), (1, 3, 0)]


def test_names_of_tables_and_columns_may_have_any_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a ?100%"
    folder.mkdir()
    table = """ "it's ""the"" 表/" """
    path = make(
        folder / "帖.db", f'CREATE TABLE {table} ("te""xt" TEXT, "编 号" TEXT)', rows=[(A, "p"), (A, "q")], table=table
    )
    address = str(path).replace("%", "%25").replace("?", "%3F")
    options = {"text_field": 'te"xt', "id_field": "编 号"}
    given, output = (f"sqlite:///{address}?table={table}" for table in ('it\'s "the" 表/', 'a&b; "c".gz'))
    result = hybriddup.dedupe_files(given, output, **options)
    assert [one.duplicate_of for one in result.removed] == ["p"]
    assert query(path, 'SELECT "编 号" FROM "a&b; ""c"".gz"') == [("p",)]


def test_texts_that_are_no_text_are_bad_rows_that_are_named(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", rows=[(1, A, ""), (4, None, ""), (7, b"\xff", ""), (8, "", "")])
    make(path, "INSERT INTO posts VALUES (9, CAST(x'61ff' AS TEXT), '')", rows=[])
    result = hybriddup.dedupe_files(name(path), name(path, "kept"), bad=name(path, "bad"))
    assert query(path, "SELECT id FROM kept") == [(1,), (8,)]
    assert query(path, "SELECT id, hex(text) FROM bad") == [(4, ""), (7, "FF"), (9, "61FF")]
    assert query(path, "SELECT typeof(text) FROM bad") == [("null",), ("blob",), ("text",)]
    assert result.n_rows == 5
    with pytest.raises(InputError, match=r"posts:2: column 'text' holds NULL, not text \(rowid = 4\)"):
        hybriddup.dedupe_files(name(path), name(path, "more"), strict=True)


def test_a_table_without_rows_gives_an_empty_table(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db", rows=[])
    hybriddup.dedupe_files(name(path), name(path, "kept"), removed=name(path, "removed"))
    assert (query(path, "SELECT id FROM kept"), query(path, "SELECT id FROM removed")) == ([], [])


def test_rows_of_a_database_in_wal_mode_are_read_before_they_are_in_its_file(tmp_path: Path) -> None:
    path = make(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("INSERT INTO posts VALUES (9, 'quite another text', '')")
        other.commit()
        hybriddup.dedupe_files(name(path), name(path, "kept"))
        assert other.execute("SELECT id FROM kept").fetchall() == [(1,), (2,), (9,)]


def test_a_view_is_read_as_it_returns_its_rows(posts: Path) -> None:
    make(posts, "CREATE VIEW newest AS SELECT id, text || '' AS body FROM posts ORDER BY id DESC", rows=[])
    result = hybriddup.dedupe_files(name(posts, "newest"), name(posts, "kept"), text_field="body")
    assert [(one.id, one.duplicate_of) for one in result.removed] == [(1, 3)]
    assert query(posts, "SELECT id, body FROM kept") == [(3, A), (2, B)]


def test_a_table_without_rowid_is_read_by_its_key_and_others_as_they_were_filled(tmp_path: Path) -> None:
    rows = [("b", 2, A), ("b", 1, A), ("a", 3, A)]
    create = "CREATE TABLE {} (rowid TEXT, n INT, text TEXT, PRIMARY KEY (rowid, n)) {}"
    path = make(tmp_path / "p.db", create.format("keyed", "WITHOUT ROWID"), rows=rows, table="keyed")
    make(path, create.format("filled", ""), rows=rows, table="filled")
    for table, first in (("keyed", ("a", 3, A)), ("filled", ("b", 2, A))):
        hybriddup.dedupe_files(name(path, table), name(path, f"{table}_kept"))
        assert query(path, f"SELECT * FROM {table}_kept") == [first]  # noqa: S608


def test_values_are_copied_as_they_are(tmp_path: Path) -> None:
    """ANY keeps values as they are in STRICT tables alone."""
    values = ["00123", 2**63 - 1, 1.5, b"\x00\xff", None, "a\0b", "\n"]
    strict = ("ANY", "STRICT") if sqlite3.sqlite_version_info > (3, 37) else ("", "")
    create = "CREATE TABLE posts (text TEXT, any {0}, some {0}, doubled TEXT AS (any || '!')) {1}"
    rows = [(f"text number {i} of its own", one, one) for i, one in enumerate(values)]
    path = make(tmp_path / "p.db", create.format(*strict), rows=rows, table="posts (text, any, some)")
    make(path, "INSERT INTO posts (text, some) VALUES ('one more', CAST(x'ff' AS TEXT))", rows=[])
    hybriddup.dedupe_files(name(path), name(path, "kept"))
    what = "SELECT text, any, typeof(any), hex(some), typeof(some), hex(doubled) FROM "
    assert query(path, what + "kept") == query(path, what + "posts")


def test_fields_order_and_group_the_posts(tmp_path: Path) -> None:
    rows = [(1, A, "x"), (2, A, "y"), (3, A, "x")]
    path = make(tmp_path / "p.db", rows=rows)
    hybriddup.dedupe_files(name(path), name(path, "k1"), per="user", config={"keep": {"highest": "id"}})
    assert query(path, "SELECT id FROM k1") == [(2,), (3,)]
    with pytest.raises(InputError, match="city"):
        hybriddup.dedupe_files(name(path), name(path, "k2"), per="city")


def test_several_tables_are_one_corpus_and_may_be_older_posts(posts: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "other.db")
    hybriddup.dedupe_files([name(posts), name(other)], name(tmp_path / "kept.db", "kept"))
    assert query(tmp_path / "kept.db", "SELECT id FROM kept") == [(1,), (2,)]
    result = hybriddup.dedupe_files(name(posts), name(posts, "new"), against=name(other))
    assert result.kept_rows.tolist() == []
    (tmp_path / "new.jsonl").write_text(f'{{"text": "{A}"}}\n', "utf-8")
    assert len(hybriddup.dedupe_files(tmp_path / "new.jsonl", against=name(other)).removed) == 1
    make(other, "CREATE TABLE more (text TEXT)", rows=[])
    with pytest.raises(InputError, match="has other columns than"):
        hybriddup.dedupe_files([name(posts), name(other, "more")], name(tmp_path / "kept.db", "two"))


# Errors


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("sqlite:///{}?table=post", "there is no table 'post'; the tables are 'posts', 'v'"),
        ("sqlite:///{}", "name the table, as in 'sqlite:///posts.db\\?table=posts'; the tables are 'posts', 'v'"),
        ("sqlite:///?table=posts", "is not the name of a table; write 'sqlite:///"),
        ("sqlite:posts.db", "is not the name of a table; write 'sqlite:///"),
        ("sqlite:///{}.none?table=posts", "No such file"),
        ("sqlite:///{}.txt?table=posts", "cannot be read as a table of SQLite: file is not a database"),
        ("{}", "For a table of SQLite, name the file and the table, as in 'sqlite:///posts.db\\?table=posts'"),
        ("duckdb:///posts.duckdb?table=posts", "tables of duckdb are not read or written"),
        ("postgresql://me:secret@host/posts?table=posts", "(?s)^(?!.*secret).*COPY posts TO 'posts.parquet'"),
    ],
)
def test_a_wrong_name_is_an_error_that_shows_the_right_one(posts: Path, given: str, fault: str) -> None:
    make(posts, "CREATE VIEW v AS SELECT 1 AS text", rows=[])
    posts.with_name("posts.db.txt").write_text("some text, and no database " * 50)
    with pytest.raises(InputError, match=fault):
        hybriddup.dedupe_files(given.format(posts), name(posts, "kept"))
    assert not posts.with_name("posts.db.none").exists()


def test_a_wrong_column_is_an_error_that_names_those_there(posts: Path) -> None:
    with pytest.raises(InputError, match="no column is called 'body'; the columns are 'id', 'text', 'user'"):
        hybriddup.dedupe_files(name(posts), text_field="body")
    make(posts, "CREATE TABLE marked (text TEXT, Score REAL)", rows=[])
    with pytest.raises(InputError, match="posts have a field 'score' already"):
        hybriddup.dedupe_files(name(posts, "marked"), mark=True)
    assert tables(posts) == ["marked", "posts"]


@pytest.mark.parametrize(
    ("output", "options", "fault"),
    [
        ("sqlite:///{}?table=there", {}, "exists already; replace it with --force"),
        ("sqlite:///{}?table=THERE", {}, "exists already; replace it with --force"),
        ("sqlite:///{}?table=POSTS", {"force": True}, "is also an input"),
        ("sqlite:///{}?table=v", {"force": True}, "is the name of a view, which is never replaced"),
        ("sqlite:///{}?table=sqlite_x", {}, "reserved"),
        ("sqlite:///{}", {}, "names no table"),
        ("kept.jsonl", {}, "posts keep the format of the input, sqlite, and are written to tables"),
        ("-", {}, "are written to tables"),
        ("sqlite:///{}?table=k", {"removed": "sqlite:///{}?table=K"}, "both write to"),
        ("sqlite:///{}.new?table=k", {"removed": "{}", "force": True}, "is also an input"),
        ("sqlite:///{}?table=k", {"report": "sqlite:///{}?table=r"}, "the report is not written to a table"),
        ("sqlite:///{}.txt?table=k", {}, "file is not a database"),
        ("sqlite:////nowhere/at/all.db?table=k", {}, "there is no directory"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_posts_are_read(
    posts: Path, output: str, options: dict[str, Any], fault: str
) -> None:
    make(posts, "CREATE TABLE there (x)", "CREATE VIEW v AS SELECT 1 AS text", rows=[])
    posts.with_name("posts.db.txt").write_text("some text, and no database " * 50)
    before = posts.read_bytes()
    options = {key: value.format(posts) if isinstance(value, str) else value for key, value in options.items()}
    with pytest.raises(OutputError, match=fault):
        hybriddup.dedupe_files(name(posts), output.format(posts), **options)
    assert posts.read_bytes() == before
    assert files(posts.parent) == ["posts.db", "posts.db.txt"]


def test_posts_of_files_do_not_go_to_tables(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text\na\n")
    with pytest.raises(OutputError, match="the input, csv, and are written to files, not tables"):
        hybriddup.dedupe_files(tmp_path / "posts.csv", name(tmp_path / "kept.db", "kept"), format="csv")
    with pytest.raises(InputError, match="is a table of a database, not csv; leave out --format"):
        hybriddup.dedupe_files(name(make(tmp_path / "p.db")), format="csv")
    result = hybriddup.dedupe_files(tmp_path / "posts.csv", removed=name(tmp_path / "removed.db", "removed"))
    assert len(result.removed) == len(query(tmp_path / "removed.db", "SELECT * FROM removed")) == 0


def test_force_replaces_only_the_table(posts: Path) -> None:
    make(posts, "CREATE TABLE kept (x)", "CREATE TABLE other (x)", rows=[])
    hybriddup.dedupe_files(name(posts), name(posts, "kept"), force=True)
    assert query(posts, "SELECT id FROM kept") == [(1,), (2,)]
    assert tables(posts) == ["kept", "other", "posts"]


# Whole or not at all


def test_a_database_that_changes_during_the_run_is_an_error(posts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hybriddup.run import over_files

    def change(*arguments: Any, **options: Any) -> Any:
        with closing(sqlite3.connect(posts)) as other, other:
            other.execute("INSERT INTO posts VALUES (9, 'a new text', NULL)")
        return decide(*arguments, **options)

    decide = over_files.run
    monkeypatch.setattr(over_files, "run", change)
    with pytest.raises(InputError, match="changed while it was being deduplicated"):
        hybriddup.dedupe_files(name(posts), name(posts, "kept"))
    assert (tables(posts), files(posts.parent)) == (["posts"], ["posts.db"])


def test_all_tables_of_a_database_appear_or_none(posts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(sqlite3.Connection):
        def execute(self, statement: str, *given: Any) -> sqlite3.Cursor:
            if statement.startswith('CREATE TABLE "removed"'):
                raise sqlite3.OperationalError("database or disk is full")
            return super().execute(statement, *given)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Full))
    for path in (posts, posts.with_name("new.db")):
        with pytest.raises(OutputError, match="database or disk is full"):
            hybriddup.dedupe_files(name(posts), name(path, "kept"), removed=name(path, "removed"))
    assert (tables(posts), files(posts.parent)) == (["posts"], ["posts.db"])


def test_leftovers_of_a_killed_run_are_deleted(posts: Path) -> None:
    for ending in ("tmp", "tmp-journal"):
        posts.with_name(f".posts.db.0123abcd.{ending}").write_bytes(b"")
    with Outputs([name(posts)], force=False) as outputs:
        outputs.add(name(posts, "kept"), "-o")
    assert files(posts.parent) == ["posts.db"]
