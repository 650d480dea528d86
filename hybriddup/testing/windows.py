"""Contract check of windows: what `hybriddup.Window` promises, whoever keeps the posts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from hybriddup.errors import HybriddupError, InputError, WindowError
from hybriddup.testing.contract import ContractError
from hybriddup.window.opened import AnyWindow
from hybriddup.window.records import Decision

CONFIG: dict[str, Any] = {
    "weighter": {"use": "tf"},
    "blocks": {"use": "scan"},
    "lengths": [{"max_hamming_distance": 63, "verifier": {"use": "edit", "threshold": 0.8}}],
}
"""Learns nothing and leaves nothing out, so that every answer is known."""
OTHER_RECIPE = CONFIG | {"tokenizer": {"use": "words"}}
HORIZON = 1000.0
STEP = 10 * HORIZON
N_THREADS, N_AT_ONCE = 8, 24


class Opens(Protocol):
    """Opens windows that are told apart by names."""

    def __call__(self, name: str, **options: Any) -> AnyWindow:
        """Return the window of this name, a new one where there is none; options are those of `Window.open`."""
        ...


def check_window(open_window: Opens, *, lasts: bool = True) -> None:
    """Check that windows keep the promises of `hybriddup.Window`.

    Parameters
    ----------
    open_window
        Opens a window by a name that the check makes up; the same name is the same window. The options are those of
        `hybriddup.Window.open`, to which they are to be handed on.
    lasts
        Whether posts are still there when a window is closed and opened again.

    Raises
    ------
    ContractError
        Naming the clause that does not hold.
    """
    _check_batches(open_window)
    _check_ids(open_window)
    _check_looking(open_window)
    _check_expiry(open_window)
    _check_event_time(open_window)
    _check_threads(open_window)
    _check_refusals(open_window)
    if lasts:
        _check_reopening(open_window)


def require(holds: object, clause: str, evidence: object) -> None:
    """Raise the error of a clause unless it holds."""
    if not holds:
        raise ContractError(f"{clause}: the window breaks this: {ascii(evidence)[:300]}")


def require_error(kind: type[HybriddupError], call: Callable[[], object], clause: str) -> None:
    """Raise the error of a clause unless the call raises an error of a kind."""
    try:
        given = call()
    except kind:
        return
    except Exception as error:
        raise ContractError(f"{clause}: the window breaks this: {type(error).__name__}: {error}") from error
    require(False, clause, given)


def distinct_texts(n: int) -> list[str]:
    """Return texts, none of which is similar to another."""
    return [" ".join(chr(0x4E00 + (place * 37 + i * (place + 3)) % 20_000) * 3 for i in range(8)) for place in range(n)]


def posts_with_repeats(n: int) -> list[dict[str, Any]]:
    """Return posts, of each three in a row one text, once exactly and once nearly repeated, mixed up."""
    texts = distinct_texts(n)
    forms = texts + texts + [text[:-1] + "!" for text in texts]
    mixed = [forms[place * 7 % len(forms)] for place in range(len(forms))]
    return [{"id": f"post {place}", "text": text} for place, text in enumerate(mixed)]


def said(decisions: Iterable[Decision]) -> list[object]:
    """Return what decisions say, without where the window keeps the posts."""
    return [(each.id, each.decision, each.evidence and (each.evidence.of, each.evidence.reason)) for each in decisions]


def _check_batches(open_window: Opens) -> None:
    posts, answers = posts_with_repeats(50), []
    for size in (1, 7, len(posts)):
        with_size = open_window(f"batches of {size}", config=CONFIG, horizon=HORIZON, clock=lambda: 0.0)
        decided = [each for i in range(0, len(posts), size) for each in with_size.add_many(posts[i : i + size])]
        stats = with_size.stats()
        with_size.close()
        kept = {each.id for each in decided if each.kept}
        clause = "every duplicate names a post that was kept before it"
        require(all(each.kept or (each.evidence and each.evidence.of in kept) for each in decided), clause, decided)
        require(len(kept) == 50, "of posts that match each other exactly one is kept", len(kept))
        counted = (stats.n_posts, stats.n_kept, stats.n_exact + stats.n_near, stats.n_kept_in_window)
        require(counted == (150, 50, 100, 50), "stats count what was decided", counted)
        answers.append(said(decided))
    require(answers[0] == answers[1] == answers[2], "answers do not depend on how posts are sent", answers[1][:5])


def _check_ids(open_window: Opens) -> None:
    window, texts = open_window("ids", config=CONFIG, horizon=HORIZON), distinct_texts(6)
    first = window.add_many([{"id": 1, "text": texts[0]}, {"id": "1", "text": texts[1]}, {"id": 1, "text": texts[2]}])
    clause = "a number and the same digits as text are two ids"
    require([each.repeated for each in first] == [False, False, True], clause, first)
    again = window.add({"id": "1", "text": texts[0]})
    clause = "an id sent again gets the first answer, whatever the text"
    require(again.repeated and again.kept and again.id == "1", clause, again)
    require(window.add(texts[2]).kept, "a post whose id was sent before is not kept", texts[2])
    made = window.add(texts[3])
    require(isinstance(made.id, str) and made.id.startswith("#"), "a post without an id gets one", made)
    same = window.add_many([{"id": made.position, "text": texts[4]}, {"id": f"{made.position}", "text": texts[5]}])
    require(not any(each.repeated for each in same), "ids that were made are told from ids that were sent", same)
    window.close()


def _check_looking(open_window: Opens) -> None:
    window, texts = open_window("looking", config=CONFIG, horizon=HORIZON), distinct_texts(12)
    window.add_many([{"id": place, "text": text} for place, text in enumerate(texts)])
    found = window.match(texts[5][:-1] + "!", limit=3)
    require(len(found) <= 3, "match returns no more than are asked for", found)
    require(found and found[0].id == 5 and found[0].is_match, "match returns the most similar posts first", found)
    require(not any(each.is_match for each in found[1:]), "match says which would be duplicates", found)
    require(window.stats().n_posts == 12, "looking changes nothing", window.stats())
    post = window.get(7)
    require(post is not None and (post.text, post.kept) == (texts[7], True), "get returns the post of an id", post)
    require(window.get("7") is None, "get returns None for an id that is not there", window.get("7"))
    explained = window.explain(texts[7][:-1] + "!", 7), window.explain(texts[8], 7)
    clause = "explain says what would be decided"
    require([each.matches for each in explained] == [True, False], clause, [each.verdict for each in explained])
    require_error(InputError, lambda: window.explain("text", "no such id"), "explain refuses an id that is not there")
    window.close()


def _check_expiry(open_window: Opens) -> None:
    now, texts = [0.0], distinct_texts(3)
    window = open_window("expiry", config=CONFIG, horizon=HORIZON, max_step=STEP, clock=lambda: now[0])
    window.add({"id": "old", "text": texts[0]})
    now[0] = HORIZON - 1
    require(not window.add(texts[0]).kept, "a kept post matches within the horizon", texts[0])
    now[0] = HORIZON + 1
    window.add(texts[1])
    clause = "a kept post matches no more after the horizon"
    require(not any(each.is_match for each in window.match(texts[0])), clause, window.match(texts[0]))
    require(window.add(texts[0]).kept, clause, texts[0])
    now[0] = 0.0
    require(not window.add(texts[1]).kept, "a clock that goes backwards stands still", texts[1])
    window.close()


def _check_event_time(open_window: Opens) -> None:
    texts = distinct_texts(4)
    options = {"config": CONFIG, "horizon": HORIZON, "time": "event", "max_step": STEP}
    window = open_window("event time", clock=lambda: 5 * HORIZON, **options)
    require_error(InputError, lambda: window.add(texts[0]), "a post without a time is refused where times count")
    window.add_many([{"text": texts[0], "created_at": 0.0}, {"text": texts[1], "created_at": 3 * HORIZON}])
    clause = "a post that is older than the horizon matches no later one"
    window.add({"text": texts[2], "created_at": HORIZON})
    require(window.add({"text": texts[2], "created_at": 3 * HORIZON}).kept, clause, texts[2])
    require(window.stats().n_late == 1, "late posts are counted", window.stats())
    window.close()


def _check_threads(open_window: Opens) -> None:
    window, texts = open_window("threads", config=CONFIG, horizon=HORIZON), distinct_texts(N_AT_ONCE)

    def send(first: int) -> list[Decision]:
        return [window.add(text) for text in texts[first:] + texts[:first]]

    with ThreadPoolExecutor(N_THREADS) as pool:
        decided = [each for decisions in pool.map(send, range(N_THREADS)) for each in decisions]
    n_kept = sum(each.kept for each in decided)
    require(n_kept == N_AT_ONCE, "of equal posts that several threads send exactly one is kept", n_kept)
    require(len({each.position for each in decided}) == len(decided), "each post has its own position", len(decided))
    window.close()


def _check_refusals(open_window: Opens) -> None:
    window, text = open_window("refusals", config=CONFIG, horizon=HORIZON), distinct_texts(1)[0]
    wrong: Sequence[Any] = (7, {"id": "a"}, {"text": 7}, {"text": text, "id": 1.5}, {"text": text, "id": "i" * 600})
    for post in wrong:
        require_error(InputError, partial(window.add_many, [text, post]), "what is no post is refused")
    require(window.stats().n_posts == 0, "of a batch that is refused nothing is decided", window.stats())
    require(window.add(text).kept, "of a batch that is refused nothing is decided", text)
    window.close()
    window.close()
    require_error(WindowError, lambda: window.add(text), "a closed window takes no posts")
    require_error(WindowError, lambda: window.match(text), "a closed window answers nothing")


def _check_reopening(open_window: Opens) -> None:
    posts = posts_with_repeats(20)
    window = open_window("reopening", config=CONFIG, horizon=HORIZON)
    answers, found = said(window.add_many(posts)), window.match(posts[0]["text"])
    window.close()
    window = open_window("reopening", config=CONFIG, horizon=HORIZON)
    require(window.match(posts[0]["text"]) == found, "an opened window finds what it found before", found)
    again = window.add_many(posts)
    clause = "an opened window gives repeated ids the first answer"
    require(said(again) == answers and all(each.repeated for each in again), clause, again[:5])
    require(not window.add(posts[0]["text"]).kept, "posts still match when a window is opened again", posts[0])
    window.close()
    clause = "a store whose fingerprints were made in another way is refused"
    require_error(WindowError, lambda: open_window("reopening", config=OTHER_RECIPE, horizon=HORIZON), clause)
