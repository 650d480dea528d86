"""Measures of right and wrong answers about pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from hybriddup.config import open_session
from hybriddup.data.records import LabeledPairs
from hybriddup.study.evaluate import Evaluation, Measures, evaluate

TEXTS = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗", "明天下雨吗，要不要带伞出门"]


@given(answers=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_measures_equal_those_of_scikit_learn(answers: list[tuple[bool, bool]]) -> None:
    """Where it would divide by zero, ours are None."""
    found, labels = (np.array(column, np.bool_) for column in zip(*answers, strict=True))
    measures = Measures.of(found, labels)
    pairs = ((measures.precision, precision_score), (measures.recall, recall_score), (measures.f1, f1_score))
    for ours, theirs in pairs:
        expected = theirs(labels, found, zero_division=np.nan)
        assert ours is None if np.isnan(expected) else ours == pytest.approx(expected)


def judged(pairs: list[tuple[str, str]], labels: list[bool], config: object = "weibo") -> Evaluation:
    settings, manager = open_session(config)  # type: ignore[arg-type]
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    return evaluate(LabeledPairs(a, b, np.array(labels, np.bool_)), settings, manager.registry, workers=1)


def test_the_order_of_a_pair_does_not_matter() -> None:
    pairs = [(TEXTS[0], TEXTS[1]), (TEXTS[1], TEXTS[0]), (TEXTS[0], TEXTS[2]), (TEXTS[2], TEXTS[0])]
    assert judged(pairs, [True, True, False, False]).total.decision.f1 == 1.0


def test_no_pairs_have_no_measures() -> None:
    total = judged([], []).total
    assert (total.n_pairs, total.decision.precision, total.decision.recall) == (0, None, None)


def test_texts_without_tokens_match_only_themselves() -> None:
    """As in a run: what is equal after normalizing must also say something."""
    pairs = [("@someone", "@somebody"), ("@someone", "@someone"), ("", "")]
    assert judged(pairs, [False, True, True], {"without_text": "compare"}).total.decision.f1 == 1.0
    assert judged(pairs, [False, False, False]).total.decision.n_found == 0


def test_numbers_that_must_match_part_pairs_in_the_decision_only() -> None:
    pair = ("今天全市新增确诊病例10例，均为境外输入", "今天全市新增确诊病例12例，均为境外输入")
    total = judged([pair], [False], {"must_agree": ["numbers"]}).total
    assert (total.stage_1.n_found, total.decision.n_found) == (1, 0)
