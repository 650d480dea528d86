"""What is said of wrong options: a place, what is allowed there, and what was given."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import AfterValidator, BaseModel, Field

import hybriddup
from hybriddup.steps.options import describe, parse_options, quote, spell, suggest


def check_even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Everything(hybriddup.Options):
    """An option of every kind."""

    number: int = Field(1, ge=0, le=9)
    share: float = Field(0.5, gt=0, lt=1)
    least: int = Field(1, ge=1)
    below: float = Field(1.0, lt=5)
    step: int = Field(64, multiple_of=64)
    flag: bool = False
    text: str = "a"
    shape: str = Field("a", pattern="^[ab]$")
    choice: Literal["keep", "drop"] = "keep"
    single: Literal["only"] = "only"
    color: Color = Color.RED
    maybe: int | None = None
    either: int | str = 1
    pair: tuple[int, int] = (1, 2)
    many: list[str] = Field(["a"], min_length=1)
    table: dict[str, int] = Field(default_factory=dict)
    path: Path | None = None
    even: Annotated[int, AfterValidator(check_even)] = 2


def fault(**given: Any) -> str:
    """What is said of one wrong option of a tokenizer."""
    faults = parse_options(Everything, given, ("tokenizer",))
    assert isinstance(faults, list)
    return "\n".join(one.message for one in faults)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"number": 10}, "tokenizer.number must be an int in [0, 9]; got 10."),
        ({"number": "3"}, "tokenizer.number must be an int in [0, 9]; got '3'."),
        ({"number": 3.5}, "tokenizer.number must be an int in [0, 9]; got 3.5."),
        ({"number": True}, "tokenizer.number must be an int in [0, 9]; got true."),
        ({"number": None}, "tokenizer.number must be an int in [0, 9]; got null."),
        ({"share": 1}, "tokenizer.share must be a number in (0, 1); got 1."),
        ({"share": float("nan")}, "tokenizer.share must be a number in (0, 1); got NaN."),
        ({"least": 0}, "tokenizer.least must be an int of at least 1; got 0."),
        ({"below": 5}, "tokenizer.below must be a number below 5; got 5."),
        ({"step": 65}, "tokenizer.step must be a multiple of 64; got 65."),
        ({"flag": 1}, "tokenizer.flag must be true or false; got 1."),
        ({"flag": "yes"}, "tokenizer.flag must be true or false; got 'yes'."),
        ({"text": 7}, "tokenizer.text must be text; got 7."),
        ({"shape": "c"}, "tokenizer.shape must be text that matches ^[ab]$; got 'c'."),
        ({"choice": "Keep"}, "tokenizer.choice must be 'keep' or 'drop'; got 'Keep'."),
        ({"single": "other"}, "tokenizer.single must be 'only'; got 'other'."),
        ({"color": "green"}, "tokenizer.color must be 'red' or 'blue'; got 'green'."),
        ({"maybe": "x"}, "tokenizer.maybe must be an int; got 'x'."),
        ({"either": 1.5}, "tokenizer.either must be an int or text; got 1.5."),
        ({"pair": 3}, "tokenizer.pair must be a list of 2 items, each item an int; got 3."),
        ({"pair": [1, "b"]}, "tokenizer.pair[1] must be an int; got 'b'."),
        ({"pair": [1]}, "tokenizer.pair[1] is missing; it must be an int."),
        ({"pair": [1, 2, 3]}, "tokenizer.pair must be a list of 2 items, each item an int; got [1, 2, 3]."),
        ({"many": []}, "tokenizer.many must be a list of at least 1, each item text; got []."),
        ({"many": ["a", 1]}, "tokenizer.many[1] must be text; got 1."),
        ({"table": []}, "tokenizer.table must be a mapping; got []."),
        ({"path": 3}, "tokenizer.path must be text; got 3."),
        ({"even": 3}, "tokenizer.even must be even; got 3."),
        ({"nubmer": 3}, "tokenizer.nubmer is not a key here. Did you mean 'number'? (allowed: number, share, least, "),
    ],
)
def test_wrong_option_says_place_and_range_and_value(given: dict[str, Any], message: str) -> None:
    assert fault(**given).startswith(message)


def test_options_are_read_as_json_would_be() -> None:
    """Lists serve for tuples, and the numbers and paths of Python for those of a file."""
    parsed = parse_options(Everything, {"pair": [3, 4], "number": np.int64(5), "path": Path("words.txt")})
    assert isinstance(parsed, Everything)
    assert (parsed.pair, parsed.number, parsed.path) == ((3, 4), 5, Path("words.txt"))


def test_option_that_no_file_could_hold_is_refused() -> None:
    """An object of Python is no option, even where the model would take it."""
    assert fault(table={"a": {1, 2}}) == ("tokenizer must be made of plain data as in YAML: {1, 2} is of type set.")


def test_message_of_a_rule_across_options_stands_at_the_component() -> None:
    from pydantic import model_validator

    class Range(hybriddup.Options):
        low: int = 1
        high: int = 2

        @model_validator(mode="after")
        def _check(self) -> "Range":
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    faults = parse_options(Range, {"low": 3}, ("weighter",))

    assert isinstance(faults, list)
    assert [one.message for one in faults] == ["weighter: low is above high."]


def test_options_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Everything().number = 2  # type: ignore[misc]


def test_path_is_spelled_as_people_write_it() -> None:
    assert spell(("lengths", 1, "verifier", "all", 0, "use")) == "lengths[1].verifier.all[0].use"


@pytest.mark.parametrize(
    ("value", "quoted"), [("a", "'a'"), (True, "true"), (None, "null"), ([1, "中"], '[1, "中"]'), ({1}, "{1}")]
)
def test_value_is_quoted_as_yaml_would_write_it(value: object, quoted: str) -> None:
    assert quote(value) == quoted


def test_long_value_is_cut() -> None:
    assert len(quote("x" * 1000)) == 60


def test_suggestion_is_made_only_where_a_name_is_near() -> None:
    """A guess far off would mislead."""
    assert suggest("jeiba", ["jieba", "words"]) == " Did you mean 'jieba'?"
    assert suggest("redis", ["jieba", "words"]) == ""


def test_schema_without_type_is_described_all_the_same() -> None:
    class Anything(BaseModel):
        value: Any

    assert describe(Anything.model_json_schema()["properties"]["value"], {}) == "something else"
