"""Checksums of source: what stands in the recipe for a component that no release stands for."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

_PLAIN = (type(None), type(...), bool, int, float, complex, str, bytes)


def source_recipe(component: Any) -> dict[str, str]:
    """Return what changes in the recipe when a function, an instance or a class is edited.

    The SHA-256 of the file that defines it; where there is none, as in a notebook, that of its compiled code, which
    differs between versions of Python too; nothing where there is neither, as for ``str.split``. Modules that the file
    imports are not looked into: a component that depends on them says so with its own ``recipe()``.

    The keys are no identifiers, so that they take the place of no option.
    """
    defined, arguments = _definition(component)
    codes = sorted(_codes(defined), key=lambda code: code.co_qualname)
    # What a partial was given is no part of the file in which its function stands.
    given = {"arguments-sha256": _digest(_spell(arguments))} if arguments else {}
    if (content := _read_source(defined, codes)) is not None:
        return {"source-sha256": _digest(content), **given}
    spelled = _spell_members(defined) if isinstance(defined, type) else _spell(defined)
    return {"code-sha256": _digest(spelled), **given} if codes else given


def _definition(component: Any) -> tuple[Any, list[Any]]:
    """Return the function or class that a component comes down to, and what partials around it were given."""
    arguments: list[Any] = []
    while isinstance(component, partial):
        arguments += [component.args, sorted(component.keywords.items())]
        component = component.func
    component = inspect.unwrap(component) if callable(component) else component
    component = getattr(component, "__func__", component)  # of a bound method
    return (component if isinstance(component, type) or inspect.isroutine(component) else type(component)), arguments


def _codes(defined: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or of the functions that a class defines itself."""
    for member in vars(defined).values() if isinstance(defined, type) else [defined]:
        code = getattr(_function_of(member), "__code__", None)
        if isinstance(code, CodeType):
            yield code


def _function_of(member: Any) -> Any:
    """Return the function inside a static or class method, a property or a decorator; anything else as it is."""
    member = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    return inspect.unwrap(member) if callable(member) else member


def _read_source(defined: Any, codes: list[CodeType]) -> bytes | None:
    """Return the file that the code was compiled from, else that of the module if it may be the one."""
    names = [code.co_filename for code in codes]
    module = getattr(sys.modules.get(getattr(defined, "__module__", None) or ""), "__file__", None)
    # A script's code bears the name as it was typed, which is no file any more where the directory has changed; code
    # made by exec or typed into a session has a name that is no file's.
    if module and (not names or Path(module).name in {Path(name).name for name in names}):
        names.append(module)
    for name in names:
        try:
            return Path(name).read_bytes()
        except (OSError, ValueError):
            continue
    return None


def _digest(content: bytes | str) -> str:
    return hashlib.sha256(content.encode(errors="surrogatepass") if isinstance(content, str) else content).hexdigest()


def _spell_members(defined: type) -> str:
    """Return what the classes, without `object`, hold as text that is the same in each process."""
    return "\n".join(
        f"{name}={_spell(_function_of(member))}"
        for ancestor in defined.__mro__[:-1]
        for name, member in sorted(vars(ancestor).items())
        if not name.startswith("__") or callable(member)
    )


def _spell(value: Any) -> str:
    """Return a value as text that is the same in each process: of an object of unknown kind only what kind it is."""
    if isinstance(value, CodeType):
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        return f"code({value.co_code.hex()}, {_spell(value.co_consts)}, {_spell(names)})"
    if type(value) in _PLAIN:
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(_spell, value))})"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__name__}({', '.join(sorted(map(_spell, value)))})"
    if isinstance(value, dict):
        return f"dict({', '.join(sorted(f'{_spell(key)}: {_spell(kept)}' for key, kept in value.items()))})"
    if inspect.isfunction(value):
        defaults = (value.__defaults__, value.__kwdefaults__)
        return f"function({_spell(value.__code__)}, {_spell(defaults)}, {_spell(_closed_over(value))})"
    return type(value).__qualname__


def _closed_over(function: Any) -> list[Any]:
    """Return the values that a function closes over; of functions their code only: they may form a circle."""
    contents = []
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
        contents.append(getattr(content, "__code__", content))
    return contents
