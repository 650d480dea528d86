"""Loading plugins: where they are found, what blocks them, what is said when one cannot be used, and the hooks."""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import typer

from hybriddup.errors import PluginError
from hybriddup.plugin import spec
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run.result import Result
from hybriddup.run.summary import Summary
from tests.builders import plugin_of
from tests.plugin.conftest import Install, WriteModule

SHOUT = """
    import hybriddup

    def shout(text: str) -> list[str]:
        return text.upper().split()

    @hybriddup.hookimpl
    def hybriddup_register(registry):
        registry.add_tokenizer("shout", shout)
"""


def load_error(*modules: str | ModuleType, entry_points: bool = False) -> str:
    with pytest.raises(PluginError) as caught:
        create_plugin_manager(entry_points=entry_points, modules=modules)
    return str(caught.value)


def test_module_beside_the_user_is_found(write_module: WriteModule) -> None:
    """The current directory joins the search path for worker processes, at its end, so that it hides nothing."""
    write_module("my_plugin", SHOUT)
    manager = create_plugin_manager(entry_points=False, modules=["my_plugin"])
    tokens = manager.registry.create_by_name("tokenizer", "shout").tokenize_batch(["good day"])
    assert tokens.strings(0) == ["GOOD", "DAY"]
    assert sys.path[-1] == str(Path.cwd())


def test_entry_points_can_be_left_out(install: Install) -> None:
    install("hybriddup-shout", "shouting", SHOUT)
    assert "shout" not in create_plugin_manager(entry_points=False).registry.names("tokenizer")


@pytest.mark.parametrize("listed", ["shouting", " other , shouting "])
def test_disabled_plugin_is_not_loaded(install: Install, monkeypatch: pytest.MonkeyPatch, listed: str) -> None:
    """HYBRIDDUP_DISABLE_PLUGINS blocks plugins by name, even one that cannot be imported."""
    install("hybriddup-shout", "shouting", "raise RuntimeError('broken')")
    monkeypatch.setenv("HYBRIDDUP_DISABLE_PLUGINS", listed)
    assert "shouting" not in [plugin.name for plugin in create_plugin_manager().describe()]


def test_plugin_that_fails_to_import_is_named_with_its_distribution(install: Install) -> None:
    install("hybriddup-shout", "shouting", "import no_such_driver")
    with pytest.raises(PluginError) as caught:
        create_plugin_manager()
    what = "cannot be imported: ModuleNotFoundError: No module named 'no_such_driver'"
    assert str(caught.value) == f"plugin 'shouting' of hybriddup-shout 1.2 {what}"
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


HOOKS = "Did you mean 'hybriddup_register'? (hooks: hybriddup_register, hybriddup_add_commands, hybriddup_run_finished)"
HOOK = "import hybriddup, sys\n@hybriddup.hookimpl\ndef {}:\n    {}\n"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("def (", " cannot be imported: SyntaxError: "),
        ("raise SystemExit(3)", " cannot be imported: SystemExit: 3"),
        (HOOK.format("hybriddup_register(registry)", "sys.exit()"), " failed to register its components: SystemExit: "),
        (
            HOOK.format("hybriddup_registr(registry)", "pass"),
            f" has a hook that does not exist: hybriddup_registr. {HOOKS}",
        ),
        (HOOK.format("hybriddup_register(registry, more)", "pass"), " cannot be used: PluginValidationError: "),
        ("", " has no hook: mark a function hybriddup_register with @hybriddup.hookimpl."),
    ],
    ids=["syntax", "exit", "exit later", "no such hook", "no such argument", "no hook"],
)
def test_module_that_is_no_plugin_is_named_with_what_is_wrong(write_module: WriteModule, code: str, what: str) -> None:
    write_module("my_plugin", code)
    assert load_error("my_plugin").startswith(f"plugin 'my_plugin' of no package{what}")


def test_name_taken_twice_names_both_owners(install: Install, write_module: WriteModule) -> None:
    install("hybriddup-shout", "shouting", SHOUT)
    write_module("my_plugin", SHOUT)
    assert load_error("my_plugin", entry_points=True) == (
        "tokenizer 'shout' is registered twice: by plugin 'shouting' of hybriddup-shout 1.2 and by plugin 'my_plugin' "
        "of no package; rename one, block one with HYBRIDDUP_DISABLE_PLUGINS, or register with replace=True"
    )


def test_two_distributions_with_one_plugin_name_are_an_error(install: Install) -> None:
    install("hybriddup-shout", "shouting", SHOUT)
    install("hybriddup-cry", "crying", SHOUT.replace('"shout"', '"cry"'), "shouting")
    assert load_error(entry_points=True) == (
        "two plugins are named 'shouting': plugin 'shouting' of hybriddup-cry 1.2 and plugin 'shouting' of "
        "hybriddup-shout 1.2; uninstall or block one."
    )


@pytest.mark.parametrize("name", ["no_such_plugin", "no_such_package.plugin", "json.no_such_plugin"])
def test_module_that_is_nowhere_says_where_it_was_looked_for(write_module: WriteModule, name: str) -> None:
    before = list(sys.path)
    assert load_error(name) == f"plugin module {name!r} is not installed and not in {Path.cwd()}."
    assert sys.path == before


@pytest.mark.parametrize(
    "modules",
    [["my_plugin", "my_plugin"], ["../here/my_plugin.py", "./my_plugin.py", "my_plugin"]],
    ids=["name", "path"],
)
def test_module_named_more_than_once_is_loaded_once(
    write_module: WriteModule, tmp_path: Path, modules: list[str]
) -> None:
    write_module("my_plugin", SHOUT)
    manager = create_plugin_manager(entry_points=False, modules=modules)
    assert [plugin.name for plugin in manager.describe()] == ["hybriddup.plugin.builtins", "my_plugin"]
    assert sys.path[-1] == str(tmp_path / "here")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.py", "plugin .*/absent.py is not a file; name a Python file, or a module without '.py'."),
        ("my-plugin.py", "plugin .*/my-plugin.py cannot be imported; name it with letters, digits and '_' only."),
        ("json.py", "plugin module 'json' is .*/json/__init__.py, not .*/here/json.py; rename one of them."),
    ],
)
def test_a_file_that_cannot_be_a_plugin_is_refused(write_module: WriteModule, name: str, message: str) -> None:
    write_module("my-plugin", SHOUT)
    write_module("json", SHOUT)
    assert re.search(f"{message}$", load_error(name))


def test_plugins_are_called_in_the_order_they_were_loaded() -> None:
    called: list[str] = []
    second, first = (plugin_of(hybriddup_run_finished=lambda name=name: called.append(name)) for name in "ba")
    second.__name__ = "second"
    create_plugin_manager(entry_points=False, modules=[second, first]).run_finished(None)  # type: ignore[arg-type]
    assert called == ["b", "a"]


def test_plugin_that_fails_after_the_run_is_named(write_module: WriteModule) -> None:
    write_module("my_plugin", HOOK.format("hybriddup_run_finished(result)", "result.nothing"))
    manager = create_plugin_manager(entry_points=False, modules=["my_plugin"])
    message = "plugin 'my_plugin' of no package failed in hybriddup_run_finished: AttributeError"
    with pytest.raises(PluginError, match=re.escape(message)):
        manager.run_finished(None)  # type: ignore[arg-type]


HOOKS: dict[str, Callable[..., Any]] = {
    name: value for name, value in vars(spec).items() if name.startswith("hybriddup_")
}


def test_hybriddup_register_is_called_once_per_manager_with_its_registry() -> None:
    seen = []
    plugin = plugin_of(hybriddup_register=lambda registry: seen.append(registry))
    managers = [create_plugin_manager(entry_points=False, modules=[plugin]) for _ in range(2)]
    assert seen == [manager.registry for manager in managers]
    assert managers[0].registry is not managers[1].registry


def test_hybriddup_add_commands_gets_the_app() -> None:
    app = typer.Typer()
    plugin = plugin_of(hybriddup_add_commands=lambda app: app.command("stats")(lambda: None))
    create_plugin_manager(entry_points=False, modules=[plugin]).add_commands(app)
    assert [command.name for command in app.registered_commands] == ["stats"]


def test_hybriddup_run_finished_gets_the_result() -> None:
    seen: list[Any] = []
    plugin = plugin_of(hybriddup_run_finished=lambda result: seen.append(result))
    rows = np.zeros((0, 2), np.int64)
    result = Result(kept_rows=rows[:, 0], removed=[], summary=Summary(), n_rows=0, verified_rows=rows)
    create_plugin_manager(entry_points=False, modules=[plugin]).run_finished(result)
    assert seen == [result]


def test_hook_implementation_may_take_fewer_arguments() -> None:
    called = []
    plugin = plugin_of(hybriddup_run_finished=lambda: called.append(True))
    create_plugin_manager(entry_points=False, modules=[plugin]).run_finished(None)  # type: ignore[arg-type]
    assert called == [True]


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_has_a_test(name: str) -> None:
    assert any(test.startswith(f"test_{name}") for test in globals())


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_every_hook_is_typed_and_says_when_it_is_called(hook: Callable[..., Any]) -> None:
    signature = inspect.signature(hook)
    assert signature.return_annotation == "None"
    assert all(parameter.annotation is not parameter.empty for parameter in signature.parameters.values())
    assert "Called once" in (hook.__doc__ or "")
