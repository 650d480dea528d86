"""What `words` and `jieba` take for words."""

import subprocess

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.steps.tokenizers.jieba import MAX_RUN, Jieba, JiebaOptions
from hybriddup.steps.tokenizers.meaning import is_word, meaningful_characters
from hybriddup.steps.tokenizers.words import Words, words_among_parts
from tests.builders import EVERY, examples
from tests.processes import python


@pytest.fixture(scope="module")
def jieba() -> Jieba:
    return Jieba(JiebaOptions())


def words_of(text: str) -> list[str]:
    return Words().tokenize_batch([text]).strings(0)


def pieces_of(text: str) -> list[str]:
    """The words by the regular expression alone."""
    return [piece for piece in regex.split(r"(?V1w)\b", text) if is_word(piece)]


WORDS = [
    ("你好，世界！", ["你", "好", "世", "界"]),
    ("iPhone手机 don't 3.14", ["iPhone", "手", "机", "don't", "3.14"]),
    ("カタカナ ひらがな 한국어", ["カタカナ", "ひ", "ら", "が", "な", "한국어"]),
    ("שלום, مرحبا", ["שלום", "مرحبا"]),
    ("नमस्ते e\u0301a", ["नमस्ते", "e\u0301a"]),
    ("दूध दो, दूध दे", ["दूध", "दो", "दूध", "दे"]),
    ("don’t don't o'clock", ["don’t", "don't", "o'clock"]),
    ("צה\"ל ג'ירפה", ['צה"ל', "ג'ירפה"]),
    ("人々 ดี", ["人", "々", "ดี"]),
    ("👍🏽👨‍👩‍👧❤️", ["👍🏽", "👨‍👩‍👧", "❤️"]),
    ("🇨🇳🇺🇸 a🇨b", ["🇨🇳", "🇺🇸", "a", "🇨", "b"]),
    ("[doge] #topic# @user_1", ["doge", "topic", "user_1"]),
    ("\ue415 ★ ½", ["\ue415", "★", "½"]),
    ("$5 + C++ ~", ["5", "C"]),
    ("。，！ …\t\n", []),
    ("", []),
    ("\x00\ud800\u0301\u200d", []),
    ("好\ud800好\x00a", ["好", "好", "a"]),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words_are_what_unicode_calls_words(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


CHARACTERS = regex.findall(r"[^\p{Cn}\p{Co}\p{Han}\p{Hangul}]", "".join(map(chr, range(0x110000))))


@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("frame", ["{}", "'{}", "a’{}", "a{}a", "1{}1", "カ{}_", "好{}好", 'א"{}', "{}\u0301"])
def test_every_character_equals_the_regex_library(frame: str, step: int) -> None:
    batch = [frame.replace("{}", character) for character in CHARACTERS[::step]]
    tokens = Words().tokenize_batch(batch)
    assert [tokens.strings(row) for row in range(tokens.n_texts)] == [pieces_of(text) for text in batch]


@pytest.mark.parametrize("step", EVERY)
def test_meaningful_characters_are_those_that_make_a_word(step: int) -> None:
    says = meaningful_characters()
    assert [point for point in range(0, 0x110000, step) if says[point] != is_word(chr(point))] == []


@examples(50)
@given(st.lists(st.lists(st.sampled_from(["好", "ab", "3.14", " ", "，", "👍", "\ud800"]), max_size=4), max_size=4))
def test_words_among_parts_are_the_parts_that_are_words(cut: list[list[str]]) -> None:
    """Empty texts have none; parts never grow together."""
    lengths = np.array([len(part) for parts in cut for part in parts], np.int64)
    tokens = words_among_parts(["".join(parts) for parts in cut], lengths)
    expected = [[part for part in parts if is_word(part)] for parts in cut]
    assert [tokens.strings(row) for row in range(tokens.n_texts)] == expected


JIEBA = [
    ("我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
    ("你妈妈喊你回家吃饭哦，回家罗", ["你", "妈妈", "喊", "你", "回家", "吃饭", "哦", "回家", "罗"]),
    ("iPhone手机 3.14", ["iPhone", "手机", "3.14"]),
    ("👍👍[doge]\ue415", ["👍", "👍", "doge", "\ue415"]),
    ("שלום", ["ש", "ל", "ו", "ם"]),
    ("。，！ \t\n", []),
    ("", []),
    ("\x00\ud800\u0301", []),
    ("北京\ud800\x00大学", ["北京", "大学"]),
]


@pytest.mark.parametrize(("text", "expected"), JIEBA)
def test_jieba_finds_dictionary_words(jieba: Jieba, text: str, expected: list[str]) -> None:
    assert jieba.tokenize_batch([text]).strings(0) == expected


def test_jieba_with_hmm_off_guesses_no_words() -> None:
    text = ["他来到了网易杭研大厦"]
    assert "杭研" in Jieba(JiebaOptions()).tokenize_batch(text).strings(0)
    assert Jieba(JiebaOptions(hmm=False)).tokenize_batch(text).strings(0)[-3:] == ["杭", "研", "大厦"]


def test_jieba_search_mode_adds_the_words_inside_words() -> None:
    tokens = Jieba(JiebaOptions(mode="search")).tokenize_batch(["清华大学"]).strings(0)
    assert tokens == ["清华", "华大", "大学", "清华大学"]


def test_jieba_words_of_a_long_text_are_those_of_its_sentences(jieba: Jieba) -> None:
    """Cutting a long text at what jieba would cut at anyway changes nothing."""
    sentences = ["你妈妈喊你回家吃饭哦，", "iPhone 3.14 元！\r\n", "👍 北京清华大学。"] * (MAX_RUN // 5)
    once = jieba.tokenize_batch(["".join(sentences)]).strings(0)
    tokens = jieba.tokenize_batch(sentences)
    assert once == [word for row in range(tokens.n_texts) for word in tokens.strings(row)]


MEGABYTE = """
from hybriddup.steps.tokenizers.{module} import {name}
tokenizer = {name}({arguments})
units = ["好", "\\u9f98", "a", " ", ".", "1,", "a'", "\\u0301", "e\\u0301", "\\U0001f1e8", "\\U0001f1e8\\u0301",
         "\\U0001f44d\\u200d", "\\u05d0'", "\\x00", "\\ud800", "\\r\\n"]
for unit in units:
    tokenizer.tokenize_batch(["a" + unit * ({size} // len(unit))])
print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        MEGABYTE.format(module="words", name="Words", arguments="", size=1_000_000),
        MEGABYTE.format(module="jieba", name="Jieba", arguments="Jieba.Options()", size=150_000),
    ],
    ids=["words", "jieba"],
)
def test_one_very_long_post_is_finished(program: str) -> None:
    """A text made to trip the tokenizer ends at all: in quadratic time each would take an hour, or minutes."""
    finished = subprocess.run([*python(), "-c", program], capture_output=True, text=True, timeout=250, check=False)
    assert finished.stdout == "done\n", finished.stderr
