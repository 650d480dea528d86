"""Inputs that break careless code, through the public API: each comes out whole, in time, or with a clear error."""

from random import Random

import pytest

import hybriddup
from hybriddup.config.read import shipped_names
from hybriddup.testing.texts import ALL_TEXTS, NASTY_TEXTS
from tests.posts import CHINESE, ENGLISH

MILLION = 1_000_000


def rows_of(result: hybriddup.Result) -> list[int]:
    """All rows, kept and removed, in order."""
    return sorted(result.kept + [post.row for post in result.removed])


def test_empty_list_gives_an_empty_result() -> None:
    result = hybriddup.dedupe([])
    assert (result.kept, result.removed, result.summary.n_read, result.clusters()) == ([], [], 0, [])


@pytest.mark.parametrize("text", NASTY_TEXTS, ids=range(len(NASTY_TEXTS)))
def test_single_post_is_kept(text: str) -> None:
    assert hybriddup.dedupe([text]).kept == [0]


@pytest.mark.parametrize("config", shipped_names())
def test_nasty_posts_go_through_every_configuration(config: str) -> None:
    posts = [*ALL_TEXTS, *ALL_TEXTS]
    settings = hybriddup.load_settings(config).model_copy(update={"without_text": "compare"})
    result = hybriddup.dedupe(posts, config=settings)
    assert rows_of(result) == list(range(len(posts)))
    removed = {post.row for post in result.removed}
    assert removed >= set(range(len(ALL_TEXTS), len(posts)))


@pytest.mark.parametrize(
    "config",
    [
        *({"tokenizer": {"use": use}} for use in ("words", "jieba")),
        {"tokenizer": {"use": "char_ngrams", "cjk": [3, 3], "other": [6, 8]}},
        *({"weighter": {"use": use}} for use in ("uniform", "tf", "levels")),
        *({"hasher": {"use": use}} for use in ("md5", "polynomial")),
    ],
    ids=str,
)
def test_nasty_posts_go_through_every_component(config: dict[str, object]) -> None:
    result = hybriddup.dedupe(list(ALL_TEXTS), config=config)
    assert rows_of(result) == list(range(len(ALL_TEXTS)))


def test_hundred_thousand_equal_posts_leave_one() -> None:
    result = hybriddup.dedupe(["一模一样的一条微博，一个字都没有改"] * 100_000)
    assert (result.kept, result.summary.n_exact, result.summary.n_candidate_pairs) == ([0], 99_999, 0)


def test_thousands_of_near_repeats_of_one_post_leave_few() -> None:
    random = Random(1)  # noqa: S311
    base = "今天的天气真的很好，我们一起去公园走走吧，记得带上水和午饭，九点在学校门口见"
    posts = [base]
    for _ in range(6000):
        place = random.randrange(len(base))
        posts.append(base[:place] + random.choice(CHINESE) + base[place + 1 :])
    assert hybriddup.dedupe(posts, config={"must_agree": []}).kept == [0]


def test_random_posts_are_all_kept() -> None:
    random = Random(2)  # noqa: S311
    posts = ["".join(random.choices(CHINESE, k=random.randint(20, 60))) for _ in range(20_000)]
    assert hybriddup.dedupe(posts).kept == list(range(20_000))


def long_text(seed: int) -> str:
    """A million characters of prose without sense."""
    random = Random(seed)  # noqa: S311
    return " ".join(random.choices(ENGLISH, k=MILLION // 5))[:MILLION]


def test_post_of_a_million_characters_is_kept() -> None:
    assert hybriddup.dedupe([long_text(1), "今天天气真好", "另一条微博"]).kept == [0, 1, 2]


# `post` looks at each character of both, which takes half a minute for a million
@pytest.mark.parametrize(("config", "n"), [("weibo", 200_000), ("benchmark", MILLION)])
def test_near_repeats_of_very_long_texts_are_found(config: str, n: int) -> None:
    """Comparing them takes seconds, because near texts are told by few edits."""
    text = long_text(2)[:n]
    copy = text[: n // 2] + "another word " + text[n // 2 + 5 :]
    assert hybriddup.dedupe([text, copy], config=config).kept == [0]


def test_post_of_one_character_very_often_is_kept() -> None:
    posts = ["哈" * 200_000, "哈" * 199_999 + "呀", "哈哈", "哈"]
    assert hybriddup.dedupe(posts).kept == [0, 3]
    assert hybriddup.dedupe(posts, config="benchmark").kept == [0, 2, 3]


@pytest.mark.parametrize(
    ("posts", "kept"),
    [
        (["半个\ud83d表情，今天天气真好啊", "半个\ud83d表情，今天天气真好啊！"], [0]),
        (["nul\x00在中间，今天天气真好啊", "nul\x00在中间，今天天气真好啊！"], [0]),
        (["مرحبا بالعالم كيف حالك اليوم", "مرحبا بالعالم كيف حالك اليوم!"], [0]),
        (["שלום 你好 こんにちは 안녕하세요 Привет", "שלום 你好 こんにちは 안녕하세요 Привет!"], [0]),
        (["e\u0301te\u0301 a\u0300 la plage de Royan", "été à la plage de Royan"], [0]),
        (["🎉🎉 庆祝一下今天的好天气 👨‍👩‍👧‍👦", "🎉 庆祝一下今天的好天气 👨‍👩‍👧‍👦"], [0]),
    ],
    ids=["surrogate", "nul", "right to left", "mixed scripts", "combining marks", "emoji"],
)
def test_near_repeats_are_found_in_any_characters(posts: list[str], kept: list[int]) -> None:
    assert hybriddup.dedupe(posts).kept == kept


def test_text_comes_back_as_it_was() -> None:
    posts = ["Ｈａｌｆ \ud83d and\x00half", "Ｈａｌｆ \ud83d and\x00half"]
    assert hybriddup.dedupe(posts).removed[0].text == posts[1]
