"""Contract check for windows: the guarantees of `hybriddup.Window`, for any kind of store.

Windows whose posts survive closing are also reopened, even after a crash, and opened a second time while open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from hybriddup.errors import InputError, StoreError, UnsupportedError, WindowError
from hybriddup.testing.contract import require, require_equal, require_error
from hybriddup.testing.texts import NASTY_TEXTS
from hybriddup.testing.window_posts import (
    CONFIG,
    HORIZON,
    Opens,
    Windows,
    comparable,
    distinct_texts,
    nearly,
    posts_with_repeats,
    right_answers,
)
from hybriddup.window import Window
from hybriddup.window.records import Decision, Post

STEP = 10 * HORIZON
N_THREADS, N_AT_ONCE = 8, 24
GONE = "a post that is deleted"
OTHER_RECIPE = CONFIG | {"tokenizer": {"use": "words"}}


def check_window(open_window: Opens, *, lasts: bool = True, shared: bool = False) -> None:
    """Check that windows keep the guarantees of `hybriddup.Window`.

    Parameters
    ----------
    open_window
        Function that opens a window by name, and passes its options on to `hybriddup.Window.open`. The check chooses
        the names; equal names must give the same window.
    lasts
        Whether posts survive closing and reopening, and the end of a process that did not close the window. If so, the
        check also opens the window in another process, so cloudpickle must be able to pickle ``open_window``.
    shared
        Whether several windows, in one process or in several, may be open at once and all accept posts. If not, opening
        a second window must fail unless it has ``read_only=True``.

    Raises
    ------
    ContractError
        If a clause does not hold; the message names it.
    """
    with Windows(open_window) as windows:
        check_one(windows)
        if lasts:
            check_lasting(windows)
            check_second(windows, shared=shared)
        if shared:
            _check_threads(windows, n_windows=2)


def check_one(windows: Windows) -> None:
    """Check all guarantees that need neither reopening (`check_lasting`) nor a second open window (`check_second`)."""
    _check_batches(windows)
    _check_ids(windows)
    _check_looking(windows)
    _check_deleting(windows)
    _check_listing(windows)
    _check_any_text(windows)
    _check_expiry(windows)
    _check_event_time(windows)
    _check_rewinding(windows)
    _check_threads(windows, n_windows=1)
    _check_refusals(windows)
    _check_closing(windows)


def _check_batches(windows: Windows) -> None:
    posts = posts_with_repeats(100)
    for size in (1, 7, 256):
        window = windows(f"batches of {size}", clock=lambda: 0.0)
        batches = [window.add_many(posts[first : first + size]) for first in range(0, len(posts), size)]
        decided, stats = list(chain.from_iterable(batches)), window.stats()
        clause = "of matching posts the first is kept and the others name it, whatever the batch size"
        require_equal(comparable(decided), right_answers(posts), clause)
        positions = [each.position for each in decided]
        require_equal(positions, sorted(set(positions)), "positions rise in the order of the posts")
        clause = "a duplicate has the position of its keeper, and a score that reaches the threshold"
        where = {each.id: each.position for each in decided}
        evidence = [each.evidence for each in decided if each.evidence]
        right = (one.of_position == where[one.duplicate_of] and one.score >= one.threshold for one in evidence)
        require(all(right), clause, decided)
        counted = (stats.n_posts, stats.n_kept, stats.n_exact, stats.n_near, stats.n_kept_in_window)
        reasons = [one.reason for one in evidence]
        expected = (300, 100, reasons.count("exact"), reasons.count("near"), 100)
        require_equal(counted, expected, "stats count the decisions")


def _check_ids(windows: Windows) -> None:
    window, texts = windows("ids"), distinct_texts(6)
    first = window.add_many([{"id": 1, "text": texts[0]}, {"id": "1", "text": texts[1]}, {"id": 1, "text": texts[2]}])
    clause = "a number and the same digits as text are two ids"
    require_equal([each.repeated for each in first], [False, False, True], clause)
    again = window.add_many([{"id": "1", "text": texts[0]}, {"id": 1, "text": nearly(texts[1])}])
    clause = "a repeated id gets the first decision, whatever the text"
    require_equal([replace(each, repeated=False) for each in again], [first[1], first[0]], clause)
    require(all(each.repeated for each in again), "a decision on a repeated id is marked as repeated", again)
    require_equal(window.stats().n_repeated_ids, 3, "stats count repeated ids")
    require(window.add(texts[2]).kept, "a post with a repeated id is not kept", texts[2])
    made = window.add(texts[3])
    require(isinstance(made.id, str) and made.id.startswith("#"), "a post without an id gets one", made)
    same = window.add_many([{"id": made.position, "text": texts[4]}, {"id": f"{made.position}", "text": texts[5]}])
    require(not any(each.repeated for each in same), "generated ids differ from ids that were sent", same)


def _check_looking(windows: Windows) -> None:
    window, texts = windows("looking"), distinct_texts(12)
    half_alike = [texts[5][:20] + text[20:] for text in texts[6:10]]
    window.add_many([{"id": place, "text": text} for place, text in enumerate([*texts, texts[5], *half_alike])])
    found = window.match(nearly(texts[5]), limit=3)
    require_equal(len(found), 3, "match returns up to limit posts")
    require(found and found[0].id == 5 and found[0].is_match, "match returns the most similar posts first", found)
    clause = "match marks the posts that would make the text a duplicate"
    require(not any(each.is_match for each in found[1:]), clause, found)
    require_equal(window.stats().n_posts, 17, "queries change nothing")
    posts = [window.get(7), window.get(12)]
    clause = "get returns the post with an id, kept or not"
    require_equal([post and (post.text, post.kept) for post in posts], [(texts[7], True), (texts[5], False)], clause)
    for post_id in ("7", "#" + 5000 * "9"):
        require(window.get(post_id) is None, "get returns None for an unknown id", post_id[:9])
    explained = window.explain(nearly(texts[7]), 7), window.explain(texts[8], 7)
    clause = "explain gives the verdict that deciding would give"
    require_equal([each.matches for each in explained], [True, False], clause)
    require_error(InputError, lambda: window.explain("text", "no such id"), "explain refuses an unknown id")


def _check_deleting(windows: Windows) -> None:
    window, texts = windows("deleting"), distinct_texts(3)
    window.add_many([{"id": 1, "text": texts[0]}, {"id": "1", "text": texts[0]}, {"id": 2, "text": texts[1]}])
    answer = window.add({"id": 3, "text": nearly(texts[1])})
    gone = [window.delete(one) for one in (1, 1, 2, "2")]
    require_equal(gone, [True, False, True, False], "delete returns whether a post had the id")
    clause = "a deleted post is not found"
    require_equal([window.get(1), window.get(2)], [None, None], clause)
    found = [each.id for text in texts for each in window.match(text) if each.is_match]
    require(not found, clause, found)
    require_error(InputError, lambda: window.explain(texts[0], 1), clause)
    clause = "a duplicate of a deleted post keeps its decision"
    again = window.add({"id": 3, "text": nearly(texts[1])})
    require(again == replace(answer, repeated=True) and window.get("1") is not None, clause, again)
    decided = window.add_many([nearly(texts[0]), {"id": 2, "text": texts[2]}, texts[1]])
    clause = "posts are decided as if a deleted post had never come, and its id is free"
    require_equal([each.kept and not each.repeated for each in decided], [True] * 3, clause)
    require(window.delete(3) and window.get(3) is None, "a duplicate can be deleted", window.get(3))
    require(not window.add({"id": 3, "text": texts[1]}).kept, "a duplicate can be deleted", texts[1])
    n_kept = window.stats().n_kept_in_window
    require(window.delete(decided[0].id), "a post without an id of its own can be deleted", decided[0])
    require_equal(window.stats().n_kept_in_window, n_kept - 1, "a deleted kept post is no longer counted")
    require_equal(window.stats().n_deleted, 4, "stats count deleted posts")


def _check_listing(windows: Windows) -> None:
    window, texts = windows("listing"), distinct_texts(300)
    window.add_many([{"id": place, "text": text} for place, text in enumerate(texts)])
    window.add_many([{"id": "300", "text": f"{texts[7]}!"}, {"id": "gone", "text": texts[7]}])
    try:
        newest = window.posts(2)
    except UnsupportedError:
        return
    window.delete("gone")
    clause = "posts lists posts newest first, without deleted ones, and returns where to continue"
    require_equal([post.id for post in newest.posts], ["gone", "300"], clause)
    first = window.posts(2)
    then = window.posts(1000, after=first.after)
    listed = [post.id for post in (*first.posts, *then.posts)]
    require_equal((listed, then.after), (["300", *reversed(range(300))], None), clause)
    clause = "posts filters by text, and by the post that is repeated"
    with_text, repeats = window.posts(text=texts[7][2:].upper()), (window.posts(of=7), window.posts(of="7"))
    found = [with_text, *repeats, window.posts(1, text="")]
    require_equal([[post.id for post in one.posts] for one in found], [["300", 7], ["300"], [], ["300"]], clause)
    require_error(InputError, lambda: window.posts(0), "posts refuses a limit below 1")


def _check_any_text(windows: Windows) -> None:
    window = windows("any text")
    posts = [Post(text, id=f"{place} {text[:20]}") for place, text in enumerate(NASTY_TEXTS)]
    for decisions in (window.add_many(posts), window.add_many(posts)):
        require_equal([each.id for each in decisions], [post.id for post in posts], "a text may hold any character")
    stored = [window.get(post.id) for post in posts if post.id is not None]
    clause = "get returns a text as it was sent"
    require_equal([each and each.text for each in stored], [post.text for post in posts], clause)
    clause = "every text is an exact repeat of itself"
    again = window.add_many([post.text for post in posts])
    require(all(each.evidence and each.evidence.reason == "exact" for each in again), clause, again)


def _check_expiry(windows: Windows) -> None:
    now, texts = [0.0], distinct_texts(30)
    window = windows("expiry", max_step=STEP, clock=lambda: now[0])
    window.add({"id": "old", "text": texts[0]})
    now[0] = HORIZON - 1
    repeat = window.add({"id": "repeat", "text": texts[0]})
    require(not repeat.kept, "a kept post matches within the horizon", texts[0])
    now[0] = HORIZON + 1
    window.add(texts[1])
    later = window.add({"id": "repeat", "text": texts[1]})
    require_equal(later, replace(repeat, repeated=True), "an id is known within the horizon")
    clause = "a kept post does not match after the horizon"
    require(not any(each.is_match for each in window.match(texts[0])), clause, window.match(texts[0]))
    require(window.add(texts[0]).kept, clause, texts[0])
    now[0] = 0.0
    again, post = window.add({"id": "again", "text": texts[1]}), window.get("again")
    keeps_time = post and post.time == HORIZON + 1
    require(not again.kept and keeps_time, "the time of a window does not go back with its clock", post)
    for place in range(2, 30):
        now[0] = HORIZON + 100 * place
        window.add(texts[place])
    clause = "posts and ids are forgotten some time after the horizon"
    require(window.get("old") is None, clause, window.get("old"))
    require(not window.add({"id": "old", "text": "something new"}).repeated, clause, "old")
    counted = window.stats().n_kept_in_window
    require(10 <= counted <= 12, "stats count the kept posts that still match", counted)


def _check_event_time(windows: Windows) -> None:
    texts, now = distinct_texts(5), 5 * HORIZON
    options = {"time": "event", "max_step": STEP}
    window = windows("event time", clock=lambda: now, **options)
    require_error(InputError, lambda: window.add(texts[0]), "a post without a time is refused with event time")
    window.add_many([{"text": texts[0], "created_at": 0.0}, {"text": texts[1], "created_at": 3 * HORIZON}])
    clause = "a post that is older than the horizon matches no later one"
    window.add({"text": texts[2], "created_at": HORIZON})
    require(window.add({"text": texts[2], "created_at": 3 * HORIZON}).kept, clause, texts[2])
    require_equal(window.stats().n_late, 1, "late posts are counted")
    window.add({"id": "ahead", "text": texts[3], "created_at": 9 * HORIZON})
    ahead = window.get("ahead")
    require(ahead and ahead.time == now, "a time ahead of the clock counts as the time of the clock", ahead)


def _check_rewinding(windows: Windows) -> None:
    texts, now = distinct_texts(3), [0.0]
    window = windows("rewinding", max_step=STEP, clock=lambda: now[0])
    window.add(texts[0])
    now[0] = STEP
    window.add(texts[1])
    now[0] = 1.0
    ahead = window.stats().seconds_ahead
    require_equal(ahead, STEP - 1, "stats give the time by which a window is ahead of the clock")
    back = [window.rewind(), window.rewind(), window.stats().seconds_ahead]
    require_equal(back, [STEP - 1, 0.0, 0.0], "rewind sets the time back, and returns by how much")
    require(not window.add(texts[1]).kept, "posts that came while the clock was ahead still match", texts[1])
    window.add({"id": "now", "text": texts[2]})
    post = window.get("now")
    require(post and post.time == 1.0, "a window uses the time that it was set back to", post)


def _check_threads(windows: Windows, n_windows: int) -> None:
    texts = distinct_texts(N_AT_ONCE)
    name = f"threads with {n_windows} windows"
    opened = [windows(name) for _ in range(n_windows)]

    def send(number: int) -> list[Decision]:
        form, window = (str, nearly)[number % 2], opened[number % n_windows]
        return [window.add(form(text)) for text in texts[number:] + texts[:number]]

    with ThreadPoolExecutor(N_THREADS) as pool:
        decided = list(chain.from_iterable(pool.map(send, range(N_THREADS))))
    kept = [each.id for each in decided if each.kept]
    require_equal(len(kept), N_AT_ONCE, "of matching posts that are sent at once exactly one is kept")
    clause = "a duplicate names a post that is kept"
    require(all(each.kept or each.duplicate_of in kept for each in decided), clause, decided)
    require_equal(len({each.position for each in decided}), len(decided), "each post has its own position")


def _check_refusals(windows: Windows) -> None:
    window, text = windows("refusals"), distinct_texts(1)[0]
    wrong: Sequence[Any] = (7, {"id": "a"}, {"text": 7}, {"text": text, "id": 1.5}, {"text": text, "id": "i" * 600})
    for post in wrong:
        require_error(InputError, partial(window.add_many, [text, post]), "an invalid post is refused")
    require_equal(window.stats().n_posts, 0, "a refused batch decides nothing")
    require(window.add(text).kept, "a refused batch decides nothing", text)
    window.close()


def _check_closing(windows: Windows) -> None:
    with windows("closing") as window:
        window.add({"id": 1, "text": "text"})
    window.close()
    require_error(WindowError, lambda: window.add("text"), "a closed window refuses posts")
    queries: list[Callable[[], object]] = [window.posts, window.stats, window.rewind, partial(window.match, "text")]
    queries += [partial(window.get, 1), partial(window.delete, 1), partial(window.explain, "text", 1)]
    for query in queries:
        require_error(WindowError, query, "a closed window refuses queries")


def check_lasting(windows: Windows) -> None:
    """Check that posts survive reopening and a crash, and that read-only windows see all posts."""
    _check_reopening(windows)
    _check_vanished(windows)
    _check_reading(windows)


def check_second(windows: Windows, *, shared: bool) -> None:
    """Check that, while a window is open, a second one can be opened for writing exactly if ``shared``."""
    if shared:
        _check_sharing(windows)
    else:
        _check_second_writer(windows)


def _check_reopening(windows: Windows) -> None:
    posts, opened = posts_with_repeats(20), partial(windows, "reopening")
    window = opened()
    answers = comparable(window.add_many(posts))
    found, recipe_id = window.match(posts[0]["text"]), window.stats().recipe_id
    window.close()
    window = opened()
    require_equal(window.match(posts[0]["text"]), found, "a reopened window finds the same matches")
    require_equal(window.stats().recipe_id, recipe_id, "a reopened window has the same recipe")
    window.close()
    require_error(WindowError, lambda: opened(config=OTHER_RECIPE), "a store with another recipe is refused")
    window = opened()
    _check_known(window, posts, answers)
    window.close()


def _check_known(window: Window, posts: list[dict[str, Any]], answers: list[object]) -> None:
    """Check that a window contains the posts of an earlier session, and finds repeats of these posts."""
    again = window.add_many(posts)
    clause = "a reopened window answers repeated ids with the first decision"
    require(comparable(again) == answers and all(each.repeated for each in again), clause, again[:5])
    require(not window.add(posts[0]["text"]).kept, "posts still match after a window is reopened", posts[0])


def _add_and_vanish(posts: list[dict[str, Any]], open_window: Opens) -> list[object]:
    window = open_window("vanished", config=CONFIG, horizon=HORIZON)
    answers = comparable(window.add_many([{"id": GONE, "text": GONE}, *posts]))[1:]
    window.delete(GONE)
    return answers


def _check_vanished(windows: Windows) -> None:
    """Check that posts and deletions by another process survive if that process ends without closing the window."""
    posts = posts_with_repeats(20)
    answers = windows.elsewhere(partial(_add_and_vanish, posts))
    window = windows("vanished")
    clause = "acknowledged posts survive a process that did not close the window"
    require(all(window.get(post["id"]) is not None for post in posts), clause, window.stats())
    clause = "deletions survive a process that did not close the window"
    require(window.get(GONE) is None and window.add(GONE).kept, clause, window.get(GONE))
    _check_known(window, posts, answers)
    window.close()


def _check_reading(windows: Windows) -> None:
    texts, opened = distinct_texts(3), partial(windows, "reading")
    window = opened()
    window.add({"id": 0, "text": texts[0]})
    reader = opened(read_only=True)
    window.add_many([{"id": 1, "text": texts[1]}, {"id": 2, "text": nearly(texts[0])}])
    clause = "a read-only window sees posts that another window adds"
    seen, right = ((one.match(nearly(texts[1])), one.get(2), one.explain(texts[0], 0)) for one in (reader, window))
    require_equal(seen, right, clause)
    require_equal(reader.stats().n_kept_in_window, 2, clause)
    window.delete(1)
    clause = "a read-only window sees deletions by another window"
    require(reader.get(1) is None and reader.match(nearly(texts[1])) == window.match(nearly(texts[1])), clause, 1)
    require_error(WindowError, lambda: reader.delete(2), "a read-only window refuses to delete")
    require_error(WindowError, lambda: reader.add(texts[2]), "a read-only window refuses posts")
    reader.close()
    require(window.add(texts[2]).kept, "a read-only window leaves no trace", texts[2])
    window.close()


def _check_second_writer(windows: Windows) -> None:
    opened = partial(windows, "second")
    window = opened()
    require_error(StoreError, opened, "a second writing window is refused")
    require(window.add("text").kept, "a window still works after a second one was refused", window.stats())
    window.close()


def _check_sharing(windows: Windows) -> None:
    posts = posts_with_repeats(20)
    opened = partial(windows, "sharing")
    both = [opened(), opened()]
    decided = [both[place % 2].add(post) for place, post in enumerate(posts)]
    require_equal(comparable(decided), right_answers(posts), "windows that share a store decide like a single one")
    for window in both:
        _check_known(window, posts, comparable(decided))
        clause = "windows that share a store find the posts that any of them kept"
        require_equal(window.match(posts[0]["text"]), both[0].match(posts[0]["text"]), clause)
    for window in both:
        window.close()
