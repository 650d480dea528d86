"""`hybriddup config`: what a configuration stands for, and what is wrong with it."""

import json
from pathlib import Path
from urllib.parse import urlparse

import pytest
import yaml

from hybriddup.config import load_settings
from hybriddup.config.read import SCHEMA_FILE, shipped_directory, shipped_names
from tests.cli.support import Run, failed


def test_the_shown_settings_are_a_configuration_again(run: Run, tmp_path: Path) -> None:
    shown = run("config", "show", "twitter").out
    (tmp_path / "mine.yaml").write_text(shown, "utf-8")
    assert yaml.safe_load(run("config", "show", "mine.yaml").out) == yaml.safe_load(shown)


def test_without_a_name_the_default_is_shown(run: Run) -> None:
    assert run("config", "show").out == run("config", "show", "posts").out
    assert "shipped: articles, benchmark" in run("config", "show").out


def test_settings_can_be_shown_as_json(run: Run) -> None:
    assert json.loads(run("config", "show", "articles", "--json").out)["fingerprint"] == {"bits": 64}


def test_check_accepts_what_can_be_used(run: Run) -> None:
    ran = run("config", "check", "weibo", "sms")
    assert (ran.code, ran.out) == (0, "weibo: ok\nsms: ok\n")


def test_check_reports_the_faults_of_every_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("fingerprint: {bits: 100}\nblokcs: {}\n", "utf-8")
    ran = run("config", "check", "bad.yaml", "weibo", "absent.yaml")
    assert (ran.code, ran.out) == (2, "weibo: ok\n")
    for fault in ("bad.yaml:1: fingerprint.bits", "bad.yaml:2: blokcs", "'absent.yaml' is neither"):
        assert fault in ran.err


def test_the_shipped_schema_is_what_the_command_prints(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    monkeypatch.syspath_prepend(tmp_path)  # what is installed is looked for once for each path
    printed = run("config", "schema").out
    write_it_anew = "hybriddup config schema > configs/hybriddup.schema.json"
    assert printed == (shipped_directory() / SCHEMA_FILE).read_text("utf-8"), write_it_anew


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_configuration_can_be_had_to_edit(run: Run, tmp_path: Path, name: str) -> None:
    text = run("config", "init", name).out
    (tmp_path / "mine.yaml").write_text(text, "utf-8")
    assert load_settings(tmp_path / "mine.yaml") == load_settings(name)
    first, second = text.splitlines()[:2]
    assert second.startswith(f"# {name}: ")
    schema = Path(urlparse(first.removeprefix("# yaml-language-server: $schema=")).path)
    validator = pytest.importorskip("jsonschema").Draft202012Validator(json.loads(schema.read_text("utf-8")))
    assert list(validator.iter_errors(yaml.safe_load(text))) == []
    shipped = (shipped_directory() / f"{name}.yaml").read_text("utf-8").splitlines()
    assert shipped == [f"# yaml-language-server: $schema={SCHEMA_FILE}", *text.splitlines()[1:]]


def test_check_warns_of_limits_within_which_unrelated_texts_lie(run: Run, tmp_path: Path) -> None:
    (tmp_path / "narrow.yaml").write_text("fingerprint: {bits: 64}\n", "utf-8")
    ran = run("config", "check", "narrow.yaml")
    assert (ran.code, ran.out) == (0, "narrow.yaml: ok\n")
    assert "warning: narrow.yaml: lengths[1].max_hamming_distance is 40 of 64 bits." in ran.err


PLUGIN = """
import hybriddup

@hybriddup.hookimpl
def hybriddup_register(registry):
    registry.add_normalizer("plain", lambda text: text)
"""


def test_a_configuration_may_name_what_a_plugin_brings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "brings_plain.py").write_text(PLUGIN, "utf-8")
    (tmp_path / "mine.yaml").write_text("normalizer: {use: plain}\n", "utf-8")
    for command in ("check", "show"):
        assert run("config", command, "mine.yaml", "--plugin", "./brings_plain.py").code == 0
        assert "'plain'" in failed(run, "config", command, "mine.yaml")
