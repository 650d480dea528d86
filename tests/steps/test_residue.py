"""Residue by patterns of one's own: what they match goes, in linear time, and what is no pattern is an error."""

import pickle
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.errors import ConfigError
from hybriddup.steps.normalizers.microblog import MicroblogNormalizer
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.normalizers.residue import dropper

re2 = pytest.importorskip("re2", reason="google-re2 is not installed")
TAIL = r"来自[\p{Han}a-z0-9 ]{1,12}客户端$"


def normalize(text: str, *patterns: str, **options: Any) -> str:
    """The text after normalizing with these patterns."""
    return MicroblogNormalizer(MicroblogOptions(residue=patterns, **options)).normalize_batch(["其他", text])[1]


def test_what_a_pattern_matches_goes() -> None:
    assert normalize("早上好呀，来自 iPhone 15 客户端", TAIL) == "早上好呀,"
    assert normalize("早上好呀 ＶＩＰ专享 收起全文d", "vip专享") == "早上好呀"
    assert normalize("早上好呀", TAIL) == "早上好呀"


def test_a_pattern_is_written_as_the_text_is_where_case_is_kept() -> None:
    assert normalize("早上好 VIP", "vip", case="keep") == "早上好 VIP"
    assert normalize("早上好 VIP", "VIP", case="keep") == "早上好"


def test_what_stands_around_is_rewritten_as_ever() -> None:
    post = "转 分享自知乎 @某人 http://t.cn/abc 好文"
    assert normalize(post, "分享自知乎", urls="drop", mentions="drop") == "转 好文"


def test_posts_that_differ_in_residue_only_are_exact_repeats() -> None:
    posts = ["早上好呀各位朋友 来自小米客户端", "早上好呀各位朋友 来自 iPhone 15 客户端"]
    (removed,) = hybriddup.dedupe(posts, config={"normalizer": {"residue": [TAIL]}}).removed
    assert removed.reason == "exact"


def test_half_surrogate_pairs_stay_where_they_are() -> None:
    assert dropper(["b+"], ignore_case=False)("a\ud800bb\udc00\ud800b") == "a\ud800 \udc00\ud800 "


def test_nested_repeats_take_linear_time() -> None:
    """Of these, Python's own expressions try 2 to the power of 50,000 ways."""
    text = "a" * 50_000 + "!"
    assert dropper(["(a+)+$"], ignore_case=False)(text) == text


@given(st.lists(st.text("ab收起全文\ud800 ", max_size=6), max_size=6))
def test_a_text_is_normalized_as_if_it_stood_alone(texts: list[str]) -> None:
    normalizer = MicroblogNormalizer(MicroblogOptions(residue=("(?s)a.*b", "b$")))
    assert normalizer.normalize_batch(texts) == [normalizer.normalize_batch([text])[0] for text in texts]


def test_patterns_survive_pickling_and_make_a_recipe_of_their_own() -> None:
    made = MicroblogNormalizer(MicroblogOptions(residue=("早",)))
    normalizer = pickle.loads(pickle.dumps(made))  # noqa: S301  (our own bytes)
    assert normalizer.normalize_batch(["早上好"]) == ["上好"]
    ids = {
        hybriddup.dedupe(["早上好"], config={"normalizer": {"residue": residue}}).summary.recipe_id
        for residue in ("drop", ["早"], ["上"])
    }
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("residue", "message"),
    [
        (["("], r"normalizer.residue\[0\] must be a regular expression of RE2 \(missing \).*\); got '\('"),
        (["ok", "(?=a)"], r"normalizer.residue\[1\] must be a regular expression of RE2"),
        (["a*"], r"residue\[0\] must not match an empty text; got 'a\*'"),
        ([""], r"residue\[0\] must be text that is not empty"),
        ([], "residue must be 'keep' or 'drop' or a list of at least 1"),
        ("mask", "residue must be 'keep' or 'drop' or a list"),
    ],
)
def test_what_is_no_pattern_is_an_error(residue: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        hybriddup.dedupe(["a"], config={"normalizer": {"residue": residue}})


def test_a_missing_engine_is_said_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    assert hybriddup.dedupe(["早上好"], config={"normalizer": {"residue": "drop"}}).kept == [0]
    with pytest.raises(ConfigError, match=r"needs google-re2.*pip install 'hybriddup\[residue\]'"):
        hybriddup.dedupe(["早上好"], config={"normalizer": {"residue": ["早"]}})
