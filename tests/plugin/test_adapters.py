"""Adapters: a plain function becomes a batch component; an answer that breaks its contract is an error with a name."""

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import NO_KEY, CandidatePairs, tokens_from_lists
from hybriddup.errors import InputError, PluginError
from hybriddup.plugin.registered import Owner
from hybriddup.plugin.registry import Registry
from tests.builders import examples

LABEL = "(plugin 'noise' of hybriddup-noise 2.0)"


def adapted(role: str, function: Callable[..., Any]) -> Any:
    """The function as a batch component, brought by a packaged plugin."""
    registry = Registry()
    with registry.owned_by(Owner("noise", "hybriddup-noise", "2.0")):
        getattr(registry, f"add_{role}")("noisy", function)
    return registry.create_by_name(role, "noisy")  # type: ignore[arg-type]


def returning(answer: Any) -> Callable[..., Any]:
    return lambda *_: answer


def error_of(call: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(PluginError) as caught:
        call(*arguments)
    return str(caught.value)


def pair() -> CandidatePairs:
    return CandidatePairs(np.array([0]), np.array([1]), np.array([5], np.int32))


def verifier(function: Callable[[str, str], Any]) -> Any:
    component = adapted("verifier", function)
    component.prepare(SimpleNamespace(texts=["one", "two"]))
    return component


WRONG: dict[str, dict[str, object]] = {
    "normalizer": {"None": None, "an int": 7, "a list": ["a"], "a bytes": b"a"},
    "tokenizer": {
        "a str": "a b", "a bytes": b"a b", "None": None, "a dict": {"a": 1}, "a list with an int": ["a", 7],
        "a set, whose order changes from run to run": {"a"}, "a list with None": ["a", None], "an int": 7,
    },
    "weighter": {
        "1 weights for 2 tokens": [1.0], "a weight of nan": [1.0, float("nan")], "a weight of -1.0": [1.0, -1.0],
        "a weight of 0": [1.0, 0], "a weight of 1e-60": [1.0, 1e-60], "a weight of 1000.5": [1.0, 1000.5],
        "a weight of inf": [1.0, float("inf")], "a weight of '2'": [1.0, "2"], "None": None, "a float": 1.5,
        "a dict": {"big": 1.0},
    },
    "hasher": {"-1": -1, str(2**64): 2**64, "a float": 1.5, "None": None, "True": True},
    "verifier": {"1.5": 1.5, "-0.1": -0.1, "nan": float("nan"), "inf": float("inf"), "None": None, "a str": "1"},
    "block_index": {
        "None": None, "a str": "ab", "a set": {1}, "a key of 1.5": [1.5], "a key of True": [True], "a key of -1": [-1],
        "a key of 18446744073709551615": [2**64 - 1],
    },
}  # fmt: skip
"""Answers that break the contract of a role, by what is said of each."""
ALLOWED = {
    "normalizer": "a str; for 'good day'",
    "tokenizer": "a list of str; for 'good day'",
    "weighter": "one weight per token, each a number above 0 and at most 1000; for ['big', 'cat']",
    "hasher": "an int from 0 to 2**64 - 1; for 'a', 64",
    "verifier": "a number from 0.0 to 1.0; for 'one', 'two'",
    "block_index": "a list of ints from 0 to 2**64 - 2; for 'a'",
}
ASKED: dict[str, Callable[[Any], Any]] = {
    "normalizer": lambda answer: adapted("normalizer", answer).normalize_batch(["good day"]),
    "tokenizer": lambda answer: adapted("tokenizer", answer).tokenize_batch(["good day"]),
    "weighter": lambda answer: adapted("weighter", answer).weigh_batch(tokens_from_lists([["big", "cat"]])),
    "hasher": lambda answer: adapted("hasher", answer).hash_batch(tokens_from_lists([["a"]]), 1),
    "verifier": lambda answer: verifier(answer).score_pairs(pair(), np.array([0.8])),
    "block_index": lambda answer: adapted("block_index", answer).keys(["a"], np.zeros((1, 1), np.uint64)),
}


@pytest.mark.parametrize(("role", "given"), [(role, given) for role, answers in WRONG.items() for given in answers])
def test_function_that_breaks_the_contract_of_its_role_is_named(role: str, given: str) -> None:
    message = error_of(ASKED[role], returning(WRONG[role][given]))
    who = f"{role.replace('_', ' ')} 'noisy' {LABEL}"
    assert message == f"{who} must return {ALLOWED[role]} it returned {given}."


@pytest.mark.parametrize("role", ["normalizer", "tokenizer", "weighter", "hasher"])
def test_adapted_function_holds_the_interpreter(role: str) -> None:
    """More workers for a Python function means more processes."""
    assert adapted(role, returning("")).holds_interpreter is True


def test_normalizer_function_answers_in_order() -> None:
    assert adapted("normalizer", str.upper).normalize_batch(["b", "", "a"]) == ["B", "", "A"]


@pytest.mark.parametrize(
    "tokenize", [str.split, lambda text: tuple(text.split()), lambda text: (token for token in text.split())]
)
def test_tokenizer_may_return_any_ordered_tokens(tokenize: Callable[[str], Any]) -> None:
    """A list, a tuple and a generator serve alike; empty tokens are left out."""
    tokens = adapted("tokenizer", tokenize).tokenize_batch(["big cat", ""])
    assert [tokens.strings(text) for text in range(2)] == [["big", "cat"], []]


def fail_at_once(error: BaseException, text: str) -> list[str]:
    raise error


def fail_in_the_middle(error: BaseException, text: str) -> Iterator[str]:
    yield text[:1]
    raise error


@pytest.mark.parametrize("fail", [fail_at_once, fail_in_the_middle])
@pytest.mark.parametrize(
    "error",
    [KeyError("x"), SystemExit(3), GeneratorExit("x"), BaseException("x"), InputError("not mine"), KeyboardInterrupt()],
    ids=repr,
)
def test_exception_of_a_function_is_named_and_chained_unless_it_is_of_our_own_family(
    error: BaseException, fail: Callable[..., Any]
) -> None:
    """Though it means to end the program; the text is shown, cut short, and a lone surrogate in it can be printed."""
    with pytest.raises((PluginError, InputError, KeyboardInterrupt)) as caught:
        adapted("tokenizer", partial(fail, error)).tokenize_batch(["\ud83d" + "x" * 100])
    message = str(caught.value)
    if isinstance(error, (InputError, KeyboardInterrupt)):
        assert caught.value is error
        return
    assert message.startswith(f"tokenizer 'noisy' {LABEL} failed on '\\ud83dxxx")
    assert message.endswith(f"...: {type(error).__name__}: {error}")
    assert message.encode()
    assert caught.value.__cause__ is error


def test_weighter_function_weighs_each_token_of_each_text() -> None:
    weigh = adapted("weighter", lambda tokens: list(map(len, tokens))).weigh_batch
    weights = weigh(tokens_from_lists([["big", "cats"], [], ["a"]]))
    assert (weights.dtype, weights.tolist()) == (np.float32, [3.0, 4.0, 1.0])


@examples(50)
@given(number=st.integers(0, 2**192 - 1), words=st.just(3))
def test_hash_of_a_function_is_spread_over_words_lowest_first(number: int, words: int) -> None:
    hashes = adapted("hasher", returning(number)).hash_batch(tokens_from_lists([["a"]]), words)
    assert sum(int(word) << (64 * place) for place, word in enumerate(hashes[0])) == number


def test_hasher_function_hashes_each_token_as_a_whole() -> None:
    tokens = tokens_from_lists([["ab", "a"], ["abc", "ab", "b"]])
    hashes = adapted("hasher", lambda token, bits: bits + len(token)).hash_batch(tokens, 1)
    assert hashes.ravel().tolist() == [66, 65, 67, 66, 65]


def test_verifier_function_sees_the_earlier_text_first() -> None:
    component = verifier(lambda a, b: 0.25 if (a, b) == ("one", "two") else 0.5)
    assert component.score_pairs(pair(), np.array([0.0])).tolist() == [0.25]


def test_score_on_the_threshold_is_not_lost_to_rounding() -> None:
    """1 - 0.9 counts as 0.1, though floating point makes it a little less."""
    assert 1 - 0.9 < 0.1
    component = verifier(returning(1 - 0.9))
    assert component.score_pairs(pair(), np.array([0.1])).tolist() == [0.1]


@pytest.mark.parametrize("threshold", [1 / 3, 0.3333333333333333, 2 / 3, 0.1234567890123456])
def test_threshold_of_many_decimals_is_inclusive(threshold: float) -> None:
    """A score equal to it reaches it, though rounding the score alone could put it below."""
    component = verifier(returning(threshold))
    assert component.score_pairs(pair(), np.array([threshold]))[0] >= threshold


def test_verifier_function_rules_nothing_out_by_length() -> None:
    """Of a plain function nothing is known, so no pair may be left out for its lengths."""
    bounds = verifier(returning(1.0)).max_partner_lengths(np.array([1, 20], np.int32), 0.8)
    assert (bounds.dtype, bounds.tolist()) == (np.int32, [2**31 - 1] * 2)


def test_keys_of_a_function_are_those_of_each_text_once() -> None:
    """As long as the longest list, `NO_KEY` filling up; what a list has twice stands there once."""
    index = adapted("block_index", lambda text: [len(text), *map(ord, text)])
    keys = index.keys(["aa", "", "abc"], np.zeros((3, 1), np.uint64))
    assert keys.dtype == np.uint64
    assert keys.tolist() == [[2, 97, NO_KEY, NO_KEY], [0, NO_KEY, NO_KEY, NO_KEY], [3, 97, 98, 99]]


def test_no_text_and_no_keys_are_no_special_case() -> None:
    index = adapted("block_index", returning([]))
    assert index.keys([], np.zeros((0, 1), np.uint64)).shape == (0, 1)
    assert index.keys(["a"], np.zeros((1, 1), np.uint64)).tolist() == [[NO_KEY]]


def test_keys_of_a_function_are_made_of_the_text_alone() -> None:
    index = adapted("block_index", returning([1]))
    index.prepare(64, 3)
    index.learn(["a"])
    index.use_learned(index.learned())
    assert (index.is_complete, index.probes_others) == (False, False)
    assert index.describe() == f"block index 'noisy' {LABEL}"


def test_recipe_of_a_callable_object_is_passed_on() -> None:
    class Dictionary:
        def __call__(self, text: str) -> list[str]:
            return [text]

        def recipe(self) -> dict[str, str]:
            return {"dictionary": "abc"}

    assert adapted("tokenizer", Dictionary).recipe() == {"dictionary": "abc"}
