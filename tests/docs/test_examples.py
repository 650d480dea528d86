"""The files in `tests/docs/examples` run. `test_integrations.py` has the tests of those for Scrapy and Kafka."""

import ast
import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED
from tests.docs.markdown import README, ROOT, names_of

EXAMPLES = ROOT / "tests" / "docs" / "examples"


def cells_of(path: Path) -> list[str]:
    """The code cells of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def shown_by(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last expression, which a notebook shows."""
    *statements, last = ast.parse(cell).body
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)  # noqa: S102  the notebook's own code
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    exec(compile(ast.Module([last], []), "cell", "exec"), names)  # noqa: S102
    return None


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    shown = [shown_by(cell, names) for cell in cells_of(EXAMPLES / "first_steps.ipynb")]
    assert "<table>" in shown[0]._repr_html_()
    assert shown[2] == ["a", "c", "f"]
    assert "<mark>喊</mark>" in shown[3]._repr_html_()
    assert shown[4][0] == 3 < shown[4][1]
    *_, decisions, first = capsys.readouterr().out.splitlines()
    assert decisions == "[None, 'a', None, 'c', 'c', None]"
    assert first == "2 copies, by ['ann', 'bo', 'cy']"


def test_the_notebook_has_no_outputs() -> None:
    """They would be those of another version."""
    cells = json.loads((EXAMPLES / "first_steps.ipynb").read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def test_a_frame_of_polars_gets_the_numbers_of_copies() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": ["a", "b", "c"], "text": [REPEATED, NEARLY, OTHER]})
    kept = names_of((EXAMPLES / "polars_frame.py").read_text("utf-8"))["without_repeats"](frame)
    assert kept.select("id", "n_copies").rows() == [("a", 1), ("c", 0)]


def test_fastapi_sends_decisions_as_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi")
    monkeypatch.chdir(tmp_path)
    app = names_of((EXAMPLES / "fastapi_app.py").read_text("utf-8"))["app"]
    posts = [{"id": "a", "text": REPEATED, "author": "ann"}, {"id": "b", "text": NEARLY, "author": "bo"}]

    async def talk() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            sent = [await client.post("/posts", json=some) for some in (posts, [{"id": "#1", "text": REPEATED}])]
            return [*sent, *[await client.get(f"/posts/{name}") for name in ("a", "none")]]

    decided, refused, got, missing = asyncio.run(talk())
    (kept, copy), found = decided.json(), got.json()
    assert (kept["decision"], copy["decision"], copy["evidence"]["duplicate_of"]) == ("kept", "duplicate", "a")
    assert (found["n_copies"], found["authors"]) == (1, ["ann", "bo"])
    assert (missing.status_code, refused.status_code) == (404, 422)


def test_every_example_is_listed_and_linked() -> None:
    listed = re.findall(r"\]\((\w+\.\w+)\)", (EXAMPLES / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb"))
    assert "(tests/docs/examples/README.md)" in README.read_text("utf-8")
