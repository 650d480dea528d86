"""Checks: a plugin's batch component cannot hand arrays to compiled kernels that these must not trust."""

from collections.abc import Callable
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


changed = TOKENS._replace
NAN, INF = float("nan"), float("inf")
KEYS = ("keys", "probes")
WIDE = np.zeros((2, 4), np.uint64)[:, ::2]
SHARES = "two shares of 0.0 or more, at most 1.0 together"
BITS = np.zeros((2, 1), np.uint64)

ASKED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "normalize_batch": ("normalizer", lambda component: component.normalize_batch(["a", "b"])),
    "tokenize_batch": ("tokenizer", lambda component: component.tokenize_batch(["a", "b"])),
    "weigh_batch": ("weighter", lambda component: component.weigh_batch(TOKENS)),
    "hash_batch": ("hasher", lambda component: component.hash_batch(TOKENS, 2)),
    "score_pairs": ("verifier", lambda component: component.score_pairs(pairs((0, 1)), np.array([0.8]))),
    "least_in_common": ("verifier", lambda component: component.least_in_common(0.8)),
    "keys": ("block_index", lambda component: component.keys(["a", "b"], BITS)),
    "probes": ("block_index", lambda component: component.probes(BITS, BITS)),
}
"""The role of each method, and how the pipeline calls it."""


@pytest.mark.parametrize(
    ("method", "answer", "complaint"),
    [
        ("normalize_batch", ["a"], "a list of 2 str; it returned a list of 1."),
        ("normalize_batch", ("a", "b"), "a list of 2 str; it returned a tuple of 2."),
        ("normalize_batch", "ab", "a list of 2 str; it returned a str."),
        ("normalize_batch", ["a", 7], "a list of 2 str; it returned a list with an int."),
        ("tokenize_batch", ["a"], "hybriddup.data.records.Tokens; it returned a list of 1."),
        ("tokenize_batch: offsets", tokens_from_lists([["a"]]), "int64[3], C-contiguous; it returned int64[2]."),
        ("tokenize_batch: starts", changed(starts=TOKENS.starts.astype(np.int32)), "int64[3], C-contiguous"),
        ("tokenize_batch: starts and lengths", changed(starts=TOKENS.starts + 1), "tokens inside code_points"),
        ("tokenize_batch: starts and lengths", changed(starts=TOKENS.starts - 1), "tokens inside code_points"),
        ("tokenize_batch: starts and lengths", changed(lengths=TOKENS.lengths - 1), "tokens inside code_points"),
        ("tokenize_batch: offsets", changed(offsets=np.array([0, 3, 2])), "ascending numbers from 0 to 3; "),
        ("tokenize_batch: offsets", changed(offsets=np.array([1, 2, 3])), "ascending numbers from 0 to 3; "),
        ("tokenize_batch: code_points", changed(code_points=TOKENS.code_points[::2]), "uint32[2], C-contiguous"),
        ("weigh_batch", np.ones(3), "float32[3], C-contiguous; it returned float64[3]."),
        ("weigh_batch", np.ones(2, np.float32), "float32[3], C-contiguous; it returned float32[2]."),
        ("weigh_batch", [1.0] * 3, "float32[3], C-contiguous; it returned a list of 3."),
        ("weigh_batch", np.array([1, -2, 3], np.float32), "weights above 0 and at most 1000; it returned [-2.0]."),
        ("weigh_batch", np.array([1, 0, 3], np.float32), "weights above 0 and at most 1000; it returned [0.0]."),
        ("weigh_batch", np.array([1, NAN, 3], np.float32), "weights above 0 and at most 1000; it returned [nan]."),
        ("hash_batch", np.zeros((3, 1), np.uint64), "uint64[3, 2], C-contiguous; it returned uint64[3, 1]."),
        ("hash_batch", np.zeros((3, 2), np.int64), "uint64[3, 2], C-contiguous; it returned int64[3, 2]."),
        ("hash_batch", np.zeros((2, 3), np.uint64).T, "uint64[3, 2], C-contiguous; it returned uint64[3, 2], not cont"),
        ("hash_batch", None, "uint64[3, 2], C-contiguous; it returned None."),
        ("score_pairs", np.ones(1, np.float32), "float64[1], C-contiguous; it returned float32[1]."),
        ("score_pairs", np.array([1.01]), "scores of at most 1.0; it returned [1.01]."),
        ("score_pairs", np.array([NAN]), "scores of at most 1.0; it returned [nan]."),
        *((method, [[1], [2]], "uint64[2, 1], C-contiguous; it returned a list of 2.") for method in KEYS),
        *((method, np.zeros((3, 1), np.uint64), "uint64[2, 1], C-contiguous; it returned uint64[3") for method in KEYS),
        *((method, np.zeros((2, 1), np.int64), "uint64[2, 1], C-contiguous; it returned int64[2") for method in KEYS),
        *((method, np.zeros(2, np.uint64), "uint64[2, 1], C-contiguous; it returned uint64[2].") for method in KEYS),
        *((method, WIDE, "uint64[2, 2], C-contiguous; it returned uint64[2, 2], not contiguous.") for method in KEYS),
        *(
            ("least_in_common", answer, f"{SHARES}; it returned {answer}.")
            for answer in (
                None, 0.5, (0.5,), [0.5, 0.5], (0.2, 0.2, 0.2), ("0.5", 0.5), (-0.1, 0.5), (0.6, 0.5), (NAN, 0.5),
                (0.0, NAN), (INF, 0.0),
            )
        ),
    ],
)  # fmt: skip
def test_answer_that_breaks_the_contract_of_its_role_is_named(method: str, answer: object, complaint: str) -> None:
    role, ask = ASKED[method.partition(":")[0]]
    others = dict.fromkeys(ROLES[role].methods)
    with pytest.raises(PluginError) as caught:
        ask(guarded(role, **others | {method.partition(":")[0]: answer}))
    who = f"{role.replace('_', ' ')} 'noisy' {LABEL}"
    assert str(caught.value).startswith(f"{who}: {method} must return {complaint}")


def test_right_tokens_pass() -> None:
    tokens: Tokens = guarded("tokenizer", tokenize_batch=TOKENS).tokenize_batch(["abc", "d"])
    assert tokens.strings(0) == ["a", "bc"]


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit("3"), ValueError("3")], ids=repr)
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
    who = f"{role} 'noisy' (plugin 'the calling program' of no package)"
    assert str(caught.value) == f"{who} failed in {method}: {type(error).__name__}: 3"


def test_batches_that_nobody_takes_are_no_fault_of_the_reader() -> None:
    batches = guarded("reader", read=iter("abc"), extensions=()).read(None, None)
    assert next(batches) == "a"
    batches.close()
    assert list(guarded("reader", read=["a", "b"], extensions=()).read(None, None)) == ["a", "b"]


def test_attributes_of_the_component_are_reached_through_the_guard() -> None:
    tokenizer = guarded("tokenizer", tokenize_batch=TOKENS, recipe={"dictionary": "abc"})
    assert tokenizer.recipe() == {"dictionary": "abc"}
    with pytest.raises(AttributeError, match="nothing"):
        _ = tokenizer.nothing


def test_release_of_a_plugin_stands_for_a_component_without_recipe() -> None:
    tokenizer = guarded("tokenizer", tokenize_batch=TOKENS)
    assert tokenizer.recipe() == {"distribution": "hybriddup-noise", "version": "2.0"}


def test_built_ins_are_not_guarded() -> None:
    from hybriddup.plugin.manager import create_plugin_manager

    registry = create_plugin_manager(entry_points=False).registry
    assert type(registry.create_by_name("normalizer", "none")).__name__ == "NoNormalizer"


@pytest.mark.parametrize(
    ("role", "attribute", "default"),
    [
        ("tokenizer", "holds_interpreter", True),
        ("weighter", "needs_fit", False),
        ("block_index", "max_bucket_size", 0),
        ("block_index", "max_candidates", 0),
        ("block_index", "is_complete", False),
        ("block_index", "probes_others", False),
    ],
)
def test_attribute_that_is_left_out_has_a_default(role: str, attribute: str, default: object) -> None:
    assert getattr(guarded(role, **dict.fromkeys(ROLES[role].methods)), attribute) is default


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


def test_right_keys_pass() -> None:
    for width in (0, 1, 5):
        keys = np.arange(2 * width, dtype=np.uint64).reshape(2, width)
        assert block_index(keys=keys).keys(["a", "b"], np.zeros((2, 1), np.uint64)).tolist() == keys.tolist()


def test_a_plugin_need_not_know_of_scopes() -> None:
    seen: list[Any] = []
    unaware, aware, scopes = block_index(), block_index(learn_within=None), np.zeros(1, np.int64)
    unaware.part.learn, aware.part.learn_within = seen.append, lambda *given: seen.append(given)
    unaware.learn_within(["a"], scopes)
    aware.learn_within(["b"], scopes)
    assert seen == [["a"], (["b"], scopes)]


# --- what a verifier says that pairs have in common at least ---


@pytest.mark.parametrize(
    "answer", [(0.0, 0.0), (0.4, 0.4), (0.0, 1.0), (1.0, 0.0), LeastInCommon(of_longer=0.8), (np.float64(0.5), 0.1)]
)
def test_right_shares_in_common_pass(answer: tuple[float, float]) -> None:
    verifier = guarded("verifier", prepare=None, score_pairs=None, max_partner_lengths=None, least_in_common=answer)
    assert verifier.least_in_common(0.8) == answer
    assert SingleJudge(verifier, 0, "noisy", 0.8).least_in_common() == answer


def test_verifier_that_does_not_tell_rules_nothing_out() -> None:
    verifier = guarded("verifier", prepare=None, score_pairs=None, max_partner_lengths=None)
    assert SingleJudge(verifier, 0, "noisy", 0.8).least_in_common() == (0.0, 0.0)
