"""Words by class against a plain walk over the rules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Tokens, encode_texts
from hybriddup.kernels import words as kernel

CLASS_OF = {
    **dict.fromkeys("aeb喊", kernel.LETTER),
    **dict.fromkeys("12", kernel.NUMBER),
    "カ": kernel.KATAKANA,
    "_": kernel.CONNECTOR,
    ":": kernel.WITHIN_LETTERS,
    ",": kernel.WITHIN_NUMBERS,
    **dict.fromkeys(".'", kernel.WITHIN_BOTH),
    "\u0301": kernel.INVOLVED,
    "\U0001f600": kernel.OTHER,
    " ": kernel.OTHER,
}
WORDLIKE = "aeb喊12カ\U0001f600"
class_texts = st.lists(st.text(alphabet="".join(CLASS_OF), max_size=9), max_size=4)


def classes() -> np.ndarray:
    table = np.zeros(0x110000, np.uint8)
    for character, number in CLASS_OF.items():
        table[ord(character)] = number
    return table


def kind(character: str) -> str:
    """Letter, number, katakana, connector, or the character itself."""
    kinds = {"aeb喊": "letter", "12": "number", "カ": "katakana", "_": "connector"}
    return next((name for members, name in kinds.items() if character in members), character)


def goes_on(text: str, place: int) -> bool:
    """Rules WB5 to WB13b, one after another."""
    before, here = kind(text[place - 1]), kind(text[place])
    earlier = kind(text[place - 2]) if place > 1 else ""
    after = kind(text[place + 1]) if place + 1 < len(text) else ""
    alphanumeric = ("letter", "number")
    return any(
        [
            before in alphanumeric and here in alphanumeric,
            (before, after) == ("letter", "letter") and here in tuple(":.'"),
            (earlier, here) == ("letter", "letter") and before in tuple(":.'"),
            (before, after) == ("number", "number") and here in tuple(",.'"),
            (earlier, here) == ("number", "number") and before in tuple(",.'"),
            (before, here) == ("katakana", "katakana"),
            before in (*alphanumeric, "katakana", "connector") and here == "connector",
            before == "connector" and here in (*alphanumeric, "katakana"),
        ]
    )


def plain_words(text: str) -> list[str]:
    """The parts between the places where no word goes on, if they have a letter, a digit or a symbol."""
    places = [0, *(place for place in range(1, len(text)) if not goes_on(text, place)), len(text)]
    parts = [text[start:end] for start, end in pairwise(places)]
    return [part for part in parts if any(character in WORDLIKE for character in part)]


@given(class_texts)
def test_words_equal_their_plain_twin(texts: list[str]) -> None:
    """Any classes in any order; a text with a character that needs more than these rules is left out."""
    encoded = encode_texts(texts)
    begins = np.zeros(len(encoded.code_points), np.bool_)
    says = np.zeros(0x110000, np.bool_)
    says[[ord(character) for character in WORDLIKE]] = True
    left_out = kernel.mark_words(*encoded, classes(), begins)
    tokens = Tokens(encoded.code_points, *kernel.take_words(*encoded, begins, says))

    assert left_out.tolist() == ["\u0301" in text for text in texts]
    for text in np.flatnonzero(~left_out).tolist():
        assert tokens.strings(text) == plain_words(texts[text])
