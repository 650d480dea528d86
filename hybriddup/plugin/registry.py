"""The registry of components, by role and name, each with the plugin that owns it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from hybriddup.errors import PluginError
from hybriddup.plugin.registered import BUILTINS, Owner, Registered, check_registered, missing_methods
from hybriddup.plugin.roles import KNOWN_PACKAGES, ROLES, RoleName
from hybriddup.steps.options import Fault, Path, suggest

if TYPE_CHECKING:
    from hybriddup.steps.guards import Guard
    from hybriddup.steps.hashers import Hasher
    from hybriddup.steps.normalizers import Normalizer
    from hybriddup.steps.tokenizers import Tokenizer


class Registry:
    """Components by role and name. Plugins add them in ``hybriddup_register``; a run creates instances of them.

    A component is one of

    - a plain function of one text, with the signature in the docstring of its ``add_`` method;
    - an instance with the batch methods of its role;
    - a class with these methods, or with instances that can be called like the plain function. If the class has a
      nested ``Options``, a subclass of `hybriddup.Options`, its constructor gets the options, else no arguments;
    - the import path of one of these, ``"package.module:Name"``, which is imported on first use.

    Some attributes may be missing: ``holds_interpreter`` of a tokenizer then counts as True, ``needs_fit`` of a
    weighter as False, and a block index has the values of `hybriddup.steps.blocks.BlockIndex`. A reader must have
    ``extensions``.
    """

    def __init__(self) -> None:
        self._components: dict[RoleName, dict[str, Registered]] = {role.name: {} for role in ROLES.values()}
        self._owner = Owner("the calling program")

    def add_normalizer(
        self, name: str, component: Normalizer | Callable[[str], str] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a normalizer; a plain function must be ``(text: str) -> str``."""
        self._add("normalizer", name, component, replace=replace)

    def add_tokenizer(
        self, name: str, component: Tokenizer | Callable[[str], list[str]] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a tokenizer; a plain function must be ``(text: str) -> list[str]``."""
        self._add("tokenizer", name, component, replace=replace)

    def add_weighter(
        self, name: str, component: Callable[[list[str]], list[float]] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a weighter; a plain function must be ``(tokens: list[str]) -> list[float]``, one weight per token."""
        self._add("weighter", name, component, replace=replace)

    def add_hasher(
        self, name: str, component: Hasher | Callable[[str, int], int] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a hasher; a plain function must be ``(token: str, bits: int) -> int``, with results below ``2**bits``."""
        self._add("hasher", name, component, replace=replace)

    def add_block_index(
        self, name: str, component: Callable[[str], list[int]] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a block index; a plain function must be ``(text: str) -> list[int]`` and return the keys of a text."""
        self._add("block_index", name, component, replace=replace)

    def add_verifier(
        self, name: str, component: Callable[[str, str], float] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a verifier; a plain function must be ``(a: str, b: str) -> float``.

        It returns a symmetric score from 0.0 to 1.0, where 1.0 means that the texts are the same.
        """
        self._add("verifier", name, component, replace=replace)

    def add_guard(
        self, name: str, component: Guard | Callable[[str, str], str | None] | type[Any] | str, *, replace: bool = False
    ) -> None:
        """Add a guard; a plain function must be ``(a: str, b: str) -> str | None``.

        It returns the reason to reject the pair, or None to accept it, and must be symmetric.
        """
        self._add("guard", name, component, replace=replace)

    def add_reader(self, name: str, component: Any, *, replace: bool = False) -> None:
        """Add a reader: a class or an instance with ``read`` and ``extensions``."""
        self._add("reader", name, component, replace=replace)

    def add_writer(self, name: str, component: Any, *, replace: bool = False) -> None:
        """Add a writer: a class or an instance with ``write``."""
        self._add("writer", name, component, replace=replace)

    def add_window(self, name: str, component: Any, *, replace: bool = False) -> None:
        """Add an opener of windows, a class or an instance with ``open_window``; ``name`` is the scheme of their URLs.

        See `hybriddup.window.protocols.WindowOpener`.
        """
        self._add("window", name, component, replace=replace)

    @contextmanager
    def owned_by(self, owner: Owner) -> Iterator[None]:
        """Record ``owner`` as the owner of all components that are added inside the ``with`` block."""
        before, self._owner = self._owner, owner
        try:
            yield
        finally:
            self._owner = before

    def _add(self, role: RoleName, name: str, component: Any, *, replace: bool) -> None:
        new = Registered(role, name, component, self._owner)
        check_registered(new)
        taken = self._components[role].get(name)
        if taken is not None and not replace:
            raise PluginError(
                f"{ROLES[role].label} {name!r} is registered twice: by {taken.owner} and by {new.owner}; "
                f"rename one, block one with HYBRIDDUP_DISABLE_PLUGINS, or register with replace=True"
            )
        self._components[role][name] = new

    def names(self, role: RoleName) -> list[str]:
        """Return the names of a role's components, in alphabetical order."""
        return sorted(self._components[role])

    def registered(self) -> list[Registered]:
        """Return every component, by role in the order of the pipeline, then by name."""
        return [self._components[role][name] for role in self._components for name in self.names(role)]

    def find(self, role: RoleName, name: str) -> Registered:
        """Return a registered component; raise PluginError if this role has no component with this name."""
        if name not in self._components[role]:
            raise PluginError(self.explain_missing(role, name))
        return self._components[role][name]

    def explain_missing(self, role: RoleName, name: object) -> str:
        """Return the error message for an unknown component, with the available names and how to add it."""
        choices = self.names(role)
        label, available = ROLES[role].label, f"(available: {', '.join(choices) or 'none'})"
        if package := KNOWN_PACKAGES.get((role, str(name))):
            return f"{label} {name!r} is not installed; run: pip install {package} {available}."
        guess = suggest(name, choices)
        plugins = "" if guess else " A plugin can bring it: name its module with --plugin or under plugins:."
        return f"{label} {name!r} is not known.{guess}{plugins} {available}"

    def fill_options(
        self, role: RoleName, name: str, options: Mapping[str, Any], path: Path = ()
    ) -> dict[str, Any] | list[Fault]:
        """Return a component's options as plain data, with defaults filled in, or the faults if there are any.

        ``path`` is the path of the component in the configuration, for the faults.
        """
        filled = self.find(role, name).read_options(options, path)
        if isinstance(filled, BaseModel):
            return filled.model_dump(mode="json")
        return filled or {}

    def create_by_name(self, role: RoleName, name: str, **options: Any) -> Any:
        """Return a new batch component by name, with its options as keywords; plain functions are adapted.

        Raises
        ------
        PluginError
            There is no such component, or it cannot be imported, constructed or adapted.
        ConfigError
            An option is invalid; the message names each invalid option, its value, and the allowed values.
        """
        found = self.find(role, name)
        return make_batch_component(found, found.construct(options))


def make_batch_component(found: Registered, component: Any) -> Any:
    """Adapt or wrap a component, so that it has the batch methods of its role and their results are checked.

    Built-in components are returned unchanged.
    """
    from hybriddup.plugin.adapters import ADAPTERS  # imports numpy, which listing components does not need
    from hybriddup.plugin.checked import Checked, CheckedReader

    role = ROLES[found.role]
    missing = missing_methods(component, role)
    if not missing:
        if absent := [name for name in role.attributes if not hasattr(component, name)]:
            raise PluginError(f"{found.label} made {component!r}, which has no {', '.join(absent)}.")
        if found.owner.plugin == BUILTINS:
            return component
        return (CheckedReader if found.role == "reader" else Checked)(component, found)
    if not (role.per_text and callable(component)):
        raise PluginError(f"{found.label} made {component!r}, which has no {', '.join(missing)}.")
    return ADAPTERS[found.role](component, found)
