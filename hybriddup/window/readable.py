"""Queries of a window, which change nothing, and access to the state behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import RLock
from typing import Self, TypeVar

from hybriddup.errors import WindowError
from hybriddup.steps.parallel import undisturbed
from hybriddup.study.explanation import Explanation
from hybriddup.window.arguments import checked_after, checked_limit, checked_post_id, checked_text
from hybriddup.window.looking import count_window, explainer_of, list_posts, similar_posts
from hybriddup.window.records import Match, PostId, PostList, StoredPost, WindowStats
from hybriddup.window.states import OpenState

T = TypeVar("T")


class ReadableWindow:
    """The queries of a window. Safe to use from several threads."""

    def __init__(self, open_state: Callable[[], OpenState]) -> None:
        self._state: OpenState | None = undisturbed(open_state)
        self._lock = RLock()
        self._process = os.getpid()

    def match(self, text: str, limit: int = 10) -> list[Match]:
        """Return the kept posts most similar to a text, best first, without adding the text.

        It finds posts that the text repeats or nearly repeats. It mostly does not find a post that merely contains the
        text or is a part of it; `posts` searches for words in texts.

        Parameters
        ----------
        text
            Any text; it need not have been sent.
        limit
            Maximum number of posts.

        Raises
        ------
        InputError
            The text is not a string, or the limit is not a whole number of at least 0.
        WindowError
            The window is closed.
        StoreError
            The store cannot be read, or is damaged.
        """
        wanted, most = checked_text(text), checked_limit(limit, 0)
        return self._ask(lambda state: similar_posts(state, wanted, most))

    def explain(self, text: str, post_id: PostId) -> Explanation:
        """Return the result of every step for a post of the window (``a``) and a text (``b``), and the verdict.

        Weights, verifiers and block keys are those with which the window decides now.

        Parameters
        ----------
        text
            Any text; it need not have been sent.
        post_id
            Text, or a whole number: 17 and ``"17"`` are two ids.

        Raises
        ------
        InputError
            The text is not a string, or no post with this id was decided within the horizon.
        WindowError
            The window is closed.
        StoreError
            The store cannot be read, or is damaged.
        """
        later, earlier_id = checked_text(text), checked_post_id(post_id)
        explainer = self._ask(lambda state: explainer_of(state, later, earlier_id))
        return undisturbed(explainer.explain)

    def get(self, post_id: PostId) -> StoredPost | None:
        """Return the post with this id, kept or not, if it was decided within the horizon; None otherwise.

        If copies are counted, a kept post has ``n_copies``, ``first_seen`` and ``last_seen``, and its ``authors`` if
        they are noted.

        Raises
        ------
        WindowError
            The window is closed.
        StoreError
            The store cannot be read, or is damaged.
        """
        wanted = checked_post_id(post_id)
        return self._ask(lambda state: state.post_with(wanted))

    def posts(
        self, limit: int = 100, *, after: int | None = None, text: str = "", of: PostId | None = None
    ) -> PostList:
        """Return posts, kept or not, newest first.

        One call reads at most 10,000 posts, even if it finds fewer than ``limit``, and returns the position to continue
        from. Other threads can add posts while it runs.

        Parameters
        ----------
        limit
            Maximum number of posts.
        after
            List only posts before this position, such as `PostList.after`.
        text
            List only posts whose text, as it was sent, contains this string, ignoring case.
        of
            List only duplicates of the post with this id, even if that post itself was deleted.

        Raises
        ------
        InputError
            The limit is not a whole number of at least 1, or another argument has the wrong type.
        UnsupportedError
            Several processes share the window.

        Examples
        --------
        >>> import hybriddup
        >>> with hybriddup.Window.open() as window:
        ...     _ = window.add_many(["good morning", "what is for lunch?", "Good night"])
        ...     [post.text for post in window.posts(text="good").posts]
        ['Good night', 'good morning']
        """
        return list_posts(
            lambda before, n: self._ask(lambda state: state.posts_before(before, n)),
            checked_limit(limit, 1),
            checked_after(after),
            checked_text(text),
            None if of is None else checked_post_id(of),
        )

    def stats(self) -> WindowStats:
        """Return counts of the window; errors as in `get`."""
        return self._ask(count_window)

    def close(self) -> None:
        """Release the store. A second call, or a call in a forked process, does nothing."""
        if os.getpid() == self._process:
            undisturbed(self._close)

    def _close(self) -> None:
        with self._lock:
            state, self._state = self._state, None
            if state is not None:
                state.close()

    def _ask(self, question: Callable[[OpenState], T]) -> T:
        """Call ``question`` with the state and return its result; meanwhile, no other call uses the state."""

        def answer() -> T:
            with self._lock, self._current() as state:
                return question(state)

        self._check_process()
        return undisturbed(answer)

    @contextmanager
    def _current(self) -> Iterator[OpenState]:
        """Yield the state, up to date with the store, for the duration of one query."""
        yield self._open_state()

    def _open_state(self) -> OpenState:
        self._check_process()
        if self._state is None:
            raise WindowError("the window is closed. Open it again with hybriddup.Window.open.")
        return self._state

    def _check_process(self) -> None:
        """Raise WindowError in a process that was forked from the one that opened the window: both would write."""
        if os.getpid() != self._process:
            raise WindowError(
                f"the window was opened by process {self._process}, and this is process {os.getpid()}, forked from it. "
                "Use the window there, or serve it to others (hybriddup serve), or open a window of its own here."
            )

    def __len__(self) -> int:
        """Return the number of kept posts that later posts are compared with."""
        return self.stats().n_kept_in_window

    def __bool__(self) -> bool:
        """Return True, even for an empty window."""
        return True

    def __contains__(self, post_id: object) -> bool:
        """Return whether a post with this id, kept or not, was added within the horizon; see `get`."""
        return isinstance(post_id, (str, int)) and self.get(post_id) is not None

    def __repr__(self) -> str:
        state = self._state
        if state is None or os.getpid() != self._process:
            return "Window: closed"
        return f"Window: {len(self):,} kept posts, horizon {timedelta(seconds=state.timing.horizon)}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
