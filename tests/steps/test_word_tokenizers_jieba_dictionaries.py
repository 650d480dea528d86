"""The dictionaries of `jieba`: honored in every process, named in the recipe, faults said clearly; silence besides."""

import hashlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from hybriddup.errors import ConfigError
from hybriddup.steps.tokenizers.jieba import Jieba, JiebaOptions

TEXT = "回家罗大侠喊你吃饭"


def words_of(text: str, options: JiebaOptions) -> list[str]:
    return Jieba(options).tokenize_batch([text]).strings(0)


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    """A few words, which load at once; jieba's own take a second."""
    path = tmp_path / "few.txt"
    path.write_text("他 9\n了 9\n回家 9\n大侠 9\n吃饭 9\n来到 9\n网易 9\n大厦 9\n", encoding="utf-8")
    return path


@pytest.fixture
def user_dictionary(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("罗大侠\n喊你吃饭 20000 v\n", encoding="utf-8")
    return path


def test_words_of_the_user_dictionary_are_found(user_dictionary: Path, dictionary: Path) -> None:
    expected = ["回家", "罗大侠", "喊你吃饭"]
    assert words_of(TEXT, JiebaOptions(dictionary=dictionary, hmm=False)) != expected
    assert words_of(TEXT, JiebaOptions(dictionary=dictionary, user_dictionary=user_dictionary)) == expected


def test_another_dictionary_replaces_jiebas_own(tmp_path: Path) -> None:
    path = tmp_path / "dictionary.txt"
    path.write_text("你吃 9 v\n饭 1\n", encoding="utf-8")
    assert words_of("喊你吃饭", JiebaOptions(dictionary=path, hmm=False)) == ["喊", "你吃", "饭"]


def test_the_user_dictionary_is_honored_in_a_spawned_process(user_dictionary: Path, dictionary: Path) -> None:
    tokenizer = Jieba(JiebaOptions(dictionary=dictionary, user_dictionary=user_dictionary))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as workers:
        tokens = workers.submit(tokenizer.tokenize_batch, [TEXT]).result()
    assert tokens.strings(0) == tokenizer.tokenize_batch([TEXT]).strings(0) == ["回家", "罗大侠", "喊你吃饭"]


def test_two_dictionaries_live_side_by_side(user_dictionary: Path, dictionary: Path) -> None:
    with_words = Jieba(JiebaOptions(dictionary=dictionary, user_dictionary=user_dictionary, hmm=False))
    without = Jieba(JiebaOptions(dictionary=dictionary, hmm=False))
    with_words.tokenize_batch([TEXT])
    assert "罗大侠" not in without.tokenize_batch([TEXT]).strings(0)
    assert "罗大侠" in with_words.tokenize_batch([TEXT]).strings(0)


def test_a_frequency_of_zero_splits_for_its_own_tokenizer_only(tmp_path: Path, dictionary: Path) -> None:
    import jieba.finalseg

    path = tmp_path / "words.txt"
    path.write_text("杭研 0\n", encoding="utf-8")
    splitting = Jieba(JiebaOptions(dictionary=dictionary, user_dictionary=path))
    plain = Jieba(JiebaOptions(dictionary=dictionary))
    before = set(jieba.finalseg.Force_Split_Words)
    text = "他来到了网易杭研大厦"
    assert "杭研" not in splitting.tokenize_batch([text]).strings(0)
    assert "杭研" in plain.tokenize_batch([text]).strings(0)
    assert before == jieba.finalseg.Force_Split_Words


def test_the_recipe_holds_the_checksums_in_use(user_dictionary: Path) -> None:
    tokenizer = Jieba(JiebaOptions(user_dictionary=user_dictionary))
    recipe = tokenizer.recipe()
    assert recipe["user_dictionary"] == hashlib.sha256(user_dictionary.read_bytes()).hexdigest()
    assert recipe["jieba"] == "0.42.1" or recipe["jieba"] > "0.42.1"
    assert len(recipe["dictionary"]) == 64
    user_dictionary.write_text("别的\n", encoding="utf-8")
    assert tokenizer.recipe() != recipe
    assert "user_dictionary" not in Jieba(JiebaOptions()).recipe()


@pytest.mark.parametrize("option", ["dictionary", "user_dictionary"])
def test_a_dictionary_that_cannot_be_opened_is_refused_at_once(tmp_path: Path, option: str) -> None:
    path = tmp_path / "missing.txt"
    with pytest.raises(ConfigError, match=rf"tokenizer\.{option}: cannot read .*missing.txt: No such file.* leave the"):
        Jieba(JiebaOptions.model_validate({option: path}))


@pytest.mark.parametrize(
    ("option", "content", "fault"),
    [
        ("dictionary", b"\xff\xfe 3\n", "Line 1"),
        ("dictionary", "好 3\n坏\n".encode(), "Line 2"),
        ("dictionary", "好 many\n".encode(), "Line 1"),
        ("dictionary", b"", "some greater"),
        ("dictionary", "好 -3\n坏 9\n".encode(), "at least 0"),
        ("user_dictionary", "罗大侠\n".encode("gb18030"), "must be utf-8"),
        ("user_dictionary", "罗\n罗大侠\t3\n".encode(), "line 2 has a tab"),
    ],
)
def test_a_dictionary_of_another_form_is_refused(
    tmp_path: Path, dictionary: Path, option: str, content: bytes, fault: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    tokenizer = Jieba(JiebaOptions.model_validate({"dictionary": dictionary, option: path}))
    with pytest.raises(ConfigError, match=rf"tokenizer\.{option}: .*bad.txt .*{fault}.*each line must be a word"):
        tokenizer.tokenize_batch(["好"])


def test_no_cache_is_read_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that jieba would take for its cache changes nothing, and none is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    poisoned = tmp_path / "jieba.cache"
    poisoned.write_bytes(b"poison")
    assert "清华大学" in words_of("我来到北京清华大学", JiebaOptions())
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]
    assert poisoned.read_bytes() == b"poison"


@pytest.mark.parametrize(
    "setuptools", [pytest.param(True, marks=pytest.mark.slow), False], ids=["as installed", "without pkg_resources"]
)
def test_jieba_is_silent_even_where_warnings_are_errors(tmp_path: Path, setuptools: bool) -> None:
    """Nothing on stderr: no log lines, no warnings of its old code, though it is compiled anew."""
    hide = "" if setuptools else "import sys; sys.modules['pkg_resources'] = None\n"
    program = "from hybriddup.steps.tokenizers.jieba import Jieba\n"
    program += "print(*Jieba(Jieba.Options()).tokenize_batch(['我来到北京清华大学']).strings(0))\n"
    command = [sys.executable, "-W", "error", "-X", f"pycache_prefix={tmp_path}", "-c", hide + program]
    said_in_utf8 = {"encoding": "utf-8", "env": os.environ | {"PYTHONIOENCODING": "utf-8"}}
    finished = subprocess.run(command, capture_output=True, timeout=250, check=False, **said_in_utf8)
    assert finished.stderr == ""
    assert finished.stdout == "我 来到 北京 清华大学\n"


def test_jieba_is_not_imported_before_it_is_needed() -> None:
    program = "import sys; from hybriddup.steps.tokenizers.jieba import Jieba\n"
    program += "Jieba(Jieba.Options()).recipe(); print('jieba' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=False)
    assert finished.stdout == "False\n", finished.stderr
