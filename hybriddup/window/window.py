"""The public class of windows, which decides posts in order, deletes posts, and can set its time back."""

from __future__ import annotations

import time as system_time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Condition
from types import ModuleType
from typing import Any

from hybriddup.config.load import DEFAULT_CONFIG, Config, open_session
from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.run.progress import log_compiling
from hybriddup.steps.parallel import available_workers, check_workers, undisturbed
from hybriddup.window.arguments import checked_post_id
from hybriddup.window.event_time import Length, TimeOf, parse_timing
from hybriddup.window.readable import ReadableWindow
from hybriddup.window.records import Decision, Post, PostId
from hybriddup.window.sent_posts import as_posts
from hybriddup.window.states import OpenState, WindowOptions
from hybriddup.window.urls import secrets_hidden, url_of

DEFAULT_HORIZON = "2d"
LARGEST_COMMIT = 4096
"""Maximum number of posts of several callers that are decided and written together."""


class Window(ReadableWindow):
    """Decides posts one by one, comparing each with the posts kept within the horizon. Thread-safe.

    A post is a duplicate if it matches an earlier post *that was kept* and is still within the horizon. Of posts that
    match each other, however they are sent, exactly one is kept. Acknowledged posts are on disk.

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
        self._options = options  # before opening, which may need it
        super().__init__(open_state)
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
        counts: bool = False,
        authors: str | None = None,
        workers: int | None = None,
        plugins: Iterable[str | ModuleType] = (),
        clock: Callable[[], float] = system_time.time,
    ) -> Window:
        """Open a window over the store in a directory, which is created if missing, or at a URL.

        Parameters
        ----------
        path
            Directory of the store; None = in memory. Or a URL such as ``file:///path``; plugins open other schemes.
        config
            As for `hybriddup.dedupe`. A store contains the recipe of its fingerprints; opening it with a configuration
            that makes different fingerprints is an error.
        horizon
            Time for which a kept post matches: seconds, a timedelta, or text such as ``2d``, ``12h``, ``90m``.
        time
            ``arrival``: the time of a post is when it comes. ``event``: its ``created_at``. See
            `hybriddup.window.event_time`.
        max_step
            Longest time by which one post advances the time of the window, so that a single wrong time, of a post or
            of the clock, does not make the window forget its posts; None = an hour, but at most half the horizon.
        read_only
            Whether to only read the store while another process adds posts. Each query sees all posts that were
            added before it. Nothing is written.
        counts
            Whether to count copies: then `get` and `posts` give the number of copies of a kept post, and its earliest
            and latest time. A window in a directory goes on counting whenever it is opened later. The first opening
            with ``counts`` counts the copies that are already there.
        authors
            Name or path of the field with the author of a post, such as ``user.id``. Copies are then counted as with
            ``counts``, and `get` and `posts` also give the authors of a kept post and its copies. None = authors are
            not stored.
        workers
            Number of threads; None = one per core. Never changes a decision.
        plugins
            Modules to load as plugins in addition to the installed ones, by name or as objects.
        clock
            Function that returns the current time, in seconds since 1970.

        Raises
        ------
        ConfigError
            The configuration, the URL, a length of time or the number of workers is not valid.
        PluginError
            No plugin opens URLs of this scheme.
        StoreError
            The store cannot be opened: another process writes to it, or it is damaged.
        WindowError
            The configuration makes fingerprints that differ from those of the store.
        """
        check_workers(workers)
        timing = parse_timing(time, horizon, max_step, clock)
        settings, manager = open_session(config, plugins)
        if settings.of_runs_only:
            raise ConfigError(
                f"a window cannot keep {', '.join(settings.of_runs_only)}, which are for runs over files or lists; a "
                "window keeps the first of several posts within its horizon. Leave these keys out."
            )
        n_workers = workers or available_workers()
        counts = counts or authors is not None
        options = WindowOptions(settings, manager.registry, timing, n_workers, read_only, authors, counts)
        scheme, url = url_of(path)
        log_compiling()
        with secrets_hidden(url):
            opened: Window = manager.registry.create_by_name("window", scheme).open_window(url, options)
        return opened

    def add(self, post: str | Mapping[str, Any] | Post) -> Decision:
        """Decide one post; parameters and errors as in `add_many`."""
        return self.add_many([post])[0]

    def add_many(self, posts: Sequence[str | Mapping[str, Any] | Post]) -> list[Decision]:
        """Decide posts in order, and return the decisions after they are on disk.

        An id that was decided before gets the same answer again, whatever the text. With ``window: {on_same_id:
        replace}`` in the configuration, a post with another text replaces the earlier post instead. Posts that several
        threads send at the same time are decided and written together, each sender's in order.

        Parameters
        ----------
        posts
            Each is a text, or a mapping with ``text`` (None counts as an empty text, as in a run) and perhaps ``id``
            (text or a whole number of 64 bits) and ``created_at``, a time as `hybriddup.data.times.parse_time` reads
            it: seconds or milliseconds since 1970, ISO 8601, or a date as the APIs of Weibo and Twitter write it. With
            ``authors``, the field of that name has the author: text or a whole number of 64 bits.

        Raises
        ------
        InputError
            An item is not a valid post; then none of these posts is decided.
        StoreError
            The posts could not be written, or the store was removed or replaced; none of them counts as sent.
        WindowError
            The window is closed, read-only, or was opened by another process; or its clock returns no valid time.
        """
        self._check_writes("takes no posts")  # a lock that another thread held when the process was forked stays locked
        is_timed = self._options.timing.time_of == "event"
        checked = as_posts(posts, timed=is_timed, authors=self._options.authors)
        return undisturbed(lambda: self._decide(checked))

    def _decide(self, posts: list[Post]) -> list[Decision]:
        """Decide posts in this thread, or wait until another thread has decided them together with its own posts."""
        answer: Future[list[Decision]] = Future()
        with self._turn:
            self._waiting.append((posts, answer))
            # a lock alone would be unfair: the deciding thread would often get it again first
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

    def _decide_waiting(self) -> None:
        """Decide the waiting posts of as many senders as fit into one commit."""
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
        """Decide the posts of each sender separately, so that an error reaches only the sender that caused it.

        An error from the store goes to all senders, and nothing is decided again: a shared window may already have
        decided the posts, and a post without an id would then be a duplicate of itself.
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

    def delete(self, post_id: PostId) -> bool:
        """Delete the post with this id from the window, kept or not; return whether there was one.

        The deletion is on disk when it returns. Later posts are decided as if the post had never come, and its id is
        free. Earlier answers stay: a duplicate of the deleted post remains a duplicate, and gets the same answer if it
        is sent again. To have the duplicate decided anew, delete it too, and send it again.

        No file of a window over a directory contains the text any more. If another process is reading the store at that
        moment, the text is erased by the first call of this window after the other process has finished reading.

        Raises
        ------
        WindowError
            The window is closed, or read-only.
        StoreError
            The deletion could not be written; the post is still there.
        """
        self._check_writes("deletes nothing")
        gone = checked_post_id(post_id)
        return self._ask(lambda state: state.delete(gone))

    def rewind(self, to: float | None = None) -> float:
        """Set the time of the window back, after a clock that was ahead; return by how many seconds.

        Posts that came while the clock was ahead keep their times, which are now in the future, so they can match for
        longer than a horizon. `WindowStats.seconds_ahead` shows whether setting the time back is needed.

        Parameters
        ----------
        to
            Seconds since 1970; None = the time of the clock. A later time than the window's changes nothing.

        Raises
        ------
        WindowError
            The window is closed.
        InputError
            ``to`` is not a valid time.
        StoreError
            The time could not be written.
        """
        self._check_writes("cannot put the time back")
        return self._ask(lambda state: state.rewind(to))

    def _check_writes(self, refusal: str) -> None:
        """Raise WindowError if the window is read-only, closed, or was opened by another process.

        ``refusal`` completes the message about a read-only window, for example "takes no posts".
        """
        self._open_state()
        if self._options.read_only:
            raise WindowError(
                f"the window was opened with read_only=True and {refusal}. Use the window that writes to this store; "
                "if there is none, open this one without read_only."
            )
