"""Guards: a plugin's batch component cannot hand arrays to compiled kernels that these must not trust."""

import re
from typing import Any

import numpy as np
import pytest

from hybriddup.data.records import CandidatePairs, Tokens, tokens_from_lists
from hybriddup.errors import PluginError
from hybriddup.plugin.registered import Owner
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import ROLES
from hybriddup.steps.verifiers import LeastInCommon
from hybriddup.steps.verifiers.judges import SingleJudge

LABEL = "(plugin 'noise' of hybriddup-noise 2.0)"
TOKENS = tokens_from_lists([["a", "bc"], ["d"]])


def guarded(role: str, **methods: Any) -> Any:
    """A class with these answers as a component that a packaged plugin brought."""
    registry = Registry()
    answers = {name: lambda *_, answer=answer: answer for name, answer in methods.items()}
    with registry.owned_by(Owner("noise", "hybriddup-noise", "2.0")):
        getattr(registry, f"add_{role}")("noisy", type("Noisy", (), answers))
    return registry.create_by_name(role, "noisy")  # type: ignore[arg-type]


def pairs(*chosen: tuple[int, int]) -> CandidatePairs:
    """Candidate pairs of these positions, without differing bits."""
    earlier, later = (np.array([pair[side] for pair in chosen], np.int64) for side in (0, 1))
    return CandidatePairs(earlier, later, np.zeros(len(chosen), np.int32))


@pytest.mark.parametrize(
    ("answer", "given"),
    [(["a"], "a list of 1"), (("a", "b"), "a tuple of 2"), ("ab", "a str"), (["a", 7], "a list with an int")],
)
def test_normalizer_returns_one_text_for_each(answer: object, given: str) -> None:
    """Number and type of the texts are checked."""
    message = f"normalizer 'noisy' {LABEL}: normalize_batch must return a list of 2 str; it returned {given}."
    with pytest.raises(PluginError) as caught:
        guarded("normalizer", normalize_batch=answer).normalize_batch(["a", "b"])

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (["a"], "tokenize_batch must return hybriddup.data.records.Tokens; it returned a list of 1."),
        (tokens_from_lists([["a"]]), "offsets must return int64[3], C-contiguous; it returned int64[2]."),
        (TOKENS._replace(starts=TOKENS.starts.astype(np.int32)), "starts must return int64[3], C-contiguous"),
        (TOKENS._replace(starts=TOKENS.starts + 2), "starts and lengths must return tokens inside code_points"),
        (TOKENS._replace(starts=TOKENS.starts - 1), "starts and lengths must return tokens inside code_points"),
        (TOKENS._replace(lengths=TOKENS.lengths - 1), "starts and lengths must return tokens inside code_points"),
        (TOKENS._replace(offsets=np.array([0, 3, 2])), "offsets must return numbers rising from 0 to 3"),
        (TOKENS._replace(code_points=TOKENS.code_points[::2]), "code_points must return uint32[2], C-contiguous"),
    ],
)
def test_tokens_lie_inside_their_code_points(answer: object, complaint: str) -> None:
    """A token outside would have a kernel read memory that is not its own."""
    with pytest.raises(PluginError) as caught:
        guarded("tokenizer", tokenize_batch=answer).tokenize_batch(["a", "b"])

    assert complaint in str(caught.value)


def test_right_tokens_pass() -> None:
    """What keeps the contract is handed on."""
    tokens: Tokens = guarded("tokenizer", tokenize_batch=TOKENS).tokenize_batch(["abc", "d"])

    assert tokens.strings(0) == ["a", "bc"]


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (np.ones(3), "float32[3], C-contiguous; it returned float64[3]"),
        (np.ones(2, np.float32), "float32[3], C-contiguous; it returned float32[2]"),
        ([1.0, 1.0, 1.0], "float32[3], C-contiguous; it returned a list of 3"),
        (np.array([1, -2, 3], np.float32), "weights above 0 and at most 1000; it returned [-2.0]"),
        (np.array([1, np.nan, 3], np.float32), "weights above 0 and at most 1000; it returned [nan]"),
    ],
)
def test_weights_have_shape_and_range(answer: object, complaint: str) -> None:
    """Sums of bits rely on both."""
    with pytest.raises(PluginError) as caught:
        guarded("weighter", fit=None, weigh_batch=answer).weigh_batch(TOKENS)

    assert str(caught.value) == f"weighter 'noisy' {LABEL}: weigh_batch must return {complaint}."


@pytest.mark.parametrize(
    "answer", [np.zeros((3, 1), np.uint64), np.zeros((3, 2), np.int64), np.zeros((2, 3), np.uint64).T, None]
)
def test_hashes_have_as_many_words_as_asked(answer: object) -> None:
    """Width, type and layout are checked."""
    with pytest.raises(PluginError, match=r"hash_batch must return uint64\[3, 2\], C-contiguous; it returned"):
        guarded("hasher", hash_batch=answer).hash_batch(TOKENS, 2)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (np.ones(1, np.float32), r"float64\[1\], C-contiguous; it returned float32\[1\]"),
        (np.array([1.01]), r"scores of at most 1\.0; it returned \[1\.01\]"),
        (np.array([np.nan]), r"scores of at most 1\.0; it returned \[nan\]"),
    ],
)
def test_scores_have_shape_and_range(answer: object, complaint: str) -> None:
    """A score may be a bound below its threshold, never above 1.0."""
    verifier = guarded("verifier", prepare=None, score_pairs=answer, max_partner_lengths=None)

    with pytest.raises(PluginError, match=complaint):
        verifier.score_pairs(pairs((0, 1)), np.array([0.8]))


@pytest.mark.parametrize("error", [SystemExit(3), ValueError("3")])
@pytest.mark.parametrize(
    ("role", "method", "arguments"),
    [
        ("normalizer", "normalize_batch", [["a"]]),
        ("weighter", "fit", [TOKENS]),
        ("weighter", "weigh_batch", [TOKENS]),
        ("verifier", "prepare", [None]),
        ("reader", "read", [None, None]),
        ("writer", "check", [[]]),
        ("writer", "write", [[], None, None]),
    ],
)
def test_what_a_component_raises_is_blamed_on_it(
    role: str, method: str, arguments: list[Any], error: BaseException
) -> None:
    """Though it means to end the program, at whatever call."""

    def fail(*_: object) -> None:
        raise error

    methods = {name: (fail if name == method else print) for name in ROLES[role].methods}
    registry = Registry()
    getattr(registry, f"add_{role}")("noisy", type("Noisy", (), {**methods, "extensions": ()}))
    component = registry.create_by_name(role, "noisy")  # type: ignore[arg-type]

    with pytest.raises(PluginError) as caught:
        list(getattr(component, method)(*arguments) or ())
    who = f"{role} 'noisy' (plugin 'the calling program', not packaged)"
    assert str(caught.value) == f"{who} failed in {method}: {type(error).__name__}: 3"


def test_attributes_of_the_component_are_reached_through_the_guard() -> None:
    """What the pipeline asks of a component, such as its recipe, is answered as if there were no guard."""
    tokenizer = guarded("tokenizer", tokenize_batch=TOKENS, recipe={"dictionary": "abc"})

    assert tokenizer.recipe() == {"dictionary": "abc"}
    with pytest.raises(AttributeError, match="nothing"):
        _ = tokenizer.nothing


def test_release_of_a_plugin_stands_for_a_component_without_recipe() -> None:
    """A plugin that cuts differently in its next release makes another recipe id."""
    tokenizer = guarded("tokenizer", tokenize_batch=TOKENS)

    assert tokenizer.recipe() == {"distribution": "hybriddup-noise", "version": "2.0"}


def test_built_ins_are_not_guarded() -> None:
    """They are tested instead, and nothing stands between them and the pipeline."""
    from hybriddup.plugin.manager import create_plugin_manager

    registry = create_plugin_manager(entry_points=False).registry

    assert type(registry.create_by_name("normalizer", "none")).__name__ == "NoNormalizer"


def test_tokenizer_that_does_not_say_holds_the_interpreter() -> None:
    """Left out, holds_interpreter is True: processes, which are right for any tokenizer."""
    assert guarded("tokenizer", tokenize_batch=TOKENS).holds_interpreter is True


def test_weighter_that_does_not_say_needs_no_fit() -> None:
    """Left out, needs_fit is False."""
    assert guarded("weighter", fit=None, weigh_batch=None).needs_fit is False


def test_what_a_component_says_goes_before_the_default() -> None:
    """The default stands only for what is left out."""
    registry = Registry()
    registry.add_tokenizer("says", type("Says", (), {"tokenize_batch": print, "holds_interpreter": False}))
    registry.add_weighter("says", type("Says", (), {"fit": print, "weigh_batch": print, "needs_fit": True}))

    assert registry.create_by_name("tokenizer", "says").holds_interpreter is False
    assert registry.create_by_name("weighter", "says").needs_fit is True


def test_default_hides_no_fault_of_a_property() -> None:
    """A property that trips over another attribute is not one that was left out."""
    registry = Registry()
    broken = property(lambda self: self.no_such_table is None)
    registry.add_weighter("broken", type("Broken", (), {"fit": print, "weigh_batch": print, "needs_fit": broken}))

    with pytest.raises(AttributeError, match="no_such_table"):
        _ = registry.create_by_name("weighter", "broken").needs_fit


def test_reader_without_extensions_is_named() -> None:
    """Which files it reads cannot be guessed."""
    with pytest.raises(PluginError) as caught:
        guarded("reader", read=None)

    assert str(caught.value).startswith(f"reader 'noisy' {LABEL} made <")
    assert str(caught.value).endswith("which has no extensions.")


# --- block indexes ---


def block_index(**methods: Any) -> Any:
    """A guarded block index with these methods, the others doing nothing."""
    others = dict.fromkeys(("probes", "prepare", "describe", "learn", "learned", "use_learned"))
    return guarded("block_index", **{"keys": None, **others, **methods})


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        ([[1], [2]], "a list of 2"),
        (np.zeros((3, 1), np.uint64), r"uint64\[3, 1\]"),
        (np.zeros((2, 1), np.int64), r"int64\[2, 1\]"),
        (np.zeros(2, np.uint64), r"uint64\[2\]"),
        (np.zeros((2, 4), np.uint64)[:, ::2], r"uint64\[2, 2\], not contiguous"),
    ],
)
@pytest.mark.parametrize("method", ["keys", "probes"])
def test_keys_are_words_of_each_text(method: str, answer: object, given: str) -> None:
    """Kernels read them as they are, so that their kind and shape are checked."""
    index, bits = block_index(**{method: answer}), np.zeros((2, 1), np.uint64)
    asked = {"keys": lambda: index.keys(["a", "b"], bits), "probes": lambda: index.probes(bits, bits)}

    with pytest.raises(PluginError, match=f"{method} must return uint64.*, C-contiguous; it returned {given}"):
        asked[method]()


def test_right_keys_pass() -> None:
    """Of any width, none at all among them."""
    for width in (0, 1, 5):
        keys = np.arange(2 * width, dtype=np.uint64).reshape(2, width)
        assert block_index(keys=keys).keys(["a", "b"], np.zeros((2, 1), np.uint64)).tolist() == keys.tolist()


def test_attributes_of_a_block_index_have_defaults() -> None:
    """Without limits, nothing promised, and looked up by its own keys."""
    index = block_index()
    assert (index.max_bucket_size, index.max_candidates, index.is_complete, index.probes_others) == (0, 0, False, False)


# --- what a verifier says that pairs have in common at least ---


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        (None, "None"),
        (0.5, "0.5"),
        ((0.5,), r"\(0\.5,\)"),
        ([0.5, 0.5], r"\[0\.5, 0\.5\]"),
        ((0.2, 0.2, 0.2), r"\(0\.2, 0\.2, 0\.2\)"),
        (("0.5", 0.5), r"\('0\.5', 0\.5\)"),
        ((-0.1, 0.5), r"\(-0\.1, 0\.5\)"),
        ((0.6, 0.5), r"\(0\.6, 0\.5\)"),
        ((float("nan"), 0.5), r"\(nan, 0\.5\)"),
        ((0.0, float("nan")), r"\(0\.0, nan\)"),
        ((float("inf"), 0.0), r"\(inf, 0\.0\)"),
    ],
)
def test_shares_in_common_have_a_range(answer: object, given: str) -> None:
    """Wrong ones would rule out pairs before anything could tell."""
    verifier = guarded("verifier", prepare=None, score_pairs=None, max_partner_lengths=None, least_in_common=answer)

    with pytest.raises(PluginError) as caught:
        verifier.least_in_common(0.8)

    assert LABEL in str(caught.value)
    assert "two shares of 0.0 or more, at most 1.0 together" in str(caught.value)
    assert re.search(f"it returned {given}", str(caught.value))


@pytest.mark.parametrize(
    "answer", [(0.0, 0.0), (0.4, 0.4), (0.0, 1.0), (1.0, 0.0), LeastInCommon(of_longer=0.8), (np.float64(0.5), 0.1)]
)
def test_right_shares_in_common_pass(answer: tuple[float, float]) -> None:
    """They reach the judge of a length band as they are."""
    verifier = guarded("verifier", prepare=None, score_pairs=None, max_partner_lengths=None, least_in_common=answer)
    assert verifier.least_in_common(0.8) == answer
    assert SingleJudge(verifier, 0, "noisy", 0.8).least_in_common() == answer


def test_verifier_that_does_not_tell_rules_nothing_out() -> None:
    """Most cannot say."""
    verifier = guarded("verifier", prepare=None, score_pairs=None, max_partner_lengths=None)
    assert verifier.least_in_common(0.8) == (0.0, 0.0)
