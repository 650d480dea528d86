"""The normalizer `chat`: one spelling for the words of messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.errors import ConfigError
from hybriddup.steps.normalizers.chat import TABLE_FILE, Chat, shipped_words
from hybriddup.steps.normalizers.tables import table_lines


def normalize(text: str, **words: str) -> str:
    return Chat(Chat.Options(words=words)).normalize_batch([text])[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("okie lah, c u tmr!!", "ok... see you tomorrow :)"),
        ("hey, wat r u doin", "what are you doin?"),
        ("haha sooo funny", "so funny"),
        ("don't b l8", "dont b late"),
        ("嗯,你也早点睡吧、、晚安", "你也早点睡 晚安"),
        ("哎呀,我到家啦!", "我到家"),
        ("在哪呢？我去酒吧", "在哪 我去酒吧"),
    ],
)
def test_what_says_the_same_in_other_spellings_is_one_text(one: str, other: str) -> None:
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pay 1,000 by 10:30, <url>", "pay 1,000 by 10:30 <url>"),
        ("ok 👍", "ok 👍"),
        ("#jazz @anna", "#jazz anna"),
        ("café n tea", "café and tea"),
        ("去网吧", "去网吧"),
        ("她在哈尔滨", "她在哈尔滨"),
        ("b4 2day", "before today"),
    ],
)
def test_numbers_masks_emoji_and_other_words_stay(text: str, expected: str) -> None:
    assert normalize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("haha", "haha"), ("Hi!", "Hi"), ("哈哈", "哈哈"), ("嗯,啊", "嗯啊"), ("?!", "?!"), ("👍", "👍"), ("", "")],
)
def test_nothing_becomes_empty(text: str, expected: str) -> None:
    """What says nothing else stays, so that it is no text without words."""
    assert normalize(text) == expected


def test_words_of_ones_own_come_first() -> None:
    """As spellings, or to be left out; and what is known can be changed."""
    assert normalize("brb dude, c u", brb="be right back", dude="", c="c") == "be right back c you"


def test_words_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"normalizer\.words"):
        hybriddup.dedupe(["a"], config={"normalizer": {"use": "chat", "words": ["brb"]}})


WORDS = (
    "ok lah lol c u tmr don't 2day soooo aaa b é 12 1.5 . : , ! ... ' ’ # @ _ <url> < > 👍 吧 酒 网 呢 哈 嗯 你 、 。"
)
PIECES = [*WORDS.split(), " ", "  ", "\n", "\u3000", "\ud800"]


@given(st.one_of(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.text(max_size=20)))
def test_twice_is_the_same_as_once(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


def test_the_table_is_sound() -> None:
    """Each spelling stands there once, and no word that stands for others is a spelling itself."""
    lines = [line.split(": ") for line in table_lines(TABLE_FILE)]
    spellings = [spelling for _, of_word in lines for spelling in of_word.split()]
    assert len(spellings) == len(set(spellings)) == len(shipped_words()) > 100
    assert [word for word, _ in lines] == sorted(word for word, _ in lines)
    assert {part for word, _ in lines for part in word.split()} & set(spellings) == set()


def test_messages_that_differ_in_spelling_only_are_repeats() -> None:
    posts = [
        "Okie lah, c u tmr at the library!!",
        "ok see you tomorrow at the library",
        "ok see you tomorrow at school",
    ]
    assert [post.row for post in hybriddup.dedupe(posts, config="sms").removed] == [1]
