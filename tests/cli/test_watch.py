"""`hybriddup watch` as a process in pipes: answers in order, as lines come, until the end or until told."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hybriddup.cli.watcher import recall_line
from hybriddup.window import AuditCounts, Window, WindowStats
from tests.cli.support import NEARLY, OTHER, REPEATED, ROOT, Start, distinct_texts, jsonl


@pytest.fixture
def watch(start: Start) -> Start:
    """Return a function that starts the command with these options, and posts yet to be sent."""
    return partial(start, "watch", stdin=subprocess.PIPE)


def answers(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def finish(process: Any, *lines: str) -> tuple[list[dict[str, Any]], str, int]:
    """Send the last lines and the end; return the answers, what was said, and the exit code."""
    out, error = process.communicate("".join(lines).encode("utf-8", "surrogatepass"), timeout=120)
    return answers(out), error.decode(), process.returncode


def send(process: Any, *records: Any) -> None:
    process.stdin.write(jsonl(*records).encode())
    process.stdin.flush()


def read(process: Any) -> Any:
    return json.loads(process.stdout.readline())


def test_each_line_is_answered_in_order(watch: Start) -> None:
    texts = distinct_texts(700)
    posts = [{"id": n, "text": text} for n, text in enumerate([*texts, *texts[:300]])]
    got, said, code = finish(watch(), jsonl(*posts))
    assert [answer["id"] for answer in got] == list(range(1000))
    assert [answer["decision"] for answer in got] == ["kept"] * 700 + ["duplicate"] * 300
    assert [answer["duplicate_of"] for answer in got[700:]] == list(range(300))
    assert (said, code) == ("1,000 lines: 300 exact, 700 kept\n", 0)


def test_authors_are_noted_with_the_posts(watch: Start, tmp_path: Path) -> None:
    posts = [{"id": name, "text": REPEATED, "user": {"id": by}} for name, by in ("ax", "by")]
    watching = watch("--store", str(tmp_path / "window"), "--authors", "user.id")
    got, _, code = finish(watching, jsonl(*posts, {"id": "c", "text": OTHER, "user": {"id": {}}}))
    assert (code, [answer.get("decision") for answer in got]) == (1, ["kept", "duplicate", None])
    assert got[2]["error"].startswith("its author must be text")
    with Window.open(tmp_path / "window") as window:
        kept: Any = window.get("a")
    assert (kept.n_copies, kept.authors) == (1, ["x", "y"])


def test_copies_are_counted_with_counts(watch: Start, tmp_path: Path) -> None:
    store, posts = tmp_path / "window", [{"id": name, "text": REPEATED} for name in "ab"]
    for options, n_copies in ([[], None], [["--counts"], 1], [[], 1]):
        assert finish(watch("--store", str(store), *options), jsonl(*posts))[2] == 0
        with Window.open(store, read_only=True) as window:
            kept: Any = window.get("a")
        assert kept.n_copies == n_copies


def post(name: object, text: str = REPEATED, encoding: str = "utf-8") -> bytes:
    """A line with a post; a lone surrogate comes as an escape."""
    record = json.dumps({"id": name, "text": text, "created_at": 5}, ensure_ascii=False)
    return record.encode(encoding, "backslashreplace") + b"\n"


@pytest.mark.parametrize(
    ("options", "bad", "errors"),
    [
        ("", [b"not json\n", b"\n", b"[1]\n", b'{"id": "b"}\n', post(1.5)], {2: "not valid JSON", 4: "", 5: "", 6: ""}),
        ("--encoding gb18030", [b'{"text": "\xff\xff"}\n'], {2: "not valid GB18030"}),
        (
            "--max-line 100kB",
            [post("b", "x" * 300_000)],
            {2: "longer than 100,000 bytes, the limit that --max-line sets"},
        ),
        *(
            ("--time event", [b'{"text": "b", "created_at": ' + time + b"}\n"], {2: ""})
            for time in (b"1" + b"0" * 400, b"1" + b"0" * 5000, b"1e999", b"NaN")
        ),
        ("", [], {}),
    ],
    ids=["no posts", "encoding", "length", "400 digits", "5,000 digits", "infinite", "no number", "none"],
)
def test_a_bad_line_is_answered_in_its_place(
    watch: Start, options: str, bad: list[bytes], errors: dict[int, str]
) -> None:
    process = watch(*options.split())
    encoding = "gb18030" if "gb18030" in options else "utf-8"
    lines = [post("\ud800", encoding=encoding), *bad, post("一", NEARLY, encoding)[:-1]]
    out, said = process.communicate(b"".join(lines), timeout=120)
    first, *between, last = answers(out)
    assert (first["decision"], last["id"], last["duplicate_of"]) == ("kept", "一", "\ud800")
    assert [answer["line"] for answer in between] == list(errors)
    for answer in between:
        assert answer["error"].startswith(errors[answer["line"]])
        assert 0 < len(answer["error"]) < 250
    assert process.returncode == (1 if bad else 0)
    assert (f"{len(errors)} bad line" in said.decode()) is bool(bad)
    assert all(f"standard input:{number}: {error}" in said.decode() for number, error in errors.items())


@pytest.mark.parametrize("name", ["auto", "utf-16", "nonesuch"])
def test_an_encoding_that_cannot_be_read_is_refused(watch: Start, tmp_path: Path, name: str) -> None:
    _, said, code = finish(watch("--encoding", name, "--store", "window"), "")
    assert code == 2
    assert name in said
    assert not (tmp_path / "window").exists()


def test_a_line_is_answered_though_no_other_comes(watch: Start) -> None:
    process = watch("--quiet")
    send(process, {"id": "a", "text": REPEATED})
    assert read(process) == {"id": "a", "position": 0, "decision": "kept", "repeated": False}
    send(process, {"id": "b", "text": NEARLY}, {"id": "a", "text": OTHER})
    assert read(process)["duplicate_of"] == "a"
    assert read(process)["repeated"] is True
    assert finish(process) == ([], "", 0)


def test_a_text_without_a_value_is_an_empty_one_as_in_a_run(watch: Start, start: Start, tmp_path: Path) -> None:
    lines = jsonl({"id": 1, "text": None}, {"id": 2, "text": REPEATED}, {"id": 3, "text": None}, {"id": 4, "text": ""})
    got, _, code = finish(watch(), lines)
    kept = start("dedupe", "-", "--quiet", stdin=subprocess.PIPE).communicate(lines.encode(), timeout=120)[0]
    assert code == 0
    assert [answer["id"] for answer in got if answer["decision"] == "kept"] == [post["id"] for post in answers(kept)]
    assert [answer["id"] for answer in got] == [1, 2, 3, 4]


def test_a_terminal_that_is_closed_ends_it_in_order(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    terminal, other_end = pty.openpty()

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(other_end, termios.TIOCSCTTY, 0)

    command = [sys.executable, "-m", "hybriddup", "watch", "--store", str(tmp_path / "window")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), other_end)
    process = subprocess.Popen(command, env=environment, preexec_fn=take_terminal, **streams)
    os.close(other_end)
    os.write(terminal, b'{"id": "typed", "text": "good morning"}\n')
    shown = b""
    while b"decision" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    assert process.wait(60) == 0
    with Window.open(tmp_path / "window") as window:
        assert window.get("typed") is not None


def test_strict_stops_at_the_first_bad_line(watch: Start) -> None:
    got, said, code = finish(watch("--strict"), jsonl({"id": "a", "text": REPEATED}), "{\n", jsonl(OTHER))
    assert [answer["id"] for answer in got] == ["a"]
    assert said.startswith("error: standard input, line 2: not valid JSON")
    assert code == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
def test_told_to_stop_it_answers_what_it_read(watch: Start, tmp_path: Path, number: int, code: int) -> None:
    """Though the input is still open; what was answered is in the store."""
    posts = [{"id": n, "text": text} for n, text in enumerate(distinct_texts(2000))]
    with watch("--store", "window") as process:
        send(process, *posts)
        got = [read(process)]
        process.send_signal(number)
        got += answers(process.stdout.read())
        said = process.stderr.read()
        assert process.wait(60) == code
    assert [answer["id"] for answer in got] == list(range(len(got)))
    assert b"nothing was written" not in said
    again, _, _ = finish(watch("--store", (tmp_path / "window").as_uri()), jsonl(*posts[: len(got)]))
    assert again == [answer | {"repeated": True} for answer in got]


def test_a_reader_that_stops_reading_is_no_error(watch: Start) -> None:
    """As when the output is piped to head; the posts answered before are in the store."""
    with watch("--store", "window") as process:
        send(process, {"id": "a", "text": REPEATED})
        assert read(process)["id"] == "a"
        process.stdout.close()
        send(process, {"id": "b", "text": OTHER})
        assert process.wait(60) == 141
        assert process.stderr.read() == b""


def test_event_time_and_the_horizon_decide_what_still_matches(watch: Start) -> None:
    posts = [
        {"nr": 1, "body": REPEATED, "at": "2026-11-20T10:00:00Z"},
        {"nr": 2, "body": REPEATED, "at": "2026-11-20T10:30:00Z"},
        {"nr": 3, "body": REPEATED},
        {"nr": 4, "body": REPEATED, "at": "2026-11-20T11:30:00Z"},
    ]
    arguments = ["--time", "event", "--horizon", "1h", "--text-field", "body", "--id-field", "nr", "--time-field", "at"]
    got, _, code = finish(watch(*arguments), jsonl(*posts))
    assert [answer.get("decision") for answer in got] == ["kept", "duplicate", None, "kept"]
    assert "created_at" in got[2]["error"]
    assert code == 1


@pytest.mark.parametrize(("options", "decision"), [((), "duplicate"), (("--max-step", "2d"), "kept")])
def test_a_wrong_time_moves_the_window_on_by_a_step(watch: Start, options: tuple[str, ...], decision: str) -> None:
    """So that posts before it go on matching, unless the step is long."""
    posts = [
        {"text": REPEATED, "created_at": "2026-11-20T10:00:00Z"},
        {"text": OTHER, "created_at": "2026-11-21T10:00:00Z"},
        {"text": REPEATED, "created_at": "2026-11-20T10:00:10Z"},
    ]
    arguments = ["--time", "event", "--horizon", "1h", *options]
    got, _, code = finish(watch(*arguments), jsonl(*posts))
    assert ([answer["decision"] for answer in got], code) == (["kept", "kept", decision], 0)


@pytest.mark.slow
def test_a_time_that_was_ahead_is_put_back(watch: Start, tmp_path: Path) -> None:
    def said_by_watch(*options: str) -> str:
        got, said, _ = finish(watch("--store", "window", *options), jsonl({"text": REPEATED}))
        assert got[0]["decision"] == "duplicate"
        return said

    began = time.time()
    with Window.open(tmp_path / "window", clock=lambda: time.time() + 7200) as window:
        window.add(REPEATED)
    assert re.search(r"the time of the window is \d+ s ahead of the clock.*--rewind", said_by_watch(), re.DOTALL)
    put_back = re.search(r"the window's time was set back by (\d,\d\d\d) s\n", said_by_watch("--rewind"))
    passed = time.time() - began  # a machine with much to do may take minutes for the first window
    assert put_back
    assert 7199 - passed <= int(put_back[1].replace(",", "")) <= 7200
    assert "1 line: 1 exact\n" in said_by_watch()


def test_a_store_is_not_shared(watch: Start) -> None:
    process = watch("--store", "window")
    send(process, {"text": OTHER})
    assert read(process)["decision"] == "kept"
    _, said, code = finish(watch("--store", "window"), jsonl(OTHER))
    assert code == 2
    assert said.startswith("error: ")
    assert finish(process)[2] == 0


def test_estimated_recall_is_told_at_the_end() -> None:
    none = WindowStats(0, 0, 0, 0, 0, 0, 0, 0, None, 0, 0, "scan")
    some = replace(none, estimated_recall=0.9, recall_interval=(0.5958, 0.9821), audit=AuditCounts(50, 9, 1, 3))
    assert recall_line(none) == ""
    assert recall_line(some) == (
        "estimated recall of near duplicates 0.9000 (95 %: 0.596 to 0.982), by 10 of them among 50 sampled posts"
    )
