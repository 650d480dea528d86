"""Contract check of shared windows: what they promise while processes, connections and clocks fail."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.testing.contract import require
from hybriddup.testing.window_posts import CONFIG
from hybriddup.window.records import StoredPost

N_SENDERS = 8
MOST_APART = 5.0
"""Seconds between the clocks of the first sender and of the last."""
MOST_STOPPED = 3
PAUSE = 0.02, 0.1
"""Seconds between two faults, at least and at most."""
HAN = [chr(point) for point in range(0x4E00, 0x9FA5)]


def check_shared_window(
    address: Callable[[int], str], port: int, *, lease: float, n_faults: int = 200, n_texts: int = 1500
) -> None:
    """Check that of matching posts one is kept, whatever happens to the eight processes that send them.

    Three of five faults kill a process; others stop one for two leases, or break connections at any byte. The clocks of
    the processes differ by up to five seconds. Posts without an answer are sent again, by whoever comes next.

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
        So many texts are sent, each in four forms that match.

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
        check_answers(address(port), Path(folder), n_texts)


class Faults:
    """Processes that send posts, and what befalls them."""

    def __init__(self, address: str, folder: Path, between: Proxy, lease: float, n_texts: int) -> None:
        self._address, self._folder, self._between = address, folder, between
        self._lease, self._n_texts, self._random = lease, n_texts, Random(7)
        self._forks = multiprocessing.get_context("forkserver")
        self._forks.set_forkserver_preload(["hybriddup.testing.warm"])
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


def check_answers(address: str, folder: Path, n_texts: int) -> None:
    """Check that each post is decided, one of each text kept and named by the others, and answers stand."""
    posts = make_posts(n_texts, 1)
    with hybriddup.Window.open(address, config=CONFIG) as window:
        found = {post["id"]: window.get(post["id"]) for post in posts}
    alike: dict[str, list[StoredPost]] = defaultdict(list)
    for post in posts:
        stored = found[post["id"]]
        require(stored is not None, "what was acknowledged is there", post)
        if stored is not None:
            alike[post["text"][:-1]].append(stored)
    for some in alike.values():
        kept = [one for one in some if one.kept]
        require(len(kept) == 1, "of posts that match each other exactly one is kept", some)
        strays = [one for one in some if one.evidence and one.evidence.of != kept[0].id]
        require(not strays, "a duplicate names the post that is kept", some)
    for log in folder.glob("*.log"):
        for line in log.read_text().splitlines():
            check_answer(json.loads(line), found)


def check_answer(answer: list[Any], found: Mapping[str, StoredPost | None]) -> None:
    """Check that an answer that was given is what the window says now: an id, whether it was kept, or of which."""
    stored = found[answer[0]]
    now = [answer[0], stored and stored.kept, stored and stored.evidence and stored.evidence.of]
    require(now == answer, "an answer that was given stands", (answer, now))


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
    forms = [text + end for text in texts for end in ("。", "。", "！", "？")]
    random.shuffle(forms)
    return [{"id": f"post {place}", "text": text} for place, text in enumerate(forms)]


def send_all(address: str, folder: Path, number: int, n_senders: int, n_texts: int, skew: float) -> None:
    """Send this process's posts that are not in its log yet, and note each answer there when it came."""
    log = folder / f"{number}.log"
    done = {json.loads(line)[0] for line in log.read_text().splitlines()} if log.exists() else set()
    posts = [post for post in make_posts(n_texts, 1)[number::n_senders] if post["id"] not in done]
    random = Random(time.time_ns() ^ os.getpid())
    random.shuffle(posts)
    window = None
    while posts:
        batch = posts[: random.randint(1, 16)]
        try:
            window = window or hybriddup.Window.open(
                address, config=CONFIG, workers=1, clock=lambda: time.time() + skew
            )
            answers = window.add_many(batch)
        except StoreError:
            time.sleep(0.02)
            continue
        lines = [json.dumps([one.id, one.kept, one.evidence and one.evidence.of]) + "\n" for one in answers]
        with log.open("a") as stream:
            stream.write("".join(lines))
        posts = posts[len(batch) :]
