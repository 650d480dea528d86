"""Computes checksums of source code, which identify the components that are in no installed package."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import sys
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any


def source_recipe(component: Any) -> dict[str, str]:
    """Return named checksums that change when a function, an instance or a class is edited.

    The main one is the SHA-256 of the file or notebook cell that defines the component. Code without a file or cell,
    such as from `exec`, is hashed as bytecode: without closure variables, and with a different result on other versions
    of Python. Modules that the file imports are not hashed; a component that depends on them needs its own
    ``recipe()``.

    The names, such as ``source-sha256``, are not identifiers, so they cannot clash with options.
    """
    arguments = []
    while isinstance(component, partial):
        arguments += [component.args, sorted(component.keywords.items())]
        component = component.func
    component = inspect.unwrap(component) if callable(component) else component
    component = getattr(component, "__func__", component)  # of a bound method
    defined = component if isinstance(component, type) or inspect.isroutine(component) else type(component)
    # the arguments of a partial are not in the file that defines its function
    given = {"arguments-sha256": _digest(_spell(arguments))} if arguments else {}
    members = [inspect.unwrap(one) for one in _members(defined) if inspect.isfunction(one)]
    if source := _source(defined, [one.__code__.co_filename for one in members]):
        return {"source-sha256": _digest(source), **given}
    return {"code-sha256": _digest(_spell(list(_members(defined)))), **given} if members else given


def _members(defined: Any) -> list[Any]:
    """Return the attributes that a class itself defines; for a function, a list with only the function."""
    return list(vars(defined).values()) if isinstance(defined, type) else [defined]


def _source(defined: Any, names: list[str]) -> bytes:
    """Return the contents of the file or notebook cell that defines a function or class; empty if it is not found.

    ``names``: the file names in its compiled code.
    """
    module = getattr(sys.modules.get(getattr(defined, "__module__", None) or ""), "__file__", None)
    # a script is compiled under the path as typed, which is wrong after a change of directory
    if module and (not names or Path(module).name in {Path(name).name for name in names}):
        names = [module, *names]
    for name in names:
        if Path(name).is_file():
            return Path(name).read_bytes()
    return "".join(line for name in names for line in linecache.getlines(name)).encode(errors="surrogatepass")


def _digest(content: bytes | str) -> str:
    return hashlib.sha256(content.encode(errors="surrogatepass") if isinstance(content, str) else content).hexdigest()


def _spell(value: Any) -> str:
    """Convert a value to text that is the same in every process.

    A function becomes its bytecode, plain data its value, and any other object the name of its type.
    """
    if isinstance(value, CodeType):
        return _spell([value.co_code.hex(), value.co_names, value.co_varnames, value.co_consts])
    if inspect.isfunction(value):
        return _spell([value.__code__, value.__defaults__, value.__kwdefaults__])
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_spell, value))}]"
    if isinstance(value, (set, frozenset, dict)):
        return _spell(sorted(map(_spell, value.items() if isinstance(value, dict) else value)))
    return repr(value) if isinstance(value, (type(None), int, float, str, bytes)) else type(value).__qualname__
