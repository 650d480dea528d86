"""The examples for other programs (Scrapy, Kafka, datasette, httpx, data frames) run as the documents write them.

What they need beyond the extra dev is the extra examples; where it is not installed, their tests are skipped.
"""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

import hybriddup
from tests.cli.support import NEARLY, OTHER, REPEATED
from tests.docs.markdown import ROOT, block_with, names_of
from tests.service.support import serving

EXAMPLES = ROOT / "tests" / "docs" / "examples"
KAFKA = (EXAMPLES / "kafka_stream.py").read_text("utf-8")
POSTS = [{"id": "a", "text": REPEATED}, {"id": "b", "text": OTHER}, {"id": "c", "text": NEARLY}]


# ---------------------------------------------------------------- Scrapy

SPIDER = """
import scrapy

class Posts(scrapy.Spider):
    name = "posts"
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy_pipeline.DropRepeats": 300},
        "FEEDS": {"kept.jsonl": {"format": "jsonlines", "overwrite": False}},
        "TELNETCONSOLE_ENABLED": False,
    }

    def parse(self, response):
        for post in response.css("p"):
            yield {"url": response.urljoin("#" + post.attrib["id"]), "text": post.css("::text").get()}
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002  the base class names it
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Two pages of posts on loopback: the second repeats a post of the first."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name, texts in (("1.html", [REPEATED, OTHER]), ("2.html", [NEARLY, "今天的月亮真圆，适合出门走走"])):
        page = "".join(f'<p id="{row}">{text}</p>' for row, text in enumerate(texts))
        (folder / name).write_text(f'<!doctype html><meta charset="utf-8">{page}', "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_pipeline_of_scrapy_drops_what_an_earlier_crawl_kept(site: str, tmp_path: Path) -> None:
    pytest.importorskip("scrapy")
    shutil.copy(EXAMPLES / "scrapy_pipeline.py", tmp_path)
    for page in ("1.html", "2.html"):
        (tmp_path / "spider.py").write_text(f"{SPIDER}\n    start_urls = [{f'{site}/{page}'!r}]\n", "utf-8")
        command = [sys.executable, "-m", "scrapy", "runspider", "spider.py"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=140, check=True)
    kept = [json.loads(line)["url"].rpartition("/")[2] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert kept == ["1.html#0", "1.html#1", "2.html#1"], ran.stderr
    assert f"repeats {site}/1.html#0" in ran.stderr


# ---------------------------------------------------------------- Kafka

SENT = [("kept", "a", "a"), ("kept", "b", "b")]
"""Topic, key and id of the posts that stay."""


class Broker:
    """Stands in for consumer and producer: notes what is sent, and how much of it when a batch is committed."""

    def __init__(self, failure: str | None = None) -> None:
        self.failure = failure
        self.sent: list[tuple[str, str, str]] = []
        self.committed: list[int] = []

    def produce(self, topic: str, value: bytes, key: str, on_delivery: Any) -> None:
        on_delivery(self.failure, None)
        self.sent.append((topic, key, json.loads(value)["id"]))

    def flush(self, timeout: float) -> int:
        assert timeout > 0
        return 0

    def commit(self, *, asynchronous: bool) -> None:
        assert not asynchronous
        self.committed.append(len(self.sent))


@pytest.fixture
def batches() -> list[list[Any]]:
    """Return the posts as two batches of the library's own messages."""
    message = pytest.importorskip("confluent_kafka").Message
    messages = [message(topic="posts", value=json.dumps(post).encode()) for post in POSTS]
    return [messages[:2], messages[2:]]


def test_consumer_of_kafka_passes_on_what_stays_and_commits_after_it(batches: list[list[Any]]) -> None:
    pass_on, broker = names_of(KAFKA)["pass_on"], Broker()
    with hybriddup.Window.open() as window:
        pass_on(batches, window, broker, broker)
    assert (broker.sent, broker.committed) == (SENT, [2, 2])


def test_consumer_of_kafka_passes_on_again_what_was_not_committed(batches: list[list[Any]]) -> None:
    """What comes again after a failure gets the answers of the first time, so that nothing that stays is lost."""
    pass_on, failing, broker = names_of(KAFKA)["pass_on"], Broker("no leader"), Broker()
    with hybriddup.Window.open() as window:
        with pytest.raises(RuntimeError, match="did not take a post: no leader"):
            pass_on(batches, window, failing, failing)
        pass_on(batches, window, broker, broker)
    assert failing.committed == []
    assert broker.sent == SENT


def test_batches_of_kafka_leave_out_errors_and_empty_polls() -> None:
    kafka = pytest.importorskip("confluent_kafka")
    post, error = kafka.Message(value=b"{}"), kafka.Message(error=kafka.KafkaError(kafka.KafkaError._ALL_BROKERS_DOWN))

    class Consumer:
        polls = iter([[], [error], [error, post]])

        def consume(self, *_: Any, **__: Any) -> list[Any]:
            return next(self.polls)

    assert next(names_of(KAFKA)["batches_of"](Consumer())) == [post]


# ---------------------------------------------------------------- datasette


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """The file of a window that is open."""
    with hybriddup.Window.open(tmp_path / "window") as window:
        window.add_many(POSTS)
        yield tmp_path / "window" / "posts.sqlite3"


def test_query_of_duplicates_shows_posts_beside_their_keepers(store: Path) -> None:
    connection = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)
    rows = connection.execute(block_with("sql", "FROM posts")).fetchall()
    connection.close()
    assert [row[1:5] for row in rows] == [("c", NEARLY, "a", REPEATED)]
    assert 0.5 <= rows[0][5] <= 1


def test_datasette_shows_the_query(store: Path) -> None:
    """The rows are those that SQLite gives."""
    pytest.importorskip("datasette")
    question = urlencode({"sql": block_with("sql", "FROM posts"), "_shape": "array"})
    command = [sys.executable, "-m", "datasette", str(store), "--get", f"/{store.stem}.json?{question}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert [(row["id"], row["keeper"]) for row in json.loads(ran.stdout)] == [("c", "a")], ran.stderr


# ---------------------------------------------------------------- data frames


def test_a_result_filters_a_frame_of_polars() -> None:
    import polars

    frame = polars.DataFrame(POSTS)
    assert hybriddup.dedupe(frame).filter(frame)["id"].to_list() == ["a", "b"]


def test_a_result_filters_a_data_set() -> None:
    posts = pytest.importorskip("datasets").Dataset.from_list(POSTS)
    assert hybriddup.dedupe(posts).filter(posts)["id"][:] == ["a", "b"]


# ---------------------------------------------------------------- httpx


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("served") / "window") as served:
        yield served.address


class LosesAnswers(httpx.AsyncHTTPTransport):
    """Delivers each request, and loses the first answer to it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[bytes] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        if request.content in self.seen:
            return answer
        await answer.aread()
        self.seen.append(request.content)
        raise httpx.ReadError("the connection broke")


def test_async_client_gets_decisions_of_several_requests(address: str) -> None:
    main = names_of(block_with("python", "async def send"))["main"]
    answers = asyncio.run(main(address, [POSTS[:1], POSTS[1:2]]))
    assert [(one["id"], one["decision"]) for (one,) in answers] == [("a", "kept"), ("b", "kept")]


def test_async_client_sends_again_when_an_answer_is_lost(address: str) -> None:
    send = names_of(block_with("python", "async def send"))["send"]

    async def talk() -> Any:
        async with httpx.AsyncClient(base_url=address, transport=LosesAnswers()) as client:
            return await send(client, POSTS)

    decisions = asyncio.run(talk())
    found = [(one["id"], one["decision"], one["repeated"]) for one in decisions]
    assert found == [("a", "kept", True), ("b", "kept", True), ("c", "duplicate", True)]


def test_async_client_waits_while_the_service_is_busy() -> None:
    send = names_of(block_with("python", "async def send"))["send"]
    busy = httpx.Response(429, headers={"Retry-After": "0"})
    answers = iter([busy, httpx.Response(503), httpx.Response(200, json=[])])

    async def talk(attempts: int) -> Any:
        transport = httpx.MockTransport(lambda _: next(answers))
        async with httpx.AsyncClient(base_url="http://localhost", transport=transport) as client:
            return await send(client, [], attempts)

    with pytest.raises(TimeoutError, match="after 1 attempts"):
        asyncio.run(talk(1))
    assert asyncio.run(talk(2)) == []


def test_async_client_reports_a_post_that_is_none(address: str) -> None:
    main = names_of(block_with("python", "async def send"))["main"]
    with pytest.raises(httpx.HTTPStatusError, match="422"):
        asyncio.run(main(address, [[{"id": "a"}]]))
