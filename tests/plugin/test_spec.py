"""The hooks: each is typed and documented, called when its docstring says, and has a test here."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import typer

from hybriddup.plugin import spec
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run.result import Result
from hybriddup.run.summary import Summary
from tests.builders import plugin_of

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
