"""The `post` verifier: what posts say, what pairs share, and the score of that."""

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hybriddup
from hybriddup.errors import ConfigError
from hybriddup.kernels.posts.features import FEATURES
from hybriddup.steps.normalizers.microblog import MicroblogNormalizer
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.posts.characters import LABELS, words_in
from hybriddup.steps.posts.parts import bodies_of, body_lengths
from hybriddup.steps.tokenizers.words import Words
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.post.features import describe_differences, pair_features
from hybriddup.steps.verifiers.post.fitting import FREE, RISING, fit_curves, fit_to
from hybriddup.steps.verifiers.post.model import PostModel, shipped_models
from hybriddup.steps.verifiers.post.verifier import Post
from tests.builders import make_pairs
from tests.steps import slow_post
from tests.steps.slow_post import body, read

PLAIN_PIECES = """
你 妈妈 喊你回家 疫情通报 确诊3例 啦 哈哈哈 人々 かな カタカナー 한국어 ㅋㅋㅋ 𠀀
สวัสดี ดี ดู ค่ะ ລາວ ភាសា မြန်မာ दूध दो مرحبا هههه שלום צה"ל привет ахаха
flood floods the don't don’t dont soooo so haha kook o' ' a_b _ rt lol
e\u0301 İ é b52 3d a.b.c http https://t.co/a http:/ @anna @ @王·小-明
3 075 75,000 75000 7.50 1.0 1.00 1,5 0,5 0.500 00 ٣ ² ๓ 1.5. 2036345
# #武汉# #flood #soooo #好 #1 #1a ## #a_b [doge] [泪] [1] [_a] [ ]
😀 👍🏽 👨\u200d👩 ❤ ❤\ufe0f 🇫🇷 🇩🇪 \ue415 ©
<repost> <repost> <url> < > ... … . , ! ? / // | — : 】 【 ( × “ ” " 「 」 « » ，
…全文 ...全文: …readmore 展开 더보기
"""
PIECES = [
    *PLAIN_PIECES.split(),
    *("@" + "a" * 32, "# 武汉#", "#a b#", "#" + "长" * 60 + "#", "#" + "长" * 61 + "#", "[a b]", " - "),
    *("[" + "好" * 10 + "]", "[" + "好" * 11 + "]", *[" "] * 5, "  "),
    *("… read more", "... see more <url>", "\t", "\u200d", "\u200c", "\u0e31", "\ud800", "\x00", "\u3000"),
]

texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=12)
"""Anything next to anything."""


@st.composite
def versions(draw: st.DrawFn) -> list[str]:
    """Posts that share most of their pieces."""
    pieces = draw(st.lists(st.sampled_from(PIECES), min_size=3, max_size=14))
    left_out = st.sets(st.integers(0, len(pieces) - 1), max_size=3)
    return [
        "".join(piece for place, piece in enumerate(pieces) if place not in draw(left_out))
        for _ in range(draw(st.integers(2, 4)))
    ]


posts_of_any_kind = st.lists(texts, min_size=2, max_size=6) | versions()
PAIR = np.array([0]), np.array([1])


def features_of(posts: list[str], earlier: np.ndarray, later: np.ndarray) -> list[list[float]]:
    parsed = [read(post) for post in posts]
    pairs = [slow_post.features(parsed[a], parsed[b]) for a, b in zip(earlier.tolist(), later.tolist(), strict=True)]
    return [[features[name] for name in FEATURES] for features in pairs]


@given(posts_of_any_kind)
@example(["#武汉#早", "早 #武汉#", "早 #武汉 安", "#武汉 #北京 早安 3"])
@example(
    ["<repost>a 3 ...", "three <repost> <repost>", "fake <repost>he said that they all left", "he said that they…"]
)
@example(["they said “nothing new here today”", "true words: they said “nothing new here today”", "a//b c d e f g h i"])
@example(["breaking: the bridge is open again today", "the bridge is open again today | daily", "a - b", "the bridge"])
@example(["ab cd", "abcd", "a bcd", "#好", "好", "a #好 b", "a 好 b"])
@example(["open again by #paper via", "open again by #news via", "open #again via rt", "#a via", "via #a", "a #b 了"])
@example(["soooo nice haha", "so nice", "kook", "don’t a.b", "dont ab", "o'", "❶ ❷", "❸"])
@example(["ดี", "ดู", "दूध दो", "दूध दे", "ดี่", "ก็", "\u0e35\u0e35", "葛\U000e0100"])
@example(["today 7.50 for 75,000 and 0.500", "today 7.5 for 75000 and .5", "00.5 0 00 1.0 1.00 1.000 0,5"])
@example(
    ["no no no no", "no no", "no no <repost>no no", "#no #no no no", "3 3 3 3", "好 好 好 好好", "🇫🇷 🇫🇷 🇫🇷", "🇩🇪 gold"]
)
@example(
    [
        "a b c …全文",
        "a b c 全文",
        "a b …",
        "…全文",
        "a b c d... read more!",
        "a b c. read more",
        "a b c …全文 https://t.co/a",
    ]
)
@example(
    [
        "the ferry runs again after the storm",
        "the ferry runs again after the storm: the first boats le...",
        "daily: the ferry runs again after the storm - the first boats…",
        "the ferry runs again after the storm: the first boats】",
        "the ferry runs: again…",
        "the ferry runs",
        "…",
    ]
)
@example(
    ["they apologise", "they apologize", "the çocuğu", "the cocugu", "the cocugů", "we hire", "we fire", "we hired đ d"]
)
@example(["", " ", "😀", "😀😀", "🇫🇷", "@anna", "https://t.co/a", "<url>", "\ud800", "#", "..."])
def test_features_equal_the_plain_twin(posts: list[str]) -> None:
    earlier, later = np.triu_indices(len(posts))
    expected = np.array(features_of(posts, earlier, later))
    found = pair_features(posts, earlier, later)
    assert found == pytest.approx(expected, abs=1e-12)
    assert pair_features(posts, later, earlier).tolist() == found.tolist()


@given(posts_of_any_kind, st.randoms())
def test_features_of_a_pair_do_not_depend_on_others(posts: list[str], random: Any) -> None:
    earlier, later = (places.ravel() for places in np.mgrid[: len(posts), : len(posts)])
    found = pair_features(posts, earlier, later)
    order = list(range(len(found)))
    random.shuffle(order)
    assert pair_features(posts, earlier[order], later[order]).tolist() == found[order].tolist()
    assert pair_features(posts[:2], *PAIR).tolist() == found[1:2].tolist()


@given(posts_of_any_kind)
@example(["#武汉#早", "#武汉#早上好早上好", "a very #sunny day for everyone", "<repost>今天的天气真好", "❶ ❷", "#a ❶"])
@example(["สวัสดี ครับ ผม", "한국어 입니다 요", "手机 iPhone 好", "人人人人 啦啦啦啦", "soooo nice"])
@example(
    [
        "go go go go and win the final tonight",
        "the flag 🇫🇷 of the winner of today",
        "go #go go 走 走 走 走 win the final",
    ]
)
def test_bodies_equal_the_plain_twin(posts: list[str]) -> None:
    assert bodies_of(posts) == bodies_of(posts, workers=2) == list(map(body, posts))
    assert body_lengths(posts).tolist() == [len(read(post).letters) for post in posts]


@pytest.mark.parametrize("label", sorted(words_in(LABELS)))
def test_labels_are_listed_as_normalizing_leaves_them(label: str) -> None:
    """And a post with one is cut off, whether it has spaces or not."""
    post = "今天下午三点在人民广场集合"
    assert MicroblogNormalizer(MicroblogOptions()).normalize_batch([f"{post}… {label}"]) == [f"{post}… {label}"]
    assert read(f"{post}… {label}").is_cut
    for text in (f"{post}… {label}", f"{post}...{label[:2]} {label[2:]}"):
        assert bodies_of([text]) == [post]
        assert pair_features([text, f"{post}，不要迟到"], *PAIR)[0, FEATURES.index("goes_on")] == 1.0


def test_a_letter_that_is_repeated_without_end_is_read_once() -> None:
    """The time that a post takes grows with its length alone: a square of this one's would be minutes."""
    short, long = ("s" + n * "o" + " nice that the bridge is open" for n in (5, 400_000))
    with_itself, with_the_long = (pair_features([short, other], *PAIR).tolist() for other in (short, long))
    assert with_the_long == with_itself


@given(texts, st.sampled_from(sorted(shipped_models())))
@example("", "posts")
def test_equal_posts_score_one(post: str, model: str) -> None:
    assert score([post, post], model=model) == 1.0


@given(posts_of_any_kind, st.sampled_from(sorted(shipped_models())))
@example(["leeds: the bridge is open", "york: the bridge is open"], "posts")
@example(["the bridge is open again for 3 cars today", "the bridge is open again for 5 cars today"], "posts")
@example(["the bridge is open 🇫🇷", "the bridge is open 🇩🇪"], "posts")
def test_scores_equal_the_plain_twin(posts: list[str], model: str) -> None:
    a, b = posts[:2]
    found = score([a, b], model=model)
    assert 0.0 <= found <= 1.0
    assert found == pytest.approx(slow_post.score(a, b, (a, b), model), abs=1e-9)


heights = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3)


@given(posts_of_any_kind, st.fixed_dictionaries(dict.fromkeys(FEATURES, heights)), st.floats(0.05, 0.95))
def test_what_the_bound_excludes_is_under_the_threshold(
    posts: list[str], curves: dict[str, list[float]], threshold: float
) -> None:
    """For any model, also one in which more that is added raises the score."""
    points = {name: tuple(zip((0.0, 0.5, 2.0), curve, strict=True)) for name, curve in curves.items()}
    model, thresholds = PostModel(0.0, points), np.array([threshold])
    with_bound = model.scores(pair_features(posts[:2], *PAIR, model.bound(thresholds)))
    whole = model.scores(pair_features(posts[:2], *PAIR))
    assert (with_bound >= threshold).tolist() == (whole >= threshold).tolist()


def long_post(n: int, seed: int, kind: str) -> list[str]:
    """Words of which many occur more than once."""
    rng = np.random.default_rng(seed)
    number = rng.integers(0, 900, n)
    return [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" if kind == "words" else chr(0x4E00 + i) for i in number.tolist()]


@pytest.mark.parametrize(("n", "kind"), [(130, "words"), (700, "characters"), (3000, "words")])
def test_long_posts_equal_the_plain_twin(n: int, kind: str) -> None:
    words, longest = long_post(n, 1, kind), long_post(9000, 2, kind)
    other = [word for place, word in enumerate(words) if place % 9]
    sign = " " if kind == "words" else ""
    posts = [sign.join(words), sign.join(other), sign.join(longest)]
    found = pair_features(posts, *PAIR)
    assert found == pytest.approx(np.array(features_of(posts[:2], *PAIR)), abs=1e-9)
    assert pair_features(posts[:2], *PAIR).tolist() == found.tolist()


@pytest.mark.slow
def test_posts_longer_than_what_is_aligned_are_compared() -> None:
    words = long_post(6000, 3, "words")
    posts = [" ".join(words), " ".join(word for place, word in enumerate(words) if place % 9)]
    found, expected = pair_features(posts, *PAIR)[0], features_of(posts, *PAIR)[0]
    same = [FEATURES.index(name) for name in ("letters_shared", "letters_contained", "length", "adding")]
    assert found[same] == pytest.approx(np.array(expected)[same], abs=1e-9)
    assert 0.0 < found[FEATURES.index("shared")] <= expected[FEATURES.index("shared")]
    assert score([posts[0], posts[0]]) == 1.0


def test_no_pairs_have_no_features() -> None:
    nothing = np.zeros(0, np.int64)
    assert pair_features([], nothing, nothing).shape == (0, len(FEATURES))


DIFFERENCES = [
    ("你妈妈喊你回家吃饭哦", "你妈妈叫你回家吃饭啦", ["replaced: 喊 by 叫", "particle: 哦 by 啦"]),
    ("the bridge is open", "the old bridge is open again", ["added: old", "added: again"]),
    ("the bridge is open again", "the bridge is open", ["missing: again"]),
    ("so nice haha", "soooo nice!!", ["missing: haha"]),
    ("", "", []),
]


@pytest.mark.parametrize(("a", "b", "lines"), DIFFERENCES)
def test_differences_are_described_in_words(a: str, b: str, lines: list[str]) -> None:
    assert describe_differences(a, b) == lines


JUDGED = [
    ("posts", 1, "大家晚安！", "大家晚安~~"),
    ("posts", 1, "#早安# [太阳] http://t.cn/abc", "#早安#[太阳]"),
    ("posts", 0, "#早安#[太阳]", "#晚安#[月亮]"),
    ("posts", 0, "#三月新增病例3例#", "#四月新增病例4例#"),
    ("twitter", 1, "goodnight", "Goodnight!!"),
    ("posts", 1, "#初恋# 初恋是永生难忘的，哪怕是最小的茅舍也足够", "#新闻#初恋是永生难忘的，哪怕是最小的茅舍也足够 ?"),
    ("posts", 1, "今天全市没有新增病例，请大家放心出行 L新华网的微博视频",
     "【通报】今天全市没有新增病例，请大家放心出行 收起全文d"),
    ("posts", 1, "真好//@张三:明天早上八点在广场集合，带好身份证和口罩",
     "//@李四:明天早上八点在广场集合，带好身份证和口罩"),
    ("posts", 0, "#今天下雪了# 终于等到了，好开心", "#今天下雪了# 冷死我了，不想出门"),
    ("posts", 0, "今天新增确诊病例12例，累计报告病例330例", "今天新增确诊病例15例，累计报告病例345例"),
    ("posts", 0, "#新款手机发布# 价格太贵了买不起", "#新款手机发布#"),
    ("twitter", 1, "RT @news: Floods kill 3, force 75,000 from Calgary homes",
     "Floods kill 3, force 75000 from Calgary homes"),
    ("twitter", 1, "Mayor opens the new bridge downtown http://t.co/a",
     "Mayor opens the new bridge downtown via @paper"),
    ("twitter", 0, "Driver needed in Red Deer, apply now!", "Nurse needed in Spruce Grove, apply now!"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "label", "a", "b"), JUDGED)
def test_shipped_models_judge_as_people_do(model: str, label: int, a: str, b: str) -> None:
    options: dict[str, Any] = {"reposts": "mask"}
    options |= {"residue": "drop"} if model == "posts" else {"repeated_punctuation": "keep"}
    posts = MicroblogNormalizer(MicroblogOptions(**options)).normalize_batch([a, b])
    assert (score(posts, model=model) >= 0.5) == (label == 1)


@given(posts_of_any_kind, st.sampled_from(sorted(shipped_models())), st.floats(0.0, 1.0))
def test_threshold_only_saves_work(posts: list[str], model: str, threshold: float) -> None:
    exact, found = score(posts[:2], model=model), score(posts[:2], threshold=threshold, model=model)
    assert found == exact if exact >= threshold else found < threshold


def score(posts: list[str], *, threshold: float = 0.0, **options: Any) -> float:
    """The score of two posts that are compared as they are."""
    verifier = Post(Post.Options(**options))
    verifier.prepare(VerifierContext(posts, Words(), 128, 1))
    return float(verifier.score_pairs(make_pairs([(0, 1)]), np.full(1, threshold))[0])


def test_a_configuration_may_bring_its_own_model() -> None:
    model = {"intercept": -1.0, "letters_shared": [[0.5, -3.0], [1.0, 3.0]], "numbers_differ": [[0, 0], [1, -9]]}
    config = {
        "normalizer": {"use": "none"},
        "weighter": {"use": "tf"},
        "lengths": [{"max_hamming_distance": 60, "verifier": {"use": "post", "model": model, "threshold": 0.5}}],
    }
    texts = [f"we met {n} old friends at {a} station" for n, a in ((3, "the"), (3, "a"), (4, "a"))]
    assert hybriddup.dedupe(texts, config=config).kept == [0, 2]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("weibos", "no model has the name 'weibos'; allowed: posts, sms, titles, twitter"),
        ({"lenght": [[0, 1]]}, "unknown feature 'lenght'; allowed: intercept, shared"),
        ({"intercept": "much"}, "intercept must be a number; got 'much'"),
        ({"length": 3}, "length must be a list of points"),
        ({"length": [[0, 1, 2]]}, "length must be a list of points"),
        ({"length": []}, "length must be a list of points"),
        ({"length": [[0.5, 1], [0.5, 2]]}, "the values of length must rise; got [0.5, 0.5]"),
    ],
)
def test_what_is_no_model_is_refused(model: Any, message: str) -> None:
    config = {"lengths": [{"verifier": {"use": "post", "model": model, "threshold": 0.5}}]}
    with pytest.raises(ConfigError) as refused:
        hybriddup.load_settings(config)
    assert message in str(refused.value)


def test_models_come_back_from_plain_data() -> None:
    """So that a fitted one can be written into a configuration."""
    for model in shipped_models().values():
        assert PostModel.from_dict(json.loads(json.dumps(model.to_dict()))) == model


def assert_monotone(model: PostModel) -> None:
    """Curves rise or fall as reason says."""
    for name, points in model.curves.items():
        steps = [b[1] - a[1] for a, b in pairwise(points)]
        assert name not in RISING or min(steps, default=0.0) >= 0, name
        assert name in (*RISING, *FREE) or max(steps, default=0.0) <= 0, name


@pytest.mark.parametrize("name", sorted(shipped_models()))
def test_shipped_models_are_monotone(name: str) -> None:
    """More in common never lowers the score, and more that differs never raises it."""
    assert_monotone(shipped_models()[name])


@given(st.integers(0, 2**32 - 1))
def test_fitted_models_are_monotone_and_relative_to_an_ordinary_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found, labels = rng.random((80, len(FEATURES))), rng.random(80) < 0.5
    found[:, FEATURES.index("goes_on")] = rng.random(80) < 0.2
    labels[:10] = np.arange(10) % 2 == 0
    model = fit_to(found, labels, precision=0.6)
    assert_monotone(model)
    assert np.abs(model.contributions(found).mean(axis=0)).max() < 0.001


def test_a_fitted_model_finds_what_labels_mean() -> None:
    rng = np.random.default_rng(3)
    found = rng.random((800, len(FEATURES)))
    found[:, FEATURES.index("numbers_differ")] = rng.random(800) < 0.3
    labels = (found[:, FEATURES.index("letters_contained")] > 0.5) & (found[:, FEATURES.index("numbers_differ")] == 0)
    model = fit_to(found[:400], labels[:400], precision=0.9)
    matches = model.scores(found[400:]) >= 0.5
    assert (matches & labels[400:]).sum() / matches.sum() > 0.85
    assert (matches & labels[400:]).sum() / labels[400:].sum() > 0.8
    numbers = dict(model.curves["numbers_differ"])
    assert numbers[1.0] < numbers[0.0] - 1.0


def test_pairs_that_count_nothing_change_no_fit() -> None:
    rng = np.random.default_rng(4)
    found, labels = rng.random((200, len(FEATURES))), rng.random(200) < 0.5
    weights = np.repeat([1.0, 0.0], 100)
    wrong = np.concatenate([labels[:100], ~labels[100:]])
    one, other = (fit_curves(found, some, weights).logits(found) for some in (labels, wrong))
    assert one == pytest.approx(other, abs=1e-9)
