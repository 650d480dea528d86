"""The window: posts in, decisions out, in the order in which they are acknowledged."""

from __future__ import annotations

import os
import time as system_time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Condition, RLock
from types import ModuleType, TracebackType
from typing import Any, TypeVar

from hybriddup.config.load import DEFAULT_CONFIG, Config, open_session
from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.steps.parallel import available_workers, check_workers, undisturbed
from hybriddup.study.explanation import Explanation
from hybriddup.window.arguments import checked_after, checked_limit, checked_post_id, checked_text
from hybriddup.window.event_time import Length, TimeOf, parse_timing
from hybriddup.window.looking import count_window, explainer_of, list_posts, similar_posts
from hybriddup.window.protocols import AnyWindow, OpenState, WindowOptions
from hybriddup.window.records import Decision, Match, Post, PostId, PostList, StoredPost, WindowStats, as_posts
from hybriddup.window.urls import secrets_hidden, url_of

T = TypeVar("T")
DEFAULT_HORIZON = "2d"
LARGEST_COMMIT = 4096
"""Posts of several callers that are decided and written together, at most."""


class Window:
    """Decides post by post against the posts kept within the horizon. Safe to use from several threads.

    A post is a duplicate when it matches an earlier post *that was kept* and is still within the horizon; of any posts
    that match each other, however they are sent, exactly one is kept. What was answered is on disk.

    Examples
    --------
    >>> import hybriddup
    >>> with hybriddup.Window.open() as window:
    ...     first = window.add("你妈妈喊你回家吃饭哦，回家罗回家罗")
    ...     second = window.add("你妈妈叫你回家吃饭啦，回家罗回家罗")
    >>> first.decision, second.decision, second.duplicate_of
    ('kept', 'duplicate', '#0')
    """

    def __init__(self, open_state: Callable[[], OpenState], options: WindowOptions) -> None:
        self._state: OpenState | None = undisturbed(open_state)
        self._timed = options.timing.time_of == "event"
        self._horizon = options.timing.horizon
        self._read_only = options.read_only
        self._lock = RLock()
        self._process = os.getpid()
        self._waiting: deque[tuple[list[Post], Future[list[Decision]]]] = deque()
        self._turn = Condition()
        self._is_deciding = False

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        config: Config = DEFAULT_CONFIG,
        *,
        horizon: Length = DEFAULT_HORIZON,
        time: TimeOf = "arrival",
        max_step: Length | None = None,
        read_only: bool = False,
        workers: int | None = None,
        plugins: Iterable[str | ModuleType] = (),
        clock: Callable[[], float] = system_time.time,
    ) -> AnyWindow:
        """Return a window over the store in a directory, which is made where there is none, or at a URL.

        Parameters
        ----------
        path
            Directory of the store; None = in memory. Or a URL, such as ``file:///path``: plugins open other schemes.
            What is returned for these does all that this class does.
        config
            As for `hybriddup.dedupe`. A store keeps the recipe of its fingerprints: opening it with a configuration
            that makes other ones is refused.
        horizon
            How long a kept post goes on matching: seconds, a timedelta, or text such as ``2d``, ``12h``, ``90m``.
        time
            ``arrival``: a post's time is when it comes. ``event``: what it says as ``created_at``. See
            `hybriddup.window.event_time`.
        max_step
            By how much one post moves the time of the window on, at most, so that a clock that was ahead once, or one
            post with a wrong time, does not make it forget; None = an hour, or half of a shorter horizon.
        read_only
            Whether to look only, beside the process that adds posts: before each question, what that has added is
            taken in. Nothing is written.
        workers
            Threads; None = one for each core. Never changes an answer.
        clock
            Seconds since 1970.

        Raises
        ------
        ConfigError
            The configuration, the URL, a length of time or the number of workers cannot be used.
        PluginError
            No plugin opens URLs of this scheme.
        StoreError
            The store cannot be opened: another process writes to it, or it is damaged.
        WindowError
            The fingerprints of the store are others than the configuration makes.
        """
        check_workers(workers)
        timing = parse_timing(time, horizon, max_step, clock)
        settings, manager = open_session(config, plugins)
        if settings.of_runs_only:
            raise ConfigError(
                f"a window cannot keep {', '.join(settings.of_runs_only)}, which are for runs over files or lists; a "
                "window keeps the first of several posts within its horizon. Leave these keys out."
            )
        options = WindowOptions(settings, manager.registry, timing, workers or available_workers(), read_only)
        scheme, url = url_of(path)
        with secrets_hidden(url):
            opened: AnyWindow = manager.registry.create_by_name("window", scheme).open_window(url, options)
        return opened

    def add(self, post: str | Mapping[str, Any] | Post) -> Decision:
        """Return what is decided of one post; parameters and errors are those of `add_many`."""
        return self.add_many([post])[0]

    def add_many(self, posts: Sequence[str | Mapping[str, Any] | Post]) -> list[Decision]:
        """Decide posts in order and return what was decided of each, when it is on disk.

        An id that was decided before gets the answer given then, whatever the text. Posts that several threads send
        meanwhile are decided and written together, each sender's in their order.

        Parameters
        ----------
        posts
            Each is a text, or a mapping with ``text`` (None counts as an empty text, as in a run) and perhaps ``id``
            (text or a whole number of 64 bits) and ``created_at``, a time as `hybriddup.data.times.parse_time` reads
            it: seconds or milliseconds since 1970, ISO 8601, or a date as the APIs of Weibo and Twitter write it.

        Raises
        ------
        InputError
            Something is no post; none of these posts is decided then.
        StoreError
            The posts could not be written, or the store was removed or replaced; none of them counts as sent.
        WindowError
            The window is closed, or was opened by another process; or its clock does not say the time.
        """
        self._check_writes("takes no posts")  # a lock that another thread held when the process was forked stays locked
        checked = as_posts(posts, timed=self._timed)
        return undisturbed(lambda: self._decide(checked))

    def _decide(self, posts: list[Post]) -> list[Decision]:
        """Have posts decided by this thread, or by another one that decides meanwhile."""
        answer: Future[list[Decision]] = Future()
        with self._turn:
            self._waiting.append((posts, answer))
            # not by the lock: whoever decides next would often get it again before those who have their answers
            self._turn.wait_for(lambda: answer.done() or not self._is_deciding)
            if answer.done():
                return answer.result()
            self._is_deciding = True
        try:
            while not answer.done():
                with self._lock:
                    self._decide_waiting()
        finally:
            with self._turn:
                self._is_deciding = False
                self._turn.notify_all()
        return answer.result()

    def _ask(self, question: Callable[[OpenState], T]) -> T:
        """Return the answer to a question about the state; nothing else runs meanwhile."""

        def answer() -> T:
            with self._lock, self._current() as state:
                return question(state)

        self._check_process()
        return undisturbed(answer)

    def _decide_waiting(self) -> None:
        """Decide what waits, as many senders' posts at once as go into one commit."""
        senders = [self._waiting.popleft()]
        n = len(senders[0][0])
        while self._waiting and n + len(self._waiting[0][0]) <= LARGEST_COMMIT:
            senders.append(self._waiting.popleft())
            n += len(senders[-1][0])
        try:
            decisions = iter(self._open_state().decide([post for posts, _ in senders for post in posts]))
        except BaseException as error:
            self._answer_alone(senders, error)
        else:
            for posts, answer in senders:
                answer.set_result([next(decisions) for _ in posts])

    def _answer_alone(self, senders: list[tuple[list[Post], Future[list[Decision]]]], error: BaseException) -> None:
        """Decide the posts of each sender by themselves, so that an error reaches the one whose posts cause it.

        Where the store failed, that is nobody's, and posts of a shared window may have been decided: they are not sent
        again unasked, as one without an id would repeat itself.
        """
        if len(senders) == 1 or isinstance(error, StoreError):
            for _, answer in senders:
                answer.set_exception(error)
            return
        for posts, answer in senders:
            try:
                answer.set_result(self._open_state().decide(posts))
            except BaseException as own_error:
                answer.set_exception(own_error)

    def match(self, text: str, limit: int = 10) -> list[Match]:
        """Return the kept posts most similar to a text, best first, without adding it.

        It looks for posts that the text repeats, or nearly repeats. A post that merely contains the text, or is a part
        of it, is mostly not found: `posts` searches for what stands in texts.

        Parameters
        ----------
        text
            It need not have been sent.
        limit
            So many at most.

        Raises
        ------
        InputError
            The text is none, or the limit is no whole number or below 0.
        WindowError
            The window is closed.
        StoreError
            The store cannot be read, or is damaged.
        """
        wanted, most = checked_text(text), checked_limit(limit, 0)
        return self._ask(lambda state: similar_posts(state, wanted, most))

    def explain(self, text: str, post_id: PostId) -> Explanation:
        """Return every step for a post of the window (``a``) and a text (``b``), and whether the text repeats the post.

        Weights and verifiers are those by which the window decides now; the block keys are those of its own index.

        Parameters
        ----------
        text
            It need not have been sent.
        post_id
            Text, or a whole number: 17 and ``"17"`` are two ids.

        Raises
        ------
        InputError
            The text is none, or no post with this id was decided within the horizon.
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

        One call looks at 10,000 posts at most, whether it has found enough or not, and says where to go on. Posts are
        decided meanwhile.

        Parameters
        ----------
        limit
            So many at most.
        after
            A position, such as the list before ended with: only older posts are listed.
        text
            Only posts with this in their text as it was sent; case does not matter.
        of
            Only duplicates that name this id, also where the post that had it was deleted.

        Raises
        ------
        InputError
            The limit is no whole number or below 1, or another argument has the wrong type.
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

    def delete(self, post_id: PostId) -> bool:
        """Take the post with this id out of the window, kept or not; return whether there was one.

        When it returns, that is on disk. From then on posts are decided as if the post had not come: later ones that
        match it are kept, and its id can be sent again, for a new post. Answers that were given stay: a duplicate of
        the post stays one, and when it is sent again gets the same answer, which names the post. To have it decided
        anew, delete it too, and send it again.

        The text is then in no file of a window over a directory. If another process is reading the store at that
        moment, it goes with the first call after that process has finished.

        Raises
        ------
        WindowError
            The window is closed, or only looks.
        StoreError
            It could not be written; the post is still there.
        """
        self._check_writes("deletes nothing")
        gone = checked_post_id(post_id)
        return self._ask(lambda state: state.delete(gone))

    def stats(self) -> WindowStats:
        """Return counts of the window; errors are those of `get`."""
        return self._ask(count_window)

    def rewind(self, to: float | None = None) -> float:
        """Put the time of the window back, after a clock that was ahead; return by how many seconds.

        Posts that came in the meantime go on matching until those before them are too old. `WindowStats` says as
        ``seconds_ahead`` whether this is needed.

        Parameters
        ----------
        to
            Seconds since 1970; None = what the clock says. A later time than the window's changes nothing.

        Raises
        ------
        WindowError
            The window is closed.
        InputError
            This is no time.
        StoreError
            It could not be written.
        """
        self._check_writes("cannot put the time back")
        return self._ask(lambda state: state.rewind(to))

    def close(self) -> None:
        """Let go of the store; closing twice is fine. In a forked process nothing is done: the store is not its own."""
        if os.getpid() == self._process:
            undisturbed(self._close)

    def _close(self) -> None:
        with self._lock:
            state, self._state = self._state, None
            if state is not None:
                state.close()

    @contextmanager
    def _current(self) -> Iterator[OpenState]:
        """Give the state, up to date for the whole of a question."""
        yield self._open_state()

    def _open_state(self) -> OpenState:
        self._check_process()
        if self._state is None:
            raise WindowError("the window is closed. Open it again with hybriddup.Window.open.")
        return self._state

    def _check_writes(self, refusal: str) -> None:
        """Raise WindowError where the window only looks, is closed, or was opened by another process."""
        self._open_state()
        if self._read_only:
            raise WindowError(
                f"the window was opened with read_only=True and {refusal}. Use the window that writes to this store; "
                "where there is none, open this one without read_only."
            )

    def _check_process(self) -> None:
        """Raise WindowError in a process that was forked from the one that opened the window: both would write."""
        if os.getpid() != self._process:
            raise WindowError(
                f"the window was opened by process {self._process}, and this is process {os.getpid()}, forked from it. "
                "Use the window there, or serve it to others (hybriddup serve), or open a window of its own here."
            )

    def __len__(self) -> int:
        """Return the number of kept posts that later ones are compared with."""
        return self.stats().n_kept_in_window

    def __bool__(self) -> bool:
        """Return True: an empty window is a window."""
        return True

    def __contains__(self, post_id: object) -> bool:
        """Return whether a post with this id, kept or not, was added within the horizon; see `get`."""
        return isinstance(post_id, (str, int)) and self.get(post_id) is not None

    def __repr__(self) -> str:
        if self._state is None or os.getpid() != self._process:
            return "Window: closed"
        return f"Window: {len(self):,} kept posts, horizon {timedelta(seconds=self._horizon)}"

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
