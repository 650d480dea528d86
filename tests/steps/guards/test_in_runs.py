"""Guards in runs, windows and explanations: what must agree is the user's decision, by `must_agree`."""

import pytest

import hybriddup

EPISODES = ["《寻常人家》第一季 EP01 中英字幕 高清", "《寻常人家》第一季 EP02 中英字幕 高清"]
CASES = ["截至昨日24时，全市新增确诊10例，无新增死亡病例", "截至昨日24时，全市新增确诊12例，无新增死亡病例"]
differing_numbers = pytest.mark.parametrize("posts", [EPISODES, CASES], ids=["episodes", "cases"])


@differing_numbers
def test_posts_that_differ_in_a_number_are_near_by_their_characters(posts: list[str]) -> None:
    edit = {"lengths": [{"verifier": {"use": "edit", "threshold": 0.8}}], "must_agree": []}
    assert hybriddup.dedupe(posts, config=edit).kept == [0]
    assert hybriddup.dedupe(CASES).kept == [0, 1]


@differing_numbers
@pytest.mark.parametrize("config", [{"must_agree": ["numbers"]}, {"numbers_must_match": True}, "sms", "headlines"])
def test_guard_keeps_posts_that_differ_in_a_number(posts: list[str], config: object) -> None:
    assert hybriddup.dedupe(posts, config=config).kept == [0, 1]  # type: ignore[arg-type]


@differing_numbers
@pytest.mark.parametrize(
    ("everywhere", "short", "long", "kept"),
    [
        ([], ["numbers"], None, [0, 1]),
        (["numbers"], [], None, [0]),
        (["numbers"], None, [], [0, 1]),
        ([], None, ["numbers"], [0]),
    ],
)
def test_a_length_band_may_say_otherwise(
    posts: list[str], everywhere: list[str], short: list[str] | None, long: list[str] | None, kept: list[int]
) -> None:
    edit = {"use": "edit", "threshold": 0.8}
    bands = [{"up_to": 60, "verifier": edit, "must_agree": short}, {"verifier": edit, "must_agree": long}]
    config = {"must_agree": everywhere, "lengths": bands}
    assert hybriddup.dedupe(posts, config=config).kept == kept
    assert hybriddup.explain(*posts, config=config).matches == (kept == [0])
    with hybriddup.Window.open(None, config) as window:
        assert [decision.kept for decision in window.add_many(posts)] == [True, kept == [0, 1]]
        assert [match.is_match for match in window.match(posts[1])] == [True] + [False] * (kept == [0, 1])


@differing_numbers
def test_masked_digits_are_all_alike(posts: list[str]) -> None:
    result = hybriddup.dedupe(posts, config={"normalizer": {"digits": "mask"}})
    assert [post.reason for post in result.removed] == ["exact"]


def test_guard_does_not_part_posts_with_the_same_numbers() -> None:
    posts = [CASES[0], CASES[0].replace("，", "。")[:-1] + "！"]
    assert hybriddup.dedupe(posts, config={"must_agree": ["numbers"]}).kept == [0]


def test_later_post_with_the_number_of_a_kept_one_is_still_removed() -> None:
    """The guard looks at pairs: the third repeats the first though the second lies between."""
    posts = [*CASES, CASES[0].replace("全市", "本市")]
    result = hybriddup.dedupe(posts, config={"must_agree": ["numbers"]})
    assert [(post.row, post.keeper_row) for post in result.removed] == [(2, 0)]


SIGNS = [
    "The new lift of the library is in service on all floors from this morning on",
    "The new lift of the library is not in service on all floors from this morning on",
]
EDIT = {"lengths": [{"verifier": {"use": "edit", "threshold": 0.9}}], "must_agree": ["negation"]}


def test_explanation_near_miss_and_match_name_the_guard_and_what_differs() -> None:
    reason = ["negation none / not"]
    explanation = hybriddup.explain(*SIGNS, config=EDIT)
    assert explanation.guards == reason
    assert "kept apart: negation none / not" in explanation.verdict
    (miss,) = hybriddup.dedupe(SIGNS, config=EDIT).near_misses()
    assert (miss.guards, miss.score > miss.threshold) == (reason, True)
    with hybriddup.Window.open(None, EDIT) as window:
        window.add(SIGNS[0])
        (match,) = window.match(SIGNS[1])
        assert (match.guards, match.is_match, match.score > match.threshold) == (reason, False, True)
