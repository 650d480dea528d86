"""`hybriddup_spark.dedupe` in a real session: what it returns and writes, and which posts it refuses."""

from __future__ import annotations

import gc
import json
import random
import re
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from hybriddup_spark import SparkResult, dedupe, slicing
from hybriddup_spark.blocks import Batches, uncounted
from hybriddup_spark.divided import Divided
from hybriddup_spark.making import Maker
from hybriddup_spark.running import work_folder
from pyspark.errors import AnalysisException, PySparkAttributeError
from pyspark.sql import SparkSession
from test_rounds import edits_of_templates

import hybriddup
from hybriddup.errors import ConfigError, InputError
from hybriddup.run.result import Result

SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    """The sample posts, with times some of which are equal."""
    read = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    return [{"id": row, "text": post["text"], "at": row // 3} for row, post in enumerate(read)]


def evidence(result: SparkResult) -> dict[int, tuple[Any, ...]]:
    """Return what is said of each removed post, by id."""
    rows = result.removed.toArrow().to_pylist()
    names = "duplicate_of", "keeper_text", "reason", "hamming_distance", "verifier", "score", "threshold", "length_band"
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: tuple(row[name] for name in names) for row in rows}


def of_run(result: Result) -> dict[int, tuple[Any, ...]]:
    """Return the same of a run on one machine."""
    return {
        one.id: (
            one.duplicate_of,
            one.keeper_text,
            one.reason,
            one.hamming_distance,
            one.verifier,
            one.score,
            one.threshold,
            one.length_band,
        )
        for one in result.removed
    }


@pytest.mark.parametrize("changes", [{}, {"keep": "last"}, {"keep": [{"highest": "likes"}, "longest", "most_complete"]},
                                     {"without_text": "drop"}], ids=str)  # fmt: skip
def test_the_same_posts_go_for_the_same_keepers(
    session: SparkSession, posts: list[dict[str, Any]], changes: dict[str, Any], tmp_path: Path
) -> None:
    """However the posts are dealt to partitions, in several rounds, with the recipe that comes back."""
    config = {**hybriddup.load_settings("weibo").to_dict(), **changes, "audit": {"sample": 0}}
    posts = [{**post, "likes": float(post["id"] % 7)} for post in posts]
    posts[5]["text"], posts[50]["text"] = "@somebody", " "
    shuffled = random.Random(5).sample(posts, len(posts))
    frame = session.createDataFrame(pa.Table.from_pylist(shuffled)).repartition(5)
    result = dedupe(frame, config=config, order_by="at", posts_per_round=200)
    result.recipe.save(tmp_path / "a.recipe")
    run = hybriddup.dedupe(posts, config={**config, "recipe": str(tmp_path / "a.recipe")})
    expected = of_run(run)
    assert evidence(result) == expected
    kept = [row["id"] for row in result.kept.toArrow().to_pylist()]
    assert sorted(kept) == [posts[row]["id"] for row in run.kept]
    assert (result.summary.n_rounds, result.summary.n_kept) == (2, len(kept))
    assert result.summary.n_without_text == run.summary.n_without_text > 1
    assert result.summary.recipe_id == run.summary.recipe_id
    assert result.kept.columns == ["id", "text", "at", "likes"]


def test_a_crowd_is_decided_in_slices(session: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its pairs are verified by several tasks before one task decides it."""
    sizes = {"FIRST_SLICE": 50, "LARGEST_SLICE": 200, "VERIFIED_TOGETHER": 30}
    for name, size in sizes.items():
        monkeypatch.setattr(slicing, name, size)
    posts = [{"id": row, "text": text} for row, text in enumerate(edits_of_templates(random.Random(7), 1000, 4))]
    frame = session.createDataFrame(pa.Table.from_pylist(posts)).repartition(3)
    result = dedupe(frame, config="weibo", order_by="id")
    result.recipe.save(tmp_path / "a.recipe")
    config = {**hybriddup.load_settings("weibo").to_dict(), "recipe": str(tmp_path / "a.recipe")}
    assert evidence(result) == of_run(hybriddup.dedupe(posts, config=config))
    assert result.summary.n_decided_together > 500


def test_what_is_written_is_there_once(session: SparkSession, tmp_path: Path) -> None:
    """Bad records are counted and written, ids may be missing, and nothing is written over."""
    texts = ["你妈妈喊你回家吃饭哦，回家罗回家罗", None, "你妈妈叫你回家吃饭啦，回家罗回家罗"]
    frame = session.createDataFrame(pa.table({"body": texts, "at": [1, 2, 3]}))
    result = dedupe(frame, text="body", id=None, order_by=["at"], work=str(tmp_path / "work"))
    result.write(str(tmp_path / "out"))
    read = {name: session.read.parquet(str(tmp_path / "out" / name)).toArrow().to_pylist() for name in ("kept", "bad")}
    assert read == {"kept": [{"body": texts[0], "at": 1}], "bad": [{"body": None, "at": 2}]}
    removed = session.read.parquet(str(tmp_path / "out" / "removed")).toArrow().to_pylist()
    assert [(row["body"], row["keeper_text"], row["reason"]) for row in removed] == [(texts[2], texts[0], "near")]
    (summary,) = (tmp_path / "out" / "summary").glob("part-*")
    told = json.loads(summary.read_text(encoding="utf-8"))
    assert (told["n_read"], told["n_bad"], told["n_near"], told["n_kept"]) == (2, 1, 1, 1)
    assert (tmp_path / "out" / "kept" / "_SUCCESS").exists()
    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        result.write(str(tmp_path / "out"))


@pytest.mark.parametrize(
    "values", [["ann", "bo", "", " nan ", None, "\t\u3000", "NaN\x1f"], [1.5, 2.0, float("nan"), None]], ids=str
)
def test_posts_repeat_only_posts_of_their_scope_and_marks_equal_those_of_a_run(
    session: SparkSession, posts: list[dict[str, Any]], values: list[Any], tmp_path: Path
) -> None:
    """Posts without a value share a scope; clusters are numbered in the order of their keepers."""
    config = {**hybriddup.load_settings("weibo").to_dict(), "audit": {"sample": 0}}
    posts = [{**post, "user": values[post["id"] % 7 % len(values)]} for post in posts]
    frame = session.createDataFrame(pa.Table.from_pylist(posts)).repartition(3)
    result = dedupe(frame, config=config, order_by="at", per="user", posts_per_round=200)
    result.recipe.save(tmp_path / "a.recipe")
    run = hybriddup.dedupe(posts, config={**config, "recipe": str(tmp_path / "a.recipe")}, per="user")
    assert evidence(result) == of_run(run) != {}
    result.write(str(tmp_path / "out"), mark=True)
    marked = session.read.parquet(str(tmp_path / "out" / "marked")).toArrow().to_pylist()
    assert not (tmp_path / "out" / "kept").exists()
    found = {row["id"]: (row["duplicate_of"], row["score"], row["cluster"]) for row in marked}
    removed = {one.id: one for one in run.removed}
    keepers = {keeper: number for number, keeper in enumerate(sorted({one.duplicate_of for one in run.removed}), 1)}
    expected = {post["id"]: (None, None, keepers.get(post["id"])) for post in posts}
    expected |= {name: (one.duplicate_of, one.score, keepers[one.duplicate_of]) for name, one in removed.items()}
    assert found == expected
    assert len(marked) == len(posts)


def test_posts_are_compared_with_posts_that_were_kept_earlier(
    session: SparkSession, posts: list[dict[str, Any]], tmp_path: Path
) -> None:
    """With equal ones among them, in the order of their times; marks and counts name them. The recall is the same."""
    config = hybriddup.load_settings("weibo").to_dict()
    old, new = [{**post, "id": -1 - post["id"]} for post in posts[:150] + posts[:20]], posts[100:]
    frames = [
        session.createDataFrame(pa.Table.from_pylist(random.Random(5).sample(some, len(some)))) for some in (old, new)
    ]
    result = dedupe(frames[1].repartition(3), against=frames[0], config=config, order_by="at", posts_per_round=200)
    result.recipe.save(tmp_path / "a.recipe")
    old.sort(key=lambda post: (post["at"], post["id"]))
    run = hybriddup.dedupe(new, against=old, config={**config, "recipe": str(tmp_path / "a.recipe")})
    assert evidence(result) == of_run(run)
    sources = {row["id"]: row["keeper_source"] for row in result.removed.toArrow().to_pylist()}
    assert sources == {one.id: one.keeper_source for one in run.removed}
    assert sorted(row["id"] for row in result.kept.toArrow().to_pylist()) == [new[row]["id"] for row in run.kept]
    names = "estimated_stage1_recall", "estimated_stage1_recall_margin"
    assert [getattr(result.summary, name) for name in names] == [getattr(run.summary, name) for name in names]
    names = "n_read", "n_against", "n_removed_against", "n_kept", "n_exact", "n_near"
    assert [getattr(result.summary, name) for name in names] == [getattr(run.summary, name) for name in names]
    assert run.summary.n_removed_against >= 50
    marked = {row["id"]: (row["duplicate_of"], row["score"]) for row in result.mark().toArrow().to_pylist()}
    assert marked == {post["id"]: (None, None) for post in new} | {
        one.id: (one.duplicate_of, one.score) for one in run.removed
    }


def test_a_sample_has_the_report_of_a_run(session: SparkSession, posts: list[dict[str, Any]], tmp_path: Path) -> None:
    """Posts with their keepers, of this corpus or of the other one, and with the near misses among the kept posts."""
    posts = [{**post, "user": post["id"] % 2} for post in posts]
    config = {**hybriddup.load_settings("weibo").to_dict(), "audit": {"sample": 0}}
    old, new = posts[:60], [{**post, "id": 1000 + post["id"]} for post in posts[30:]]
    frames = [session.createDataFrame(pa.Table.from_pylist(some)) for some in (new, old)]
    result = dedupe(frames[0].repartition(3), against=frames[1], config=config, order_by="id", per="user")
    result.recipe.save(tmp_path / "a.recipe")
    known = {**config, "recipe": str(tmp_path / "a.recipe")}
    run = hybriddup.dedupe(new, against=old, per="user", config=known)
    whole = result.sample(len(new))
    assert of_run(whole) == of_run(run) != {}
    assert [one.keeper_source for one in whole.removed] == [one.keeper_source for one in run.removed]
    assert (whole.kept, whole.near_misses(1000)) == (run.kept, run.near_misses(1000))
    assert len(run.near_misses(1000)) > 3
    pages = [tmp_path / "spark.html", tmp_path / "local.html"]
    for some, page in zip((whole, run), pages, strict=True):
        some.report(page)
    marked = [re.findall(r"<mark>.*?</mark>", page.read_text(encoding="utf-8")) for page in pages]
    assert marked[0] == marked[1] != []
    some = result.sample(100)
    assert 10 < some.summary.n_read < 250
    assert of_run(some).items() <= of_run(run).items()
    assert {one.keeper_row for one in some.removed if one.keeper_source is None} <= set(some.kept)


def test_other_posts_that_cannot_be_compared_are_refused(session: SparkSession) -> None:
    """Their ids and scopes have to be of the same types."""
    posts = session.createDataFrame([(1, "a", "x")], "id long, text string, user string")
    others = session.createDataFrame([("1", "a", 5)], "id string, text string, user long")
    with pytest.raises(InputError) as refused:
        dedupe(posts, against=others, per="user")
    assert str(refused.value).splitlines() == [
        "against: column 'id' has string, and bigint in the posts; cast one of them.",
        "against: column 'user' has bigint, and string in the posts; cast one of them.",
    ]
    with pytest.raises(InputError, match="against: the posts have no column 'user'"):
        dedupe(posts, against=others.drop("user"), per="user")


def test_posts_that_cannot_be_marked_are_refused(session: SparkSession) -> None:
    frame = session.createDataFrame([(1, "a", 0.5)], "id long, text string, score double")
    with pytest.raises(InputError, match="the posts have columns 'score', which marks would replace"):
        dedupe(frame, order_by="id").mark()
    with pytest.raises(InputError, match="posts without ids cannot be marked"):
        dedupe(frame.drop("score"), id=None).mark()


@pytest.mark.parametrize("texts", [[], ["one post"], ["", ""], ["same", "same", "same"]], ids=str)
def test_small_corpora(session: SparkSession, texts: list[str]) -> None:
    """No posts, one, and posts that say nothing."""
    rows = list(enumerate(texts))
    result = dedupe(session.createDataFrame(rows, "id long, text string"), order_by="id")
    run = hybriddup.dedupe([{"id": row, "text": text} for row, text in rows])
    assert evidence(result) == of_run(run)
    assert (result.summary.n_read, result.kept.count()) == (len(texts), len(run.kept))


def test_posts_that_cannot_be_used_are_refused(session: SparkSession) -> None:
    """Before any work begins, with what is wrong and what to do."""
    frame = session.createDataFrame([(1, "a", 2.0, [1])], "id long, text string, score double, tags array<int>")
    with pytest.raises(InputError, match="no column 'body'; they have 'id', 'text'"):
        dedupe(frame, text="body")
    with pytest.raises(InputError, match="column 'score' has double, not strings"):
        dedupe(frame, text="score")
    with pytest.raises(InputError, match="column 'tags' has array<int>"):
        dedupe(frame, order_by="tags")
    with pytest.raises(InputError, match=r"no column 'body'.*\n.*column 'tags' has array<int>"):
        dedupe(frame, text="body", config={"keep": {"highest": "tags"}})
    with pytest.raises(ConfigError, match="webo"):
        dedupe(frame, config="webo")


def test_a_session_through_spark_connect_needs_a_work_directory() -> None:
    """One that its server can reach, because this machine may be another one."""

    class Session:
        @property
        def sparkContext(self) -> None:  # noqa: N802  the name that Spark gave it
            raise PySparkAttributeError("[JVM_ATTRIBUTE_NOT_SUPPORTED]")

    with pytest.raises(InputError, match=r"work: name a directory .*the server of Spark Connect"):
        work_folder(cast("SparkSession", Session()), None)


def test_another_recipe_is_refused(session: SparkSession) -> None:
    """One that was learned with other components."""
    recipe = hybriddup.learn(["good morning", "good night"], config="posts")
    with pytest.raises(ConfigError, match="was learned with another configuration"):
        dedupe(session.createDataFrame([(1, "a")], "id long, text string"), config="articles", recipe=recipe)


def test_keys_move_once(session: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """What earlier rounds have divided is read where it lies: no exchange stands above it in the plan."""
    if tuple(map(int, session.version.split(".")[:2])) < (4, 1):
        pytest.skip("Spark before 4.1 forgets how united tables are divided")
    schema = pa.schema([("part", pa.int32()), ("key", pa.int64())])
    keys = session.createDataFrame(pa.table({"key": [1, 2, 3]}))

    def dealt(batches: Batches) -> Batches:
        for batch in batches:
            keys = batch.column("key")
            yield pa.record_batch([keys.cast(pa.int32()), keys], schema=schema)

    with Divided(schema, 4, uncounted) as table:
        for number in range(3):
            table.add(keys, dealt, stays=number < 2)
        found = table.by_part(lambda rows: rows.select(["key"]), pa.schema([("key", pa.int64())]))
        assert sorted(found.toArrow().column("key").to_pylist()) == [1, 1, 1, 2, 2, 2, 3, 3, 3]
        found.explain()
    above, divided, _ = capsys.readouterr().out.partition("InMemoryTableScan")
    assert divided
    assert "Exchange" not in above


def test_what_a_worker_has_loaded_is_exempt_from_garbage_collection(session: SparkSession) -> None:
    """The process of a user, which makes the same components, is left as it is."""
    maker = Maker.of({}, (), hybriddup.learn(["good morning", "good night"], config="posts"), "learned")

    def count(batches: Batches) -> Batches:
        for _ in batches:
            maker.components()
            yield pa.record_batch([pa.array([gc.get_freeze_count()])], names=["n"])

    (row,) = session.range(1).coalesce(1).mapInArrow(count, "n long").collect()
    maker.components()
    assert row["n"] > 50_000
    assert gc.get_freeze_count() == 0
