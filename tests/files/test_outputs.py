"""Outputs: all in place at the end, or every target as it was."""

import os
import resource
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hybriddup.errors import OutputError
from hybriddup.files.outputs import FILES, Outputs


@pytest.fixture(autouse=True)
def _in_a_new_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def write(target: str, content: bytes, *, force: bool = False, option: str = "-o") -> None:
    with Outputs([], force=force) as outputs:
        with outputs.add(target, option).open() as stream:
            stream.write(content)
        outputs.commit()


def test_nothing_has_the_name_of_the_target_before_the_commit() -> None:
    """Until then the bytes are in a hidden file beside it."""
    with Outputs([], force=False) as outputs:
        with outputs.add("kept", "-o").open() as stream:
            stream.write(b"a")
        assert not Path("kept").exists()
        outputs.commit()
    assert (Path("kept").read_bytes(), names()) == (b"a", ["kept"])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_run_that_fails_leaves_the_target_as_it_was(error: type[BaseException]) -> None:
    Path("kept").write_bytes(b"before")

    def fail() -> None:
        with Outputs([], force=True) as outputs, outputs.add("kept", "-o").open() as stream:
            stream.write(b"after")
            raise error

    with pytest.raises(error):
        fail()
    assert (Path("kept").read_bytes(), names()) == (b"before", ["kept"])


def test_an_existing_file_is_replaced_only_with_force() -> None:
    write("kept", b"first")
    with pytest.raises(OutputError, match="kept exists already; replace it with --force, or name another file with -o"):
        write("kept", b"second")
    write("kept", b"third", force=True)
    assert Path("kept").read_bytes() == b"third"


def test_a_file_has_the_permissions_of_the_one_that_it_replaces_or_the_usual_ones() -> None:
    """Not those of a private temporary file; whoever could read it still can."""
    Path("usual").touch()
    write("kept", b"")
    assert Path("kept").stat().st_mode == Path("usual").stat().st_mode
    Path("kept").chmod(0o640)
    write("kept", b"", force=True)
    assert stat.S_IMODE(Path("kept").stat().st_mode) == 0o640


def test_a_link_stays_a_link() -> None:
    Path("real").write_bytes(b"before")
    Path("link").symlink_to("real")
    write("link", b"after", force=True)
    assert Path("link").is_symlink()
    assert Path("real").read_bytes() == b"after"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        *((target, "is also an input") for target in ("posts", "./posts", "link", "hard")),
        *((target, "-o and --removed both write to") for target in ("kept", "./kept", "-")),
        (".", r"--removed \. names a directory"),
        ("absent/kept", "there is no directory"),
    ],
)
def test_an_output_is_neither_an_input_nor_another_output_nor_a_directory(target: str, message: str) -> None:
    Path("posts").write_bytes(b"posts")
    Path("link").symlink_to("posts")
    os.link("posts", "hard")
    outputs = Outputs(["posts"], force=True)
    outputs.add("-" if target == "-" else "kept", "-o")
    with pytest.raises(OutputError, match=message):
        outputs.add(target, "--removed")


@pytest.mark.ordinary_user
def test_a_directory_without_permission_is_noticed_at_the_start(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(OutputError, match="no permission to write"):
        Outputs([], force=True).add(str(closed / "kept"), "-o")


def test_devices_are_written_to_and_never_replaced() -> None:
    """Neither do they need force."""
    write(os.devnull, b"a")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.parametrize("n_bytes", [1, 10_000_000])
def test_a_full_device_is_an_error_that_names_it(n_bytes: int) -> None:
    with pytest.raises(OutputError, match="/dev/full could not be written: No space left on device"):
        write("/dev/full", b"x" * n_bytes)


@pytest.fixture
def full_disk() -> Iterator[None]:
    """A limit of 100,000 bytes on the size of files, which plays a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("target", ["kept", "kept.gz", "kept.zst"])
def test_a_disk_that_fills_up_leaves_the_target_as_it_was(target: str) -> None:
    """The message says what is free and what to do."""
    Path(target).write_bytes(b"before")
    with pytest.raises(OutputError) as caught:
        write(target, os.urandom(5_000_000), force=True, option="--removed")
    assert str(caught.value).startswith(f"{target} could not be written: File too large. 100,000 bytes were written, ")
    assert "choose another place with --removed" in str(caught.value)
    assert (Path(target).read_bytes(), names()) == (b"before", [target])


def test_what_a_killed_run_left_is_deleted_by_the_next_with_the_same_output() -> None:
    leftover = Path(".kept.0123abcd.tmp")
    leftover.write_bytes(b"half")
    others = [".other.0123abcd.tmp", ".kept.tmp", ".kept.mine.tmp", "kept.0123abcd.tmp"]
    for other in others:
        Path(other).touch()
    Path(".kept.01234567.tmp").symlink_to(others[0])
    write("kept", b"")
    assert not leftover.exists()
    assert names() == sorted([*others, ".kept.01234567.tmp", "kept"])


def test_what_another_run_is_writing_stays() -> None:
    """From the moment it is opened until it is in place, though no stream is open any more."""
    with Outputs([], force=True) as outputs:
        with outputs.add("kept", "-o").open() as stream:
            stream.write(b"a")
            write("kept", b"b", force=True)
        write("kept", b"c", force=True)
        outputs.commit()
    assert (Path("kept").read_bytes(), names()) == (b"a", ["kept"])


@pytest.mark.parametrize("is_done", [False, True])
def test_an_abandoned_run_leaves_nothing_behind_unless_it_is_done(is_done: bool) -> None:
    outputs = Outputs([], force=False)
    with outputs.add("kept", "-o").open() as stream:
        stream.write(b"a")
    if is_done:
        outputs.commit()
    assert outputs.abandon(2) is is_done
    if not is_done:
        FILES.release()
    assert names() == ["kept"] * is_done


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the open files of the process are looked up in /proc")
@pytest.mark.parametrize("is_done", [False, True])
def test_on_windows_no_file_is_renamed_or_deleted_while_it_is_open(
    monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    done: list[str] = []

    def check(name: str) -> None:
        act = getattr(Path, name)

        def checked(path: Path, *arguments: object, **options: object) -> object:
            assert str(path.absolute()) not in {os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()}
            done.append(name)
            return act(path, *arguments, **options)

        monkeypatch.setattr(Path, name, checked)

    Path(".kept.0123abcd.tmp").touch()
    monkeypatch.setattr(sys, "platform", "win32")
    check("replace")
    check("unlink")
    with Outputs([], force=False) as outputs:
        with outputs.add("kept", "-o").open() as stream:
            stream.write(b"a")
        if is_done:
            outputs.commit()
    monkeypatch.undo()
    assert done == (["unlink", "replace", "unlink"] if is_done else ["unlink", "unlink"])
