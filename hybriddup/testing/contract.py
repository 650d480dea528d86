"""Helpers for the contract checks: create the component under test, and report the clause that it violates."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import cloudpickle

from hybriddup.errors import HybriddupError
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import ROLES, RoleName
from hybriddup.steps.options import to_plain


class ContractError(AssertionError):
    """A component violates the contract of its role; the message begins with the violated clause."""


class Subject:
    """The component under test; checks create as many instances as they need."""

    def __init__(self, role: RoleName, component: Any, options: Mapping[str, Any]) -> None:
        self._role = role
        self._options = dict(options)
        self._registry = Registry()
        self.name = _name_of(component)
        with self.clause("it can be registered"):
            getattr(self._registry, f"add_{role}")("under_test", component)

    def make(self) -> Any:
        """Return a new instance that has the batch methods of its role and checks their results."""
        with self.clause("it can be made with these options"):
            return self._registry.create_by_name(self._role, "under_test", **self._options)

    def fail(self, clause: str, evidence: object) -> NoReturn:
        """Raise ContractError for a violated clause; ``evidence`` shows the violation."""
        raise ContractError(f"{clause}: {ROLES[self._role].label} {self.name} breaks this: {evidence}")

    def require(self, holds: object, clause: str, evidence: object) -> None:
        """Raise ContractError for a clause unless ``holds``; ``evidence`` shows the violation."""
        if not holds:
            self.fail(clause, evidence)

    @contextmanager
    def clause(self, clause: str) -> Iterator[None]:
        """Convert any exception in the ``with`` block to a ContractError for this clause."""
        try:
            yield
        except ContractError:
            raise
        except Exception as error:
            self.fail(clause, f"{type(error).__name__}: {error}")

    def copy(self, component: Any) -> Any:
        """Return a pickled and unpickled copy of the component, like the copy in a worker process."""
        with self.clause("it can be pickled"):
            return pickle.loads(cloudpickle.dumps(component))  # noqa: S301  pickled here

    def elsewhere(self, component: Any, question: Callable[[Any], Any]) -> Any:
        """Call ``question`` with the component in another process with another hash seed, and return the result."""
        with self.clause("it can be pickled"):
            pickled = pickled_question(component, question)
        with self.clause("it works in another process"):
            return call_elsewhere(pickled)

    def check_recipe(self, component: Any) -> None:
        """Check that the component's method ``recipe``, if it has one, returns the same plain data each time."""
        if not callable(getattr(component, "recipe", None)):
            return
        with self.clause("recipe() returns plain data that JSON can hold"):
            first, again = (json.dumps(component.recipe(), sort_keys=True, default=to_plain) for _ in range(2))
            self.require(isinstance(component.recipe(), dict), "recipe() returns a dict", component.recipe())
        self.require(first == again, "recipe() returns the same each time", (first, again))


def require(holds: object, clause: str, evidence: object) -> None:
    """Raise ContractError for a clause unless ``holds``; ``evidence`` shows the violation."""
    if not holds:
        raise ContractError(f"{clause}; this breaks it: {ascii(evidence)[:300]}")


def require_equal(given: object, right: object, clause: str) -> None:
    """Raise ContractError for a clause unless a result is equal to the right one."""
    require(given == right, clause, given)


def require_error(kind: type[HybriddupError], call: Callable[[], object], clause: str) -> None:
    """Raise ContractError for a clause unless calling ``call`` raises an error of the type ``kind``."""
    try:
        given = call()
    except kind:
        return
    except Exception as error:
        raise ContractError(f"{clause}; this breaks it: {type(error).__name__}: {error}") from error
    require(False, clause, given)


def compare(subject: Subject, clause: str, expected: Sequence[Any], given: Sequence[Any], of: Sequence[Any]) -> None:
    """Raise ContractError for a clause unless two lists of results are equal.

    ``of``: the input of each result; the error shows the first input whose two results differ.
    """
    subject.require(len(expected) == len(given), clause, f"{len(given)} answers instead of {len(expected)}")
    for question, right, answer in zip(of, expected, given, strict=True):
        subject.require(right == answer, clause, f"{ascii(question)[:80]} gives {right!r:.200} and {answer!r:.200}")


def pickled_question(component: Any, question: Callable[[Any], Any]) -> bytes:
    """Pickle a component and a function to call with this component, for `call_elsewhere`."""
    return pickle.dumps((_homes(component), cloudpickle.dumps((component, question))))


def call_elsewhere(pickled: bytes) -> Any:
    """Return the result of a `pickled_question`, called in another process; raise RuntimeError if the call fails.

    The process ends without closing anything or running exit handlers, as if it crashed.
    """
    command = [sys.executable, "-c", _ANSWER]
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    answer = subprocess.run(command, input=pickled, env=environment, capture_output=True, check=False)  # noqa: S603
    if answer.returncode:
        raise RuntimeError(answer.stderr.decode(errors="replace")[-1000:])
    return pickle.loads(answer.stdout)  # noqa: S301  pickled by our own process


_ANSWER = """
import importlib, importlib.util, os, pickle, sys

homes, pickled = pickle.loads(sys.stdin.buffer.read())
for name, file in homes:
    try:
        importlib.import_module(name)
    except ImportError:
        spec = importlib.util.spec_from_file_location(name, file)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
component, question = pickle.loads(pickled)
sys.stdout.buffer.write(pickle.dumps(question(component)))
sys.stdout.buffer.flush()
os._exit(0)
"""


def _homes(component: Any) -> list[tuple[str, str]]:
    """Return (module name, path) of the modules that define the component under test and its class.

    Another process loads the modules from these paths, because test modules often cannot be imported by name.
    """
    inner = getattr(component, "component", None) or getattr(component, "function", None) or component
    names = {getattr(part, "__module__", None) for part in (inner, type(inner))}
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name in filter(None, names)}
    return [(name, file) for name, file in sorted(files.items()) if file]


def _name_of(component: Any) -> str:
    return component if isinstance(component, str) else getattr(component, "__qualname__", repr(component))
