"""What holds for `microblog` whatever the text: a pure function of each text, idempotent, linear."""

import re
import subprocess
import sys
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.steps.normalizers import patterns
from hybriddup.steps.normalizers.folding import Folder, Folding, folded_characters, pack, unpack
from hybriddup.steps.normalizers.microblog import MicroblogNormalizer
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.normalizers.patterns import BOUNDARY
from tests.builders import EVERY, examples
from tests.posts import load_sample
from tests.processes import python
from tests.steps.slow_normalizer import normalize_slowly

PLAIN_PIECES = """
@ //@ // / rt http:// https://x.cn/a www. t.cn/a O网页链接 # ## [ ] [doge] : ： ＠ ＃ ！ !! ..
… - _ · <url> < > 0 12 ١ 转发微博 轉發微博 收起全文d 展开全文c L新华网的秒拍视频 l 的微博视频
2内江 2内江·威远 2 月底 回复@ 名字 媽 后 苧 a B ß ſ ﬁ İ ΐ ᾳ e ｶ ﾞ ᄀ \u1161 \u11a8 가 👍 🇨 🇳 1 ´ שלום
(x-post xpost) crosspost r/a
<b> </b> <br/> <img alt=[doge]> &amp; &lt; lt; < & 全文 展开 网页链接
via … . 。 ё İ ı ʼ ’ “ क़ न ् त ँ ि เ ํ ่ ـ َ ا أ ة â€™ Ã ©
\\xe2 \\x80 \\u20ac
@anna @tom hello mt ٣ ി ന
"""
PIECES = [
    *PLAIN_PIECES.split(),
    *("RT @", " ?", "\u0345", "\u0301", "\u0323", "\u0315", "\u20e3", "\ufe0f", "\u200d", "\u200c", "\u2800"),
    *("\U000e0061", "🏴", "\u061c", "\u3164", "\u0338", "\u0307", "hello there ", " and so on for long "),
    *(" ", "  ", "\n", "\u3000", "\u200b", "\xad", "\u202e", "\ue415", "\ud800", "\udc00", "\x00", "\ufdd1"),
]
"""What the rules look for, and what has made normalizers trip, to be strung together."""

texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.text(st.characters(codec=None, categories=None), max_size=20),
    st.lists(st.sampled_from([*PIECES, BOUNDARY]), max_size=6).map("".join),
)


def named_values(schema: dict[str, Any]) -> list[str]:
    """The values of an option that have a name; of patterns there is no end."""
    return [value for branch in schema.get("anyOf", [schema]) for value in branch.get("enum", ())]


options = st.builds(
    MicroblogOptions,
    **{
        option: st.sampled_from(named_values(schema))
        for option, schema in MicroblogOptions.model_json_schema()["properties"].items()
    },
)


@examples(100)
@given(st.lists(texts, max_size=6), options)
def test_a_batch_equals_one_by_one(batch: list[str], chosen: MicroblogOptions) -> None:
    normalizer = MicroblogNormalizer(chosen)
    assert normalizer.normalize_batch(batch) == [normalizer.normalize_batch([text])[0] for text in batch]


@examples(100)
@given(st.lists(texts, max_size=6), options.filter(lambda chosen: chosen.white_space != "drop"))
def test_twice_is_the_same_as_once(batch: list[str], chosen: MicroblogOptions) -> None:
    normalizer = MicroblogNormalizer(chosen)
    once = normalizer.normalize_batch(batch)
    assert normalizer.normalize_batch(once) == once


@examples(300)
@given(st.lists(texts.filter(lambda text: BOUNDARY not in text), max_size=4), options)
def test_the_quick_way_equals_rule_after_rule(batch: list[str], chosen: MicroblogOptions) -> None:
    assert MicroblogNormalizer(chosen).normalize_batch(batch) == [normalize_slowly(text, chosen) for text in batch]


@pytest.mark.parametrize("step", EVERY)
@pytest.mark.parametrize("frame", ["{}", "e{}!", "!{}{}\u0301", "{} "])
def test_every_character_that_is_looked_up_equals_rule_after_rule(frame: str, step: int) -> None:
    ranges = ((0, 0x3500), (0xA000, 0xAD00), (0xF900, 0xFDD0), (0xFDD2, 0x10000), (0x1F300, 0x1F700))
    batch = [frame.replace("{}", chr(point)) for start, end in ranges for point in range(start, end, step)]
    chosen = MicroblogOptions()
    assert MicroblogNormalizer(chosen).normalize_batch(batch) == [normalize_slowly(text, chosen) for text in batch]


@pytest.mark.parametrize("chosen", [MicroblogOptions(), MicroblogOptions(urls="mask", mentions="keep", reposts="keep")])
def test_posts_equal_rule_after_rule(chosen: MicroblogOptions) -> None:
    batch = [row["text"] for row in load_sample("posts.jsonl")]
    assert batch
    assert MicroblogNormalizer(chosen).normalize_batch(batch) == [normalize_slowly(text, chosen) for text in batch]


@examples(200)
@given(texts)
def test_no_pattern_matches_without_its_literal(text: str) -> None:
    """So that texts without any literal need not be searched."""
    keeping = MicroblogNormalizer(MicroblogOptions(reposts="keep", urls="keep", mentions="keep"))
    text = keeping.normalize_batch([text])[0]
    looked_for = [patterns.ICON_LINK, patterns.WORD_LINK, patterns.MENTION, patterns.MENTIONS, *patterns.LINKS]
    looked_for += [*patterns.REPOST_MARKERS, *patterns.REPOST_COMMENTS, *patterns.HASHTAGS, *patterns.RESIDUE]
    matching = [pattern for pattern in looked_for if re.search(pattern.source, text)]
    assert all(pattern.needs in text for pattern in matching)


def fold(text: str, folding: Folding) -> str:
    return Folder(folding).fold([text]).texts[0]


@examples(100)
@given(texts)
def test_folding_is_nfkc_and_case_folding(text: str) -> None:
    expected = text
    for _ in range(4):
        expected = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", expected).casefold())
    folding = Folding(nfkc=True, case=True, simplify=False, plain_space=False, spelling=False)
    assert fold(text, folding) == expected


@pytest.mark.parametrize("nfkc", [True, False])
def test_characters_that_join_the_one_before_go_the_slow_way(nfkc: bool) -> None:
    """No character of the table is the second half of another, so neighbors cannot matter."""
    joining = {
        int(parts[1], 16)
        for point in range(sys.maxunicode + 1)
        if len(parts := unicodedata.decomposition(chr(point)).split()) == 2 and not parts[0].startswith("<")
    }
    folding = Folding(nfkc=nfkc, case=True, simplify=True, plain_space=True, spelling=True)
    points, special, several = folded_characters(folding)
    joining -= {point for point, folded in several.items() if not folded}  # Hebrew points are left out
    assert joining
    assert all(special[point] for point in joining)
    assert not joining.intersection(points[~special].tolist())
    assert not joining.intersection(map(ord, "".join(several.values())))


@given(
    st.lists(st.integers(0, sys.maxunicode), max_size=5),
    st.dictionaries(st.integers(0, sys.maxunicode), st.text(max_size=4), max_size=5),
)
def test_foldings_can_be_packed_into_one_array(special: list[int], several: dict[int, str]) -> None:
    """And unpacked again."""
    points, is_special = np.arange(0x110000, dtype=np.uint32)[::-1], np.zeros(0x110000, np.bool_)
    is_special[special] = True
    unpacked = unpack(pack(points, is_special, several))
    assert np.array_equal(unpacked[0], points)
    assert np.array_equal(unpacked[1], is_special)
    assert unpacked[2] == several


PLAIN_ADVERSARIAL = """
@ //@ / http:// http://@ https://x//@ www. t.cn/ [[ [a [] ] rt # #a #1 转发微博 转发 回复@ @a (xpost [x-post] xpost r/
@a@ a@ ᄀ ﾞ 🇨 1 ! !? … 媽 ß İ <url>
"""
ADVERSARIAL = [
    *PLAIN_ADVERSARIAL.split(),
    *("// ", "RT @", "RT ", "# ", "## ", "回复 ", "\u0301", "\u0301\u0316", "e\u0301", "👍\u200d", "1\ufe0f", " "),
    *("\n", "\u0345", "\ufdd0", "&amp;", "&", "<b ", "<b a=", '<a href="', "<<b>b>", "&lt;b&gt;", "\\x80", "\\u20ac"),
    *("Ã©", "â€", "Ã", "網页链接", "е\u0308", "\u0308", "न\u094dत", "เ", "\u200d", "\U000e0061", "@a #t ", "x @a "),
    *("x @a, ", "via @a ", "…全文", "."),
]
PROGRAM = """
import sys
from hybriddup.steps.normalizers.microblog import MicroblogNormalizer
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
options = MicroblogOptions.model_validate_json(sys.argv[1])
for unit in {units!r}:
    for text in (unit * (400_000 // len(unit)), "a " + unit * (400_000 // len(unit)) + " :#"):
        MicroblogNormalizer(options).normalize_batch([text])
print("done")
"""
OPTIONS = [
    MicroblogOptions(),
    MicroblogOptions(hashtags="drop", emoji="drop", digits="mask", reposts="drop_trail", white_space="drop"),
    MicroblogOptions(case="keep", urls="mask", mentions="mask", reposts="mask", hashtags="mask", emoji="mask"),
]


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("chosen", OPTIONS, ids=["defaults", "drop", "mask"])
def test_a_long_adversarial_text_is_finished(part: int, chosen: MicroblogOptions) -> None:
    """400,000 characters made to trip a rule end soon: in quadratic time each text would take an hour, or minutes."""
    program = PROGRAM.format(units=ADVERSARIAL[part::2])
    arguments = [*python(), "-c", program, chosen.model_dump_json()]
    finished = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert finished.stdout == "done\n", finished.stderr
