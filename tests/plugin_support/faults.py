"""Contract check of shared windows: what they promise while processes, connections and clocks fail."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.testing.contract import require
from hybriddup.window.protocols import AnyWindow

from .crowds import CROWD_CONFIG, FORMS, HAN, check_answers, make_crowd

N_SENDERS = 8
SEED = 1
LARGE = 0.05
"""The share of batches with up to 400 posts."""
MOST_APART = 5.0
"""Seconds between the clocks of the first sender and of the last."""
MOST_STOPPED = 3
PAUSE = 0.02, 0.1
"""Seconds between two faults, at least and at most."""


def check_shared_window(
    address: Callable[[int], str], port: int, *, lease: float, n_faults: int = 200, n_texts: int = 1500
) -> None:
    """Check that of matching posts one is kept, whatever happens to the eight processes that send them.

    A third of the posts are copies of two texts, and a third are made from templates: far more are in flight than a
    bucket holds. Three of five faults kill a process; others stop one for two leases, or break connections at any byte.
    The clocks of the processes differ by up to five seconds. Posts without an answer are sent again, by whoever comes
    next.

    Parameters
    ----------
    address
        Returns the URL of a new window, in a server that is reached through a port of loopback.
    port
        That of the server.
    lease
        Seconds: that of the window.
    n_faults
        So many, or fewer where all is sent before.
    n_texts
        Four times so many posts are sent: those of `make_crowd`.

    Raises
    ------
    ContractError
        Naming the clause that does not hold.
    """
    with TemporaryDirectory() as folder, closing(Proxy(port)) as between:
        faults = Faults(address(between.port), Path(folder), between, lease, n_texts)
        n_done = faults.cause(n_faults)
        require(
            n_done >= n_faults / 2, "the senders are busy for so long that faults meet them; take more texts", n_done
        )
        with hybriddup.Window.open(address(port), config=CROWD_CONFIG) as window:
            answers = (answer for log in Path(folder).glob("*.log") for answer in answers_in(log))
            check_answers(window, make_crowd(n_texts, SEED), answers)


class Faults:
    """Processes that send posts, and what befalls them."""

    def __init__(self, address: str, folder: Path, between: Proxy, lease: float, n_texts: int) -> None:
        self._address, self._folder, self._between = address, folder, between
        self._lease, self._n_texts, self._random = lease, n_texts, Random(7)
        self._forks = multiprocessing.get_context("forkserver")
        self._forks.set_forkserver_preload([f"{__package__}.warm"])
        self._stopped: list[tuple[float, Any]] = []
        """Processes that are stopped, and when each is to go on."""

    def cause(self, n_faults: int) -> int:
        """Let faults happen until all posts are answered; return how many there were."""
        n_done, senders = 0, [self._start(number) for number in range(N_SENDERS)]
        try:
            while any(one.is_alive() or one.exitcode for one in senders):
                time.sleep(self._random.uniform(*PAUSE))
                self._continue_stopped()
                self._replace_killed(senders)
                held = {one.pid for _, one in self._stopped}
                running = [one for one in senders if one.is_alive() and one.pid not in held]
                if n_done < n_faults and running:
                    self._fault(self._random.choice(running))
                    n_done += 1
        finally:
            for one in senders:
                one.kill()
        return n_done

    def _start(self, number: int) -> Any:
        skew = MOST_APART * number / (N_SENDERS - 1)
        arguments = self._address, self._folder, number, N_SENDERS, self._n_texts, skew
        process = self._forks.Process(target=send_all, args=arguments)
        process.start()
        return process

    def _continue_stopped(self) -> None:
        due = [pair for pair in self._stopped if time.monotonic() > pair[0]]
        for pair in due:
            signalled(pair[1], signal.SIGCONT)
            self._stopped.remove(pair)

    def _replace_killed(self, senders: list[Any]) -> None:
        for number, one in enumerate(senders):
            if not one.is_alive() and one.exitcode:
                senders[number] = self._start(number)

    def _fault(self, sender: Any) -> None:
        kind = self._random.random()
        if kind < 0.6:
            sender.kill()
        elif kind < 0.75 and len(self._stopped) < MOST_STOPPED:
            signalled(sender, signal.SIGSTOP)
            self._stopped.append((time.monotonic() + 2 * self._lease, sender))
        else:
            self._between.cut(self._random)


def signalled(process: Any, number: int) -> None:
    """Send a signal to a process, which may be done by now."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)


class Proxy:
    """Hands bytes on to a server; `cut` breaks some connections, at any byte."""

    def __init__(self, port: int) -> None:
        self.to = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.open: set[socket.socket] = set()
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        """Connect whoever comes."""
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
                with self.lock:
                    self.open |= {client, server}
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self.hand_on, args=(one, other), daemon=True).start()

    def hand_on(self, one: socket.socket, other: socket.socket) -> None:
        """Hand on what comes, until the connection breaks."""
        with suppress(OSError):
            while data := one.recv(4096):
                other.sendall(data)
        self.drop(one, other)

    def drop(self, *sockets: socket.socket) -> None:
        """Close some connections."""
        with self.lock:
            self.open -= set(sockets)
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut(self, random: Random) -> None:
        """Break some connections."""
        with self.lock:
            some = [one for one in self.open if random.random() < 0.3]
        self.drop(*some)

    def close(self) -> None:
        """Close all connections, and take no more."""
        self.listener.close()
        self.drop(*list(self.open))


def make_posts(n: int, seed: int) -> list[dict[str, str]]:
    """Posts: of each of so many texts one as it is, its exact repeat and two near ones, mixed up."""
    random = Random(seed)
    texts = ["".join(random.choices(HAN, k=30)) for _ in range(n)]
    forms = [text + end for text in texts for end in FORMS]
    random.shuffle(forms)
    return [{"id": f"post {place}", "text": text} for place, text in enumerate(forms)]


def send_all(address: str, folder: Path, number: int, n_senders: int, n_texts: int, skew: float) -> None:
    """Send the posts of one process of the check."""

    def open_window() -> AnyWindow:
        return hybriddup.Window.open(address, config=CROWD_CONFIG, workers=1, clock=lambda: time.time() + skew)

    posts = make_crowd(n_texts, SEED).of_sender(number, n_senders)
    send_posts(open_window, posts, folder / f"{number}.log", Random(time.time_ns() ^ os.getpid()))


def send_posts(
    open_window: Callable[[], AnyWindow],
    posts: Iterable[dict[str, str]],
    log: Path,
    random: Random,
    large: float = LARGE,
) -> None:
    """Send posts that are not in a log yet, in any order, and note each answer there when it came.

    Batches have up to 16 posts, and a share of ``large`` up to 400. Some ids are sent again together with new ones.
    """
    done = {answer[0] for answer in answers_in(log)}
    sent, left = [[post for post in posts if (post["id"] in done) is is_sent] for is_sent in (True, False)]
    random.shuffle(left)
    window = None
    while left:
        size = random.randint(1, 400 if random.random() < large else 16)
        again = random.sample(sent, min(len(sent), size // 4))
        try:
            window = window or open_window()
            answers = window.add_many(left[:size] + again)
        except StoreError:
            time.sleep(0.02)
            continue
        lines = "".join(json.dumps([one.id, one.kept, one.duplicate_of]) + "\n" for one in answers)
        with log.open("ab", buffering=0) as stream:  # one write: a process is killed before or after it
            stream.write(lines.encode())
        sent += left[:size]
        left = left[size:]


def answers_in(log: Path) -> list[list[Any]]:
    """Return the answers that a log has."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
