"""What `hybriddup serve` checks before it listens; the rest is tested in `tests/service`."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from hybriddup.cli import serve
from hybriddup.errors import ConfigError


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httptools", None)
    with pytest.raises(ConfigError, match=r"needs httptools, .* pip install 'hybriddup\[serve\]'"):
        serve.check_installed()


@pytest.mark.parametrize(
    ("host", "is_own"),
    [
        *((host, True) for host in ("127.0.0.1", "127.9.9.9", "::1", "LocalHost")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example.org")),  # noqa: S104  not served
    ],
)
def test_only_loopback_is_of_this_machine_alone(host: str, is_own: bool) -> None:
    with nullcontext() if is_own else pytest.raises(ConfigError, match="can be reached from other machines"):
        serve.check_host(host, None)


def test_a_file_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("from-the-file-0123\n", "utf-8")
    monkeypatch.setenv("HYBRIDDUP_TOKEN", "from-the-environment")
    assert serve.find_token(str(file)) == "from-the-file-0123"
    assert serve.find_token(None) == "from-the-environment"
    monkeypatch.setenv("HYBRIDDUP_TOKEN", "")
    with pytest.raises(ConfigError, match="at least 16"):
        serve.find_token(None)
    monkeypatch.delenv("HYBRIDDUP_TOKEN")
    assert serve.find_token(None) is None


def test_only_a_disk_of_this_machine_is_tried(tmp_path: Path) -> None:
    for store in (str(tmp_path), tmp_path.as_uri(), "redis://me:secret@elsewhere/0", "memory:"):
        serve.try_disk(store)
    for store in (str(tmp_path / "none"), (tmp_path / "none").as_uri()):
        with pytest.raises(OSError, match="none"):
            serve.try_disk(store)
    assert list(tmp_path.iterdir()) == []


SETTLE = """
import gc
from hybriddup.cli.windows import settle
print(gc.get_freeze_count())
settle()
print(gc.get_freeze_count())
"""


def test_settling_takes_what_there_is_out_of_sight() -> None:
    """So that answering for days is not held up; in a process of its own, because it cannot be taken back."""
    ran = subprocess.run([sys.executable, "-c", SETTLE], capture_output=True, check=True)
    before, after = map(int, ran.stdout.split())
    assert before == 0
    assert after > 1000
