"""The `post` verifier: what posts say, what pairs share, and the score of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hybriddup
from hybriddup.data.records import CandidatePairs
from hybriddup.errors import ConfigError
from hybriddup.steps.normalizers.microblog import MicroblogNormalizer
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.posts.parts import bodies_of
from hybriddup.steps.tokenizers.words import Words
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.post.features import NAMES, pair_features
from hybriddup.steps.verifiers.post.fitting import fit_to
from hybriddup.steps.verifiers.post.model import PostModel, shipped_models
from hybriddup.steps.verifiers.post.verifier import Post
from tests.steps.slow_post import body, features, read

SAMPLES = Path(__file__).parents[1] / "samples"
PIECES = [
    *("你", "妈妈", "喊你回家", "疫情通报", "确诊3例", "かな", "한글", "𠀀"),
    *("flood", "floods", "flooding", "the", "don't", "dont", "o'", "'", "three", "3", "075", "75,000", "75000", "1,5"),
    *("ii", "xxxix", "xx", "days", "not", "noth", "guitar"),
    *("第三", "十二", "两", "月", "一", "周五", "星期", "天", "日", "ep01", "ep12345", "o'1"),
    *("【", "】", "啦", "了", "吗"),
    *("o", "o3月", "o【", "o型", "(∩_∩)", "(网)", ")", "/", "你支持延长假期吗", "?", "r.i.p.", "f.b.i", "a.b", "o.n.e"),
    *("1.5.", "٣", "²", "b52", "3d", "İ", "é", "_", "rt"),
    *("#", "#武汉#", "# 武汉#", "#a b#", "#flood", "#1", "#1a", "##", "#" + "长" * 60 + "#", "#" + "长" * 61 + "#"),
    *(
        "[doge]",
        "[泪]",
        "[1]",
        "[a b]",
        "[" + "好" * 10 + "]",
        "[" + "好" * 11 + "]",
        "[_a]",
        "[",
        "😀",
        "😀👍🏽",
        "❶",
        "\u200d",
    ),
    *("<repost>", "<url>", "<", ">", "<rep", "...", "…", ". . .", ".", ",", " ", "  ", "，", "\t", "\ud800", "\x00"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=12)


@given(st.lists(texts, min_size=2, max_size=6))
@example(["#武汉#早", "早 #武汉#"])
@example(["#a day", "a #day"])
@example(["<repost>a 3 ...", "three <repost> <repost>"])
@example(
    ["支持 o3月延长假期,你觉得好吗?", "o3月延长假期,你觉得好吗?", "可以理解 o第三期专家谈疫情<url>", "我是o型血的人啊"]
)
@example(
    ["真好o(∩_∩)o哈哈哈哈哈哈", "真好(网)o专家谈疫情通报", "当地时间o2月18日晚上十一点确诊", "i/o开发者大会取消了"]
)
@example(["【疫情通报】", "【疫情通报】请戴口罩", "早<repost>【疫情通报】请戴口罩", "】疫情通报】"])
@example(["r.i.p. to the u.s.", "rip to the us", "a.b.cd o.n.e"])
@example(["", "#\x85#", "#\x0b#"])
def test_features_equal_the_plain_twin(posts: list[str]) -> None:
    """Of any posts, in either order."""
    earlier, later = np.triu_indices(len(posts))
    read_posts = [read(post) for post in posts]
    expected = [features(read_posts[a], read_posts[b]) for a, b in zip(earlier.tolist(), later.tolist(), strict=True)]
    for one, other in ((earlier, later), (later, earlier)):
        found = pair_features(posts, one, other)
        assert found.values == pytest.approx(np.array(expected), abs=1e-12)


@given(st.lists(texts, max_size=6))
@example(["#武汉#早", "#武汉#早上好早上好", "a very #sunny day for everyone", "<repost>今天的天气真好"])
def test_bodies_equal_the_plain_twin(posts: list[str]) -> None:
    """Of any posts, by any number of threads."""
    assert bodies_of(posts) == bodies_of(posts, workers=2) == list(map(body, posts))


def test_words_of_few_titles_are_rare() -> None:
    """Of frequent words each tells less than of others; of a word whose beginning the other has, half."""
    posts = ["new guitar day", "new guitar and amplifier day", "new guitars day", "new guitarist day"]
    found = pair_features(posts, np.array([0, 0, 0]), np.array([1, 2, 3])).values
    column = NAMES.index("rarest_in_longer")
    assert found[:, column].tolist() == [8.0, 0.0, 4.0]
    assert pair_features(["new day", "what a new day"], *np.array([[0], [1]])).values[0, column] == 3.0


def test_no_pairs_have_no_features() -> None:
    """Nor do no posts."""
    nothing = np.zeros(0, np.int64)
    assert pair_features([], nothing, nothing).values.shape == (0, len(NAMES))


JUDGED = [
    ("weibo", 1, "大家晚安！", "大家晚安~~"),
    ("weibo", 1, "#早安# [太阳] http://t.cn/abc", "#早安#[太阳]"),
    ("weibo", 0, "#早安#[太阳]", "#晚安#[月亮]"),
    ("weibo", 0, "#三月新增病例3例#", "#四月新增病例4例#"),
    ("twitter", 1, "goodnight", "Goodnight!!"),
    ("weibo", 1, "#初恋# 初恋是永生难忘的，哪怕是最小的茅舍也足够", "#新闻#初恋是永生难忘的，哪怕是最小的茅舍也足够 ?"),
    (
        "weibo",
        1,
        "今天全市没有新增病例，请大家放心出行 L新华网的微博视频",
        "【通报】今天全市没有新增病例，请大家放心出行 收起全文d",
    ),
    (
        "weibo",
        1,
        "真好//@张三:明天早上八点在广场集合，带好身份证和口罩",
        "//@李四:明天早上八点在广场集合，带好身份证和口罩",
    ),
    ("weibo", 0, "#今天下雪了# 终于等到了，好开心", "#今天下雪了# 冷死我了，不想出门"),
    ("weibo", 0, "今天新增确诊病例12例，累计报告病例330例", "今天新增确诊病例15例，累计报告病例345例"),
    ("weibo", 0, "#新款手机发布# 价格太贵了买不起", "#新款手机发布#"),
    (
        "twitter",
        1,
        "RT @news: Floods kill 3, force 75,000 from Calgary homes",
        "Floods kill three, force 75000 from Calgary homes",
    ),
    (
        "twitter",
        1,
        "Mayor opens the new bridge downtown http://t.co/a",
        "Mayor opens the new bridge downtown via @paper",
    ),
    ("twitter", 0, "Floods kill three, force thousands from homes", "Floods kill two, force thousands from homes"),
    (
        "twitter",
        0,
        "Letters to a young gardener XXVII, on roses and on patience",
        "Letters to a young gardener XXVI, on roses and on patience",
    ),
    ("twitter", 0, "Driver needed in Red Deer, apply now!", "Nurse needed in Spruce Grove, apply now!"),
]


@pytest.mark.parametrize(("model", "label", "a", "b"), JUDGED)
def test_shipped_models_judge_as_people_do(model: str, label: int, a: str, b: str) -> None:
    """Pairs written for this test: another hashtag, a tail of the platform; other facts, comments, fillings."""
    options: dict[str, Any] = {"reposts": "mask"}
    options |= {"residue": "drop"} if model == "weibo" else {"repeated_punctuation": "keep"}
    posts = MicroblogNormalizer(MicroblogOptions(**options)).normalize_batch([a, b])
    assert score(posts, model=model) == score(posts) == (label == 1)


def score(posts: list[str], **options: Any) -> bool:
    """Whether two posts match at the threshold that models are fitted for."""
    verifier = Post(Post.Options(**options))
    verifier.prepare(VerifierContext(posts, Words(), 128, 1))
    pair = CandidatePairs(np.array([0]), np.array([1]), np.zeros(1, np.int32))
    return bool(verifier.score_pairs(pair, np.full(1, 0.5))[0] >= 0.5)


def test_a_configuration_may_bring_its_own_model() -> None:
    """Curves of the features that count, and no others."""
    model = {"intercept": -1.0, "similar": [[0.5, -3.0], [1.0, 3.0]], "numbers_differ": [[0, 0], [1, -9]]}
    config = {
        "normalizer": {"use": "none"},
        "weighter": {"use": "tf"},
        "lengths": [{"max_hamming_distance": 60, "verifier": {"use": "post", "model": model, "threshold": 0.5}}],
    }
    texts = [
        "we met 3 old friends at the station",
        "we met 3 old friends at a station",
        "we met 4 old friends at a station",
    ]
    assert hybriddup.dedupe(texts, config=config).kept == [0, 2]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"han": "weibo", "others": "tweets"}, "no model has the name 'tweets'; allowed: sms, titles, twitter, weibo"),
        ("weibos", "no model has the name 'weibos'; allowed: by_script, sms, titles, twitter, weibo"),
        ({"simlar": [[0, 1]]}, "unknown feature 'simlar'; allowed: intercept, similar"),
        ({"intercept": "much"}, "intercept must be a number; got 'much'"),
        ({"similar": 3}, "similar must be a list of points"),
        ({"similar": [[0, 1, 2]]}, "similar must be a list of points"),
        ({"similar": []}, "similar must be a list of points"),
        ({"similar": [[0.5, 1], [0.5, 2]]}, "the values of similar must rise; got [0.5, 0.5]"),
    ],
)
def test_what_is_no_model_is_refused(model: Any, message: str) -> None:
    """With what is allowed."""
    config = {"lengths": [{"verifier": {"use": "post", "model": model, "threshold": 0.5}}]}
    with pytest.raises(ConfigError) as refused:
        hybriddup.load_settings(config)
    assert message in str(refused.value)


def test_models_come_back_from_plain_data() -> None:
    """So that a fitted one can be written into a configuration."""
    for model in shipped_models().values():
        assert PostModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model


def test_a_fitted_model_finds_what_labels_mean() -> None:
    """Pairs that match by words, unless numbers differ, of which it was fitted to half."""
    rng = np.random.default_rng(3)
    found = rng.random((800, len(NAMES)))
    found[:, NAMES.index("numbers_differ")] = rng.random(800) < 0.3
    labels = (found[:, NAMES.index("words_shared")] > 0.5) & (found[:, NAMES.index("numbers_differ")] == 0)
    model = fit_to(found[:400], labels[:400], precision=0.9, seed=0)
    matches = model.scores(found[400:]) >= 0.5
    assert (matches & labels[400:]).sum() / matches.sum() > 0.85
    assert (matches & labels[400:]).sum() / labels[400:].sum() > 0.8
    numbers = dict(model.curves["numbers_differ"])
    assert numbers[1.0] < numbers[0.0] - 1.0
