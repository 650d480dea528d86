"""What the kernels are called with in real runs, so that each can be measured by itself on true arguments.

The kernels that a run may call are those that the modules outside of `hybriddup.kernels` name. They are recorded while
runs in several configurations go over a corpus; of each kernel the call with the most data is kept. So a new kernel is
measured without anybody writing anything for it, unless no run reaches it, which a test notices.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any
from unittest.mock import patch

import numpy as np

import hybriddup
from hybriddup import kernels, testing
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run import pipeline
from hybriddup.run.decisions import decide_all
from hybriddup.study.evaluate import LabeledPairs, evaluate
from hybriddup.window.derived import deriving
from hybriddup.window.index import live_indexes
from tests.shared_windows.plain_store import Opener

RUNS: Sequence[Mapping[str, Any]] = (
    {},
    {"tokenizer": {"use": "words"}, "blocks": {"use": "blocks", "n_blocks": 5, "n_key_blocks": 2}, "lengths": 3},
    {"weighter": {"use": "uniform"}, "blocks": {"use": "probing", "n_blocks": 4}, "lengths": 6},
    {"weighter": {"use": "levels"}, "blocks": {"use": "shingles", "max_bucket_size": 2}},
    {"lengths": 40, "verifier": {"use": "lcs", "threshold": 0.8}},
    {"lengths": 40, "verifier": {"use": "cosine", "threshold": 0.8}},
    {"lengths": 40, "verifier": {"use": "post", "threshold": 0.5}},
)
"""What the runs change of the default configuration; ``lengths`` here is the one Hamming limit of all lengths."""
WINDOWS: Sequence[Mapping[str, Any]] = (
    {"blocks": {"use": "shingles", "max_bucket_size": 1}},
    {"blocks": {"use": "probing", "n_blocks": 4, "max_bucket_size": 1}, "lengths": 6},
    {"fingerprint": {"bits": 64}, "blocks": {"use": "blocks"}, "lengths": 3},
    {"blocks": {"use": "scan"}},
)
"""The same for live windows: lists of crowded keys, looked up by a text's own keys and by others; tables; a scan."""
BATCHES = 4
"""Each run decides in so many batches, so that texts meet those that earlier ones kept."""
LONG_TEXT = " ".join(map(str, range(3000)))
EDIT = {"use": "edit", "threshold": 0.8}


@dataclass(frozen=True)
class Call:
    """One call of a kernel."""

    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def n_bytes(self) -> int:
        """Size of all arrays among the arguments."""
        return size_of(self.arguments)

    def fresh_arguments(self) -> tuple[Any, ...]:
        """Return a copy of the arguments, for kernels that change them in place."""
        return copy.deepcopy(self.arguments)


def watch(calls: dict[str, Call], lock: Lock, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does what the kernel does, in any thread, and notes the call with the most data."""

    def watched(*arguments: Any) -> Any:
        with lock:
            if name not in calls or size_of(arguments) > calls[name].n_bytes:
                calls[name] = Call(kernel, copy.deepcopy(arguments))
        return kernel(*arguments)

    return watched


def size_of(value: Any) -> int:
    """Return the bytes of an array, or of all arrays in a tuple."""
    if isinstance(value, tuple):
        return sum(map(size_of, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


def kernel_modules() -> dict[str, Any]:
    """Return every module of kernels by its name within their package."""
    prefix = f"{kernels.__name__}."
    names = [module.name for module in pkgutil.walk_packages(kernels.__path__, prefix) if not module.ispkg]
    return {name.removeprefix(prefix): importlib.import_module(name) for name in names}


def public_kernels() -> dict[str, Callable[..., Any]]:
    """Return what modules outside of the kernels call, as ``module.function``."""
    own = {
        f"{name}.{function}": value
        for name, module in kernel_modules().items()
        for function, value in vars(module).items()
        if callable(value) and not isinstance(value, type) and getattr(value, "__module__", "") == module.__name__
    }
    named = {id(value) for module in outside_modules() for value in vars(module).values()}
    return {name: kernel for name, kernel in own.items() if id(kernel) in named}


def outside_modules() -> list[Any]:
    """Return the modules that a run may use and that are not kernels, all of them imported; contract checks are not."""
    for module in pkgutil.walk_packages(hybriddup.__path__, "hybriddup."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    left_out = (f"{kernels.__name__}.", f"{testing.__name__}.")
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("hybriddup.") and not name.startswith(left_out) and name != kernels.__name__
    ]


@contextmanager
def recording() -> Iterator[dict[str, Call]]:
    """Record the kernels that runs inside the ``with`` block call.

    The same runs must have been made before: kernels that are compiled while others are watched do not compile.
    """
    calls: dict[str, Call] = {}
    lock = Lock()
    watched = {id(kernel): watch(calls, lock, name, kernel) for name, kernel in public_kernels().items()}
    with ExitStack() as stack:
        for module in [*outside_modules(), *kernel_modules().values()]:
            for name, value in list(vars(module).items()):
                if id(value) in watched:
                    stack.enter_context(patch.object(module, name, watched[id(value)]))
        yield calls


def record_calls(texts: Sequence[str]) -> dict[str, Call]:
    """Return, for each kernel that runs over the texts reach, its call with the most data."""
    make_runs(texts)
    with recording() as calls:
        make_runs(texts)
    return calls


def make_runs(texts: Sequence[str]) -> None:
    """Deduplicate the texts in every configuration of `RUNS`, and send them through all `WINDOWS`."""
    in_batches = partial(decide_all, texts_per_batch=len(texts) // BATCHES)
    with patch.object(pipeline, "decide_all", in_batches):
        for changes in RUNS:
            hybriddup.dedupe(list(texts), config=configuration(**changes))
    pairs = LabeledPairs(list(texts[:-1]), list(texts[1:]), np.zeros(len(texts) - 1, np.bool_))
    hybriddup.explain(*texts[:2])
    evaluate(pairs, hybriddup.load_settings({}), create_plugin_manager(entry_points=False).registry)
    small_segments = patch.object(live_indexes, "SMALLEST_SEGMENT", 16)
    # arguments with room for a million texts would be copied
    with patch.object(deriving, "FEWEST_TEXTS", len(texts)), small_segments:
        for changes in WINDOWS:
            send_through_window(texts, configuration(**changes))
        with hybriddup.Window.open() as window:  # of posts as long as these, not all pairs are verified
            first, *_ = window.add_many([LONG_TEXT + text for text in texts[:4]])
            assert window._state is not None
            window._state.learn()  # which a window does after thousands of posts
            window.delete(first.id)
    with Opener()("shared") as window:
        window.add_many(texts)


def send_through_window(texts: Sequence[str], config: Mapping[str, Any]) -> None:
    """Add the texts to a window on disk that forgets most of them, and open it again."""
    now = count()
    with TemporaryDirectory() as folder:
        for part in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
            with hybriddup.Window.open(folder, config, horizon=20, clock=lambda: float(next(now))) as window:
                for start in range(0, len(part), 8):
                    window.add_many([{"text": text, "id": f"{start} {text}"} for text in part[start : start + 8]])


def configuration(lengths: int | None = None, verifier: Mapping[str, Any] = EDIT, **changes: Any) -> dict[str, Any]:
    """Return a configuration with one band for all lengths where a Hamming limit is given."""
    if lengths is None:
        return changes
    return {**changes, "lengths": [{"max_hamming_distance": lengths, "verifier": dict(verifier)}]}
