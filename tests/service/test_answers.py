"""What the service answers, in this process: decisions, matches, posts by id, explanations, counts."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from functools import partial
from time import time
from typing import Any

import httpx
import jsonschema
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from hybriddup.service.latest import Slot
from hybriddup.service.metrics import Metrics
from hybriddup.service.openapi import openapi_schema
from hybriddup.window import AuditCounts, Window, WindowStats
from tests.service.support import JSON, NEARLY, OTHER, REPEATED, SHAPE, answers_to, ask, make_service, refused
from tests.shared_windows.plain_store import Opener

OTHER_RAIN = "明天下雨吗，要不要去学校接孩子"
SCHEMA = openapi_schema(with_token=False)


def check(name: str, answer: Any) -> None:
    """Fail unless an answer has the shape that the schema promises."""
    whole = {"$ref": f"#/components/schemas/{name}", "components": SCHEMA["components"]}
    jsonschema.Draft202012Validator(whole).validate(answer)


def test_one_post_gets_one_decision_and_an_array_an_array() -> None:
    several = [{"id": 2, "text": NEARLY}, {"text": OTHER}]
    sent: Any = ({"id": "a", "text": REPEATED}, several, several[:1])
    one, (near, other), (again,) = (answer.json() for answer in answers_to(*(("POST", "/v1/posts", at) for at in sent)))
    assert one == {"id": "a", "position": 0, "decision": "kept", "repeated": False}
    assert (near["id"], near["decision"], near["duplicate_of"], near["reason"]) == (2, "duplicate", "a", "near")
    assert near["score"] >= near["threshold"]
    assert (other["id"], other["decision"]) == ("#2", "kept")
    assert again == near | {"repeated": True}
    for answer in (one, near, other):
        check("DecisionAnswer", answer)


def test_an_id_sent_again_gets_its_answer_again() -> None:
    first, again = answers_to(*(("POST", "/v1/posts", {"id": "a", "text": text}) for text in (REPEATED, OTHER)))
    assert again.json() == first.json() | {"repeated": True}
    assert again.headers["x-content-type-options"] == "nosniff"  # no browser takes a post for a page


def test_a_kept_post_comes_with_its_copies_and_their_authors() -> None:
    posts = [{"id": name, "text": REPEATED, "user": {"id": user}} for name, user in (("a", "ann"), ("b", 7))]
    reads = [("GET", f"/v1/posts{address}", None) for address in ("/a", "/b", "")]
    _, kept, copy, listed = answers_to(("POST", "/v1/posts", posts), *reads, of=make_service(authors="user.id"))
    assert (kept.json()["n_copies"], kept.json()["authors"]) == (1, ["ann", 7])
    assert kept.json()["first_seen"] <= kept.json()["last_seen"]
    assert copy.json()["authors"] == [7]
    assert "n_copies" not in copy.json()
    assert listed.json()["posts"][1] == kept.json()
    for name, answer in (("StoredPostAnswer", kept), ("StoredPostAnswer", copy), ("PostsAnswer", listed)):
        check(name, answer.json())


def test_a_duplicate_comes_with_the_text_of_a_post_that_it_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter(range(0, 10**9, 12_000))
    settings = {"window": {"renew": True, "on_same_id": "replace"}}
    opened = partial(Window.open, None, settings, max_step="9d", clock=lambda: float(next(moments)), workers=1)
    sent = [("POST", "/v1/posts", {"id": name, "text": text}) for name, text in (("a", REPEATED), ("b", NEARLY))]
    edited = ("POST", "/v1/posts", {"id": "a", "text": OTHER})
    listed = ("GET", "/v1/posts", None)
    *_, before, _, after = answers_to(*sent, listed, edited, listed, of=make_service(open_window=opened))
    texts = [{post["id"]: post.get("of_text") for post in answer.json()["posts"]} for answer in (before, after)]
    assert texts == [{"a": None, "b": REPEATED}, {"a": None, "b": None}]


def test_an_author_that_is_none_is_refused() -> None:
    sent = ("POST", "/v1/posts", {"text": REPEATED, "user": {"id": 1}})
    (answer,) = answers_to(sent, of=make_service(authors="user"))
    assert refused(answer) == (422, "invalid_post")
    assert "its author must be text" in answer.json()["message"]


@pytest.mark.parametrize(
    ("address", "text"),
    [("17", "text id"), ("17?type=str", "text id"), ("17?type=int", "number"), ("a%2Fb%3Fc", "odd"), ("%233", "made")],
)
def test_posts_are_found_by_id(address: str, text: str) -> None:
    posts = [{"id": "17", "text": "text id"}, {"id": 17, "text": "number"}, {"id": "a/b?c", "text": "odd"}]
    posts.append({"text": "made"})
    _, answer = answers_to(("POST", "/v1/posts", posts), ("GET", f"/v1/posts/{address}", None))
    assert answer.status_code == 200
    assert answer.json()["text"] == text
    check("StoredPostAnswer", answer.json())


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("posts/none", 404),
        *((f"posts/{one}", 422) for one in ("x?type=int", "9223372036854775808?type=int", "1?type=u")),
        *((f"decisions?{one}", 422) for one in ("limit=0", "limit=101", "decision=far")),
        *((f"posts?{one}", 422) for one in ("after=x", "limit=0", "of=x&type=int", "type=no&of=1")),
        ("pairs?limit=x", 422),
    ],
)
def test_what_is_not_there_or_cannot_be_listed_is_refused(address: str, status: int) -> None:
    assert refused(ask(lambda client: client.get(f"/v1/{address}")))[0] == status


def test_matches_are_found_without_adding() -> None:
    posts = [{"id": "a", "text": OTHER}, {"id": "b", "text": OTHER_RAIN}]
    asked = [("POST", "/v1/match", {"text": OTHER, "limit": limit}) for limit in (5, 5, 1)]
    first, second, nearest = (answer.json() for answer in answers_to(("POST", "/v1/posts", posts), *asked)[1:])
    assert first == second
    assert [(match["id"], match["is_match"]) for match in first["matches"]] == [("a", True), ("b", False)]
    assert nearest == {"matches": first["matches"][:1]}
    check("MatchesAnswer", first)


def test_an_explanation_shows_both_texts_and_the_verdict() -> None:
    explain = ("POST", "/v1/explain", {"text": NEARLY, "id": "#0"})
    found = answers_to(("POST", "/v1/posts", {"text": REPEATED}), explain)[-1].json()
    assert (found["a"]["text"], found["b"]["text"], found["matches"]) == (REPEATED, NEARLY, True)
    assert found["verdict"].startswith("B repeats A")
    check("Explanation", found)


def test_lone_surrogates_and_nul_come_back_as_they_were() -> None:
    body = rb'{"id": "\ud800", "text": "odd \udfff \u0000 text"}'

    async def talk(client: httpx.AsyncClient) -> tuple[Any, Any]:
        one = await client.post("/v1/posts", content=body, headers=JSON)
        return json.loads(one.content), json.loads((await client.get("/v1/posts/%ED%A0%80")).content)

    decision, post = ask(talk)
    assert decision["id"] == "\ud800"
    assert post["text"] == "odd \udfff \x00 text"


def test_stats_have_counts_and_history() -> None:
    posts = [*({"text": text} for text in (REPEATED, REPEATED, NEARLY)), *[{"id": 1, "text": OTHER}] * 2]
    sent = (("POST", "/v1/posts", post) for post in posts)
    stats = answers_to(*sent, ("GET", "/v1/stats", None))[-1].json()
    check("ServiceStats", stats)
    assert (stats["n_posts"], stats["n_kept"], stats["n_exact"], stats["n_near"]) == (4, 2, 1, 1)
    slots = stats["history"]["slots"]
    assert [sum(slot[name] for slot in slots) for name in ("kept", "exact", "near")] == [2, 1, 1]


def test_decisions_of_over_half_an_hour_ago_are_told_no_more() -> None:
    service = make_service()
    service.history.slots = [Slot(int(time()) - ago, kept=ago) for ago in (2000, 1700)]
    [stats] = answers_to(("GET", "/v1/stats", None), of=service)
    assert [slot["kept"] for slot in stats.json()["history"]["slots"]] == [1700]


def samples_of(metrics: str) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(metrics)
    return {(one.name, *sorted(one.labels.values())): one.value for family in families for one in family.samples}


def test_metrics_are_those_of_prometheus() -> None:
    sent = ([{"text": REPEATED}, {"id": 1, "text": NEARLY}, {"text": "ok"}], {"text": 1}, {"id": 1, "text": "again"})
    asked = ("/v1/posts/whatever", "/nothing/here", "/metrics")
    requests = (*(("POST", "/v1/posts", body) for body in sent), *(("GET", address, None) for address in asked))
    samples = samples_of(answers_to(*requests)[-1].text)
    expected = {
        ("posts_total",): 3,
        ("repeated_ids_total",): 1,
        **{("decisions_total", *kind): 1 for kind in (("16-40", "near"), ("16-40", "kept"), ("0-4", "kept"))},
        ("requests_refused_total", "invalid_post"): 1,
        ("request_seconds_count", "/v1/posts", "200", "POST"): 2,
        ("request_seconds_count", "/v1/posts/{id}", "404", "GET"): 1,
        ("request_seconds_count", "404", "GET", "other"): 1,
        ("window_posts",): 2,
        ("ready",): 1,
    }
    assert {(name, *labels): samples[f"hybriddup_{name}", *labels] for name, *labels in expected} == expected
    assert samples["hybriddup_step_seconds_count", "look_up"] >= 1
    assert samples["hybriddup_store_bytes",] >= 0


def test_the_page_comes_from_the_package_and_asks_no_one_else() -> None:
    answers = ask(lambda client: asyncio.gather(*map(client.get, ("/", "/page.css", "/page.js"))))
    for answer, kind in zip(answers, ("html", "css", "javascript"), strict=True):
        assert answer.headers["content-type"].partition(";")[0] == f"text/{kind}"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "https://" not in answer.text
        assert "innerHTML" not in answer.text


def test_a_service_says_that_it_is_ready_once_posts_are_taken() -> None:
    told: list[tuple[int, str]] = []

    async def talk() -> None:
        service = make_service()
        service.start(lambda stats: told.append((stats.n_kept_in_window, service.status)), lambda: told.clear())
        await service.opening
        service.ready_window()
        await service.close()

    asyncio.run(talk())
    assert told == [(0, "ready")]


def test_a_service_is_alive_before_it_is_ready() -> None:
    service = make_service()

    async def talk(client: httpx.AsyncClient) -> list[tuple[int, int, int]]:
        seen = []
        for service.status in ("loading", "ready", "ending"):
            alive, ready = await client.get("/healthz"), await client.get("/readyz")
            post = await client.post("/v1/posts", json={"text": OTHER})
            assert ready.status_code == 200 or set(ready.json()) == SHAPE
            seen.append((alive.status_code, ready.status_code, post.status_code))
        return seen

    assert ask(talk, service) == [(200, 503, 503), (200, 200, 200), (200, 503, 503)]


def test_a_window_whose_time_is_ahead_of_the_clock_says_so() -> None:
    now = [2e9]

    async def talk(client: httpx.AsyncClient) -> tuple[dict[str, object], str]:
        await client.post("/v1/posts", json={"text": OTHER})
        now[0] -= 7200
        await client.post("/v1/posts", json={"text": OTHER})
        return (await client.get("/readyz")).json(), (await client.get("/metrics")).text

    ready, metrics = ask(talk, make_service(open_window=lambda: Window.open(None, workers=1, clock=lambda: now[0])))
    assert ready == {"status": "ready", "seconds_ahead": 7200.0}
    assert "hybriddup_watermark_ahead_seconds 7200.0" in metrics


def test_the_latest_decisions_are_listed_newest_first() -> None:
    texts = zip("abcda", [REPEATED, NEARLY, OTHER, OTHER, "x"], strict=True)
    posts = [{"id": name, "text": text} for name, text in texts]
    asked = ["", "?limit=1", "?decision=near", "?decision=exact", "?decision=kept"]
    answers = answers_to(("POST", "/v1/posts", posts), *(("GET", f"/v1/decisions{one}", None) for one in asked))
    every, newest, near, exact, kept = (answer.json() for answer in answers[1:])
    assert [[one["id"] for one in listed["decisions"]] for listed in (every, newest, near, exact, kept)] == [
        ["d", "c", "b", "a"], ["d"], ["b"], ["d"], ["c", "a"],
    ]  # fmt: skip
    assert near["decisions"][0]["of_text"] == REPEATED
    assert "of_text" not in kept["decisions"][0]
    check("DecisionsAnswer", every)


def test_pairs_to_judge_are_near_ones_and_those_that_fell_short() -> None:
    texts = [REPEATED, NEARLY, OTHER, OTHER, OTHER_RAIN, "长" * 1001, "长" * 1001 + "文章"]
    posts = [{"text": text} for text in texts]
    found = answers_to(("POST", "/v1/posts", posts), ("GET", "/v1/pairs", None))[-1].json()
    assert {frozenset((one["a"], one["b"])) for one in found["pairs"]} == {
        frozenset((REPEATED, NEARLY)),
        frozenset((OTHER, OTHER_RAIN)),
    }
    assert sorted(one["is_match"] for one in found["pairs"]) == [False, True]
    check("PairsAnswer", found)


def test_a_post_that_is_deleted_is_gone_for_all_that_is_asked_later() -> None:
    async def talk(client: httpx.AsyncClient) -> list[Any]:
        await client.post("/v1/posts", json=[{"id": 7, "text": REPEATED}, {"id": "b", "text": NEARLY}])
        first = await client.delete("/v1/posts/7?type=int")
        check("DeletedAnswer", first.json())
        again, by_text = await client.delete("/v1/posts/7?type=int"), await client.delete("/v1/posts/7")
        left, metrics = (await client.get("/v1/posts")).json()["posts"], await client.get("/metrics")
        new = (await client.post("/v1/posts", json=[{"id": 7, "text": OTHER}, {"id": "c", "text": NEARLY}])).json()
        latest = (await client.get("/v1/decisions")).json()["decisions"]
        return [first, again, by_text, left, new, latest, metrics]

    first, again, by_text, left, new, latest, metrics = ask(talk)
    assert first.json() == {"id": 7, "deleted": True}
    assert (again.status_code, by_text.status_code) == (404, 404)
    assert set(again.json()) == SHAPE
    assert [(one["id"], one["duplicate_of"], "of_text" in one) for one in left] == [("b", 7, False)]
    assert [(one["decision"], one["repeated"]) for one in new] == [("kept", False)] * 2
    assert [(one["id"], "of_text" in one) for one in latest] == [("c", False), (7, False), ("b", False)]
    assert "hybriddup_deleted_posts_total 1.0" in metrics.text


def test_posts_are_listed_and_searched_newest_first() -> None:
    posts = [{"id": 1, "text": REPEATED}, {"id": "b", "text": OTHER}, {"id": "c", "text": NEARLY}, {"text": "Hello"}]

    async def talk(client: httpx.AsyncClient) -> list[Any]:
        await client.post("/v1/posts", json=posts)
        pages = [(await client.get("/v1/posts?limit=3")).json()]
        pages.append((await client.get(f"/v1/posts?limit=3&after={pages[0]['after']}")).json())
        wanted: list[dict[str, str]]
        wanted = [{"q": "回家"}, {"q": "HELL"}, {"of": "1", "type": "int"}, {"of": "1"}, {"q": "nowhere"}]
        pages += [(await client.get("/v1/posts", params=one)).json() for one in wanted]
        return pages

    pages = ask(talk)
    for page in pages:
        check("PostsAnswer", page)
    ids = [[one["id"] for one in page["posts"]] for page in pages]
    assert ids == [["#3", "c", "b"], [1], ["c", 1], ["#3"], ["c"], [], []]
    assert [page["after"] for page in pages] == [1, None, None, None, None, None, None]
    assert pages[0]["posts"][1]["of_text"] == REPEATED


def test_what_a_window_cannot_do_is_said_so() -> None:
    """As a shared one cannot list its posts: 501."""
    service = make_service(open_window=lambda: Opener()("shared"))
    assert refused(ask(lambda client: client.get("/v1/posts"), service)) == (501, "not_supported")


def test_each_request_has_a_line_in_the_access_log() -> None:
    """With what is asked and how it went, and neither text nor token nor what an address could break a line with."""
    lines: list[str] = []

    async def talk(client: httpx.AsyncClient) -> None:
        headers = {"authorization": "Bearer 0123456789abcdef"}
        await client.post("/v1/posts", json={"id": "a\nb", "text": "secret"}, headers=headers)
        await client.get("/v1/posts?q=secret", headers=headers)
        await client.get("/v1/posts/a%0Ab", headers=headers)
        await client.get("/v1/stats", headers={"authorization": "Bearer wrong"})

    ask(talk, token="0123456789abcdef", log=lines.append)  # noqa: S106  of this test alone
    patterns = ["POST /v1/posts 200", "GET /v1/posts 200", "GET /v1/posts/a%0Ab 200", "GET /v1/stats 401"]
    assert len(lines) == 4
    for line, pattern in zip(lines, patterns, strict=True):
        assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ 127\.0\.0\.1 {pattern} \d+\.\d{{4}} s", line)


def test_metrics_tell_of_the_process() -> None:
    text = ask(lambda client: client.get("/metrics")).text
    names = {family.name for family in text_string_to_metric_families(text)}
    assert {"process_resident_memory_bytes", "process_cpu_seconds", "python_info", "python_gc_collections"} <= names


def test_estimated_recall_comes_with_its_interval_and_counts_once_there_are_duplicates() -> None:
    none = WindowStats(0, 0, 0, 0, 0, 0, 0, 0, None, 0, 0, "scan")
    some = replace(none, estimated_recall=0.9, recall_interval=(0.6, 0.98), audit=AuditCounts(50, 9, 1, 3))
    of_none, of_some = (samples_of(generate_latest(Metrics(lambda of=of: of).registry).decode()) for of in (none, some))
    assert [of_some[f"hybriddup_estimated_recall{end}",] for end in ("", "_low", "_high")] == [0.9, 0.6, 0.98]
    outcomes = {"found": 9, "missed": 1, "unique": 40, "skipped": 3}
    assert {outcome: of_some["hybriddup_audited_posts_total", outcome] for outcome in outcomes} == outcomes
    assert ("hybriddup_estimated_recall",) not in of_none
    assert of_none["hybriddup_audited_posts_total", "found"] == 0
