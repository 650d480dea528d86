"""The workflows name versions, files and tests that exist."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def jobs_of(path: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    return jobs


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs_of(path).values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_major_version(path: Path) -> None:
    used = [step["uses"] for step in steps_of(path) if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", action)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_name_files_that_exist(path: Path) -> None:
    commands = " ".join(step.get("run", "") for step in steps_of(path))
    named = re.findall(r"(?<![\w/.])(?:tests/[\w/.]*\w|\.ci/\w+)", commands)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_python_of_the_classifiers_is_tested() -> None:
    classified = {name.split()[-1] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)}
    assert set(jobs_of(ROOT / ".github/workflows/tests.yml")["quick"]["strategy"]["matrix"]["python"]) == classified


def test_badge_of_the_readme_is_that_of_the_tests() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    badge = re.search(r"\[!\[tests\]\(\S+/actions/workflows/(\S+)/badge\.svg\)\]", readme)
    assert badge is not None
    assert (ROOT / ".github" / "workflows" / badge[1]).is_file()
