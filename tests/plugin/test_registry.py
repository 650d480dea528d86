"""The registry: what a component may be, names, and making components with their options."""

import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import Field

import hybriddup
from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.errors import ConfigError, PluginError
from hybriddup.plugin.registered import Owner
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import ROLES

OWNER = Owner("noise", "hybriddup-noise", "2.0")


def shout(text: str) -> list[str]:
    return text.upper().split()


class Echo:
    """A per-text component with options."""

    class Options(hybriddup.Options):
        times: int = Field(2, ge=1, le=9, description="How often each word is said.")

    def __init__(self, options: Options) -> None:
        self.options = options

    def __call__(self, text: str) -> list[str]:
        return text.split() * self.options.times


class BatchEcho:
    """A batch component without options."""

    holds_interpreter = False

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([text.split() for text in texts])


NAMES = "batch, echo, instance, shout"


@pytest.fixture
def registry() -> Registry:
    """A registry with one tokenizer of each kind, brought by a packaged plugin."""
    registry = Registry()
    with registry.owned_by(OWNER):
        registry.add_tokenizer("shout", shout)
        registry.add_tokenizer("echo", Echo)
        registry.add_tokenizer("batch", BatchEcho)
        registry.add_tokenizer("instance", BatchEcho())
    return registry


@pytest.mark.parametrize(
    ("name", "options", "tokens"),
    [
        ("shout", {}, ["GOOD", "DAY"]),
        ("echo", {}, ["good", "day"] * 2),
        ("echo", {"times": 1}, ["good", "day"]),
        ("batch", {}, ["good", "day"]),
        ("instance", {}, ["good", "day"]),
    ],
)
def test_component_of_any_kind_becomes_a_batch_component(
    registry: Registry, name: str, options: dict[str, Any], tokens: list[str]
) -> None:
    tokenizer = registry.create_by_name("tokenizer", name, **options)
    assert tokenizer.tokenize_batch(["good day"]).strings(0) == tokens


def test_component_by_import_path_is_imported_when_it_is_used() -> None:
    registry = Registry()
    with registry.owned_by(OWNER):
        registry.add_tokenizer("later", "no_such_module:Tokenizer")
    message = (
        "tokenizer 'later' (plugin 'noise' of hybriddup-noise 2.0) cannot be imported from 'no_such_module:Tokenizer': "
        "ModuleNotFoundError: No module named 'no_such_module'"
    )
    with pytest.raises(PluginError, match=re.escape(message)):
        registry.create_by_name("tokenizer", "later")


@pytest.mark.parametrize(
    ("role", "name", "message"),
    [
        ("tokenizer", "shoutt", f"is not known. Did you mean 'shout'? (available: {NAMES})"),
        (
            "block_index",
            "redis",
            "is not known. A plugin can bring it: name its module with --plugin or under plugins:. (available: none)",
        ),
        ("tokenizer", "rjieba", f"is not installed; run: pip install hybriddup-rjieba (available: {NAMES})."),
    ],
)
def test_unknown_name_says_what_there_is_and_how_to_get_more(
    registry: Registry, role: Any, name: str, message: str
) -> None:
    """The nearest name, the distribution that is known to bring it, or how a plugin would."""
    with pytest.raises(PluginError) as caught:
        registry.create_by_name(role, name)
    assert str(caught.value) == f"{role.replace('_', ' ')} {name!r} {message}"


def test_same_name_in_two_roles_is_no_clash(registry: Registry) -> None:
    registry.add_normalizer("shout", str.upper)
    assert registry.create_by_name("normalizer", "shout").normalize_batch(["a"]) == ["A"]


def test_replacing_on_purpose_takes_the_name_over(registry: Registry) -> None:
    with registry.owned_by(Owner("more")):
        registry.add_tokenizer("shout", str.split, replace=True)
    assert registry.create_by_name("tokenizer", "shout").tokenize_batch(["a b"]).strings(0) == ["a", "b"]
    assert registry.find("tokenizer", "shout").owner.plugin == "more"


def with_methods(*names: str) -> Any:
    """A class with methods of these names."""
    return type("Some", (), dict.fromkeys(names, print))


NO_NAME = "a name is a letter, then letters, digits, '_' or '-'"
NO_PATH = "an import path looks like 'package.module:Name'"
OF_WEIGHTS = "a function (tokens: list[str]) -> list[float], or a class with fit() and weigh_batch(); got 7."
PER_RUN = ("weighter", "verifier", "block_index")


@pytest.mark.parametrize(
    ("role", "name", "component", "message"),
    [
        *(("tokenizer", name, shout, NO_NAME) for name in ("", "two words", "7up", "ü", "a.b")),
        *(("tokenizer", "x", path, NO_PATH) for path in ("module", "module:", "module.Name", "a b:c", ":Name")),
        ("tokenizer", "x", 7, "a function (text: str) -> list[str], or a class or instance with tokenize_batch(); got"),
        ("normalizer", "x", None, "a function (text: str) -> str, or a class or instance with normalize_batch(); got"),
        ("weighter", "x", 7, OF_WEIGHTS),
        ("hasher", "x", (), "a function (token: str, bits: int) -> int, or a class or instance with hash_batch(); got"),
        ("verifier", "x", 7, "a function (a: str, b: str) -> float, or a class with prepare() and score_pairs() and "),
        ("block_index", "x", 7, "a function (text: str) -> list[int], or a class with keys() and probes() and prepare"),
        ("block_index", "x", with_methods("prepare", "keys"), "has no probes, describe, learn, learned, use_learned."),
        ("reader", "x", 7, "a class or instance with read(); got 7."),
        ("writer", "x", 7, "a class or instance with check() and write(); got 7."),
        *((role, "x", with_methods(*ROLES[role].methods)(), "register the class, not an instance") for role in PER_RUN),
    ],
)
def test_component_that_cannot_be_used_is_refused_when_it_is_registered(
    role: str, name: str, component: object, message: str
) -> None:
    """Names are plain, so that YAML needs no quotes; what fills no role is told what it lacks."""
    with pytest.raises(PluginError) as caught:
        getattr(Registry(), f"add_{role}")(name, component)
    assert message in str(caught.value)


def test_each_wrong_option_is_reported_with_its_owner(registry: Registry) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.create_by_name("tokenizer", "echo", times=10, loud=True)
    owner = "The options are those of tokenizer 'echo' (plugin 'noise' of hybriddup-noise 2.0)."
    assert str(caught.value).split("\n") == [
        f"times must be an int in [1, 9]; got 10. {owner}",
        f"loud is not a key here (allowed: times). {owner}",
    ]


@pytest.mark.parametrize("name", ["shout", "batch", "instance"])
def test_option_of_a_component_without_options_is_an_error(registry: Registry, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^times is not a key: tokenizer '{name}' \(plugin 'noise' .*takes no opt"):
        registry.create_by_name("tokenizer", name, times=1)


def options_with(name: str) -> type:
    """A model of options with one field."""
    return type("Options", (hybriddup.Options,), {"__annotations__": {name: int}, name: 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *((options_with(name), f"cannot have a field named {name}") for name in ("use", "options", "threshold", "all")),
        (options_with("any"), "cannot have a field named any"),
        (dict, r"must be a subclass of hybriddup\.Options"),
    ],
)
def test_options_that_cannot_be_are_refused(options: type, message: str) -> None:
    """An option cannot be told from the keys next to it, so such names are the plugin's error."""
    registry = Registry()
    registry.add_tokenizer("greedy", type("Greedy", (Echo,), {"Options": options}))
    with pytest.raises(PluginError, match=f"its Options {message}"):
        registry.create_by_name("tokenizer", "greedy")


def test_constructor_that_fails_is_blamed_on_the_component() -> None:
    class Moody(BatchEcho):
        def __init__(self) -> None:
            raise OSError("no mood")

    registry = Registry()
    registry.add_tokenizer("moody", Moody)
    with pytest.raises(PluginError, match="cannot be constructed: OSError: no mood") as caught:
        registry.create_by_name("tokenizer", "moody")
    assert isinstance(caught.value.__cause__, OSError)


def test_class_is_made_anew_each_time(registry: Registry) -> None:
    """Two runs never share a component with state."""
    first, second = (registry.create_by_name("tokenizer", "batch") for _ in range(2))
    assert first.part is not second.part


def test_check_of_a_component_sees_the_settings() -> None:
    class Picky(BatchEcho):
        @staticmethod
        def check(settings: Any) -> list[str]:
            return [f"tokenizer.use must not be {settings}."]

    registry = Registry()
    registry.add_tokenizer("picky", Picky)
    registry.add_tokenizer("shout", shout)
    assert registry.find("tokenizer", "picky").check_settings("so") == ["tokenizer.use must not be so."]
    assert registry.find("tokenizer", "shout").check_settings("so") == []


@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_typed_method(role: str) -> None:
    method: Callable[..., None] = getattr(Registry, f"add_{role}")
    assert list(method.__annotations__) == ["name", "component", "replace", "return"]


@pytest.mark.parametrize(("name", "holds", "token"), [("shout", True, "A"), ("batch", False, "a")])
def test_component_pickles_with_its_adapter_or_guard(registry: Registry, name: str, holds: bool, token: str) -> None:
    copied = pickle.loads(pickle.dumps(registry.create_by_name("tokenizer", name)))  # noqa: S301
    assert (copied.holds_interpreter, copied.tokenize_batch(["a"]).strings(0)) == (holds, [token])
