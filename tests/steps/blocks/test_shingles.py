"""`shingles`: the keys of a text are its first shingles, and what is learned goes on in another instance."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY
from hybriddup.errors import ConfigError
from hybriddup.steps.blocks import count_shared
from hybriddup.steps.blocks.shingles import COMMON, Shingles

TEXT = "你妈妈喊你回家吃饭哦，回家罗回家罗"
OTHERS = [f"转发微博 第{number}条 {chr(0x4E00 + 7 * number)}{chr(0x5E00 + 11 * number)}" for number in range(30)]


def make_shingles(**options: int) -> Shingles:
    index = Shingles(Shingles.Options.model_validate(options))
    index.prepare(128, 40)
    return index


def keys_of(index: Shingles, *texts: str) -> NDArray[np.uint64]:
    return index.keys(texts, np.zeros((len(texts), 2), np.uint64))


def test_a_text_has_as_many_keys_as_asked_for() -> None:
    keys = keys_of(make_shingles(n_shingles=5), TEXT, "")
    assert keys.shape == (2, 5)
    assert keys[0].tolist() == sorted(set(keys[0].tolist()))
    assert keys[1].tolist() == [NO_KEY] * 5


def test_limits_are_those_of_the_options() -> None:
    """Zero stands for all; nothing is promised, and texts are looked up by their own keys."""
    index = make_shingles(max_bucket_size=7, max_candidates=0)
    assert (index.max_bucket_size, index.max_candidates) == (7, 0)
    assert (index.is_complete, index.probes_others) == (False, False)
    assert index.describe() == "shingles: 16 of each text, 12 of one in Han"


def test_an_edited_copy_shares_keys() -> None:
    keys = keys_of(make_shingles(), TEXT, TEXT.replace("喊", "叫"), "明天下雨吗，要不要带伞出门")
    assert count_shared(keys[0], keys[1]) >= 5
    assert count_shared(keys[0], keys[2]) == 0


def test_what_many_texts_have_is_no_key_where_there_is_another() -> None:
    before, after = make_shingles(n_shingles=3), make_shingles(n_shingles=3)
    after.learn(OTHERS)
    shared = [count_shared(*keys_of(index, *OTHERS[:2])) for index in (before, after)]
    assert shared[0] > shared[1] == 0


def test_learned_shingles_go_on_in_another_instance() -> None:
    index, other = make_shingles(), make_shingles()
    index.learn(OTHERS)
    assert keys_of(index, *OTHERS).tolist() != keys_of(other, *OTHERS).tolist()
    other.use_learned({name: array.copy() for name, array in index.learned().items()})
    assert keys_of(index, *OTHERS).tolist() == keys_of(other, *OTHERS).tolist()


@pytest.mark.parametrize(
    "learned",
    [{}, {COMMON: np.zeros(5, np.uint32)}, {COMMON: np.zeros(2**15, np.uint64)}],
    ids=["nothing", "another size", "another type"],
)
def test_learned_shingles_of_another_version_are_refused(learned: dict[str, NDArray[np.uint32]]) -> None:
    """They would be read as something that they are not."""
    with pytest.raises(ConfigError, match=r"from another version of hybriddup\. Learn the recipe anew\."):
        make_shingles().use_learned(learned)


def test_only_the_beginning_of_a_long_text_is_learned_from() -> None:
    beginnings = [chr(0x5000 + number) for number in range(30)]
    within, after = make_shingles(n_shingles=3), make_shingles(n_shingles=3)
    within.learn([one + TEXT[:3] + one for one in beginnings])
    after.learn(["一" * 2048 + one + TEXT[:3] + one for one in beginnings])
    assert keys_of(after, TEXT[:5]).tolist() == keys_of(make_shingles(n_shingles=3), TEXT[:5]).tolist()
    assert keys_of(within, TEXT[:5]).tolist() != keys_of(after, TEXT[:5]).tolist()


def test_copies_of_a_text_make_none_of_its_shingles_common() -> None:
    index = make_shingles()
    index.learn([f"{TEXT}{TEXT[::-1]}{other}" for other in OTHERS])
    assert keys_of(index, TEXT).tolist() == keys_of(make_shingles(), TEXT).tolist()


def test_a_text_of_common_shingles_has_some_of_them_as_keys() -> None:
    """Next to its rare ones, which another text with the same words need not have."""
    index, words = make_shingles(n_shingles=8), "早上好今天又是新的一天大家加油"
    index.learn(
        [f"{one}{words[at : at + 3]}{one}" for at in range(len(words) - 2) for one in map(chr, range(0x5000, 0x5020))]
    )
    keys = keys_of(index, words + "春眠不觉晓", words + "处处闻啼鸟")
    assert count_shared(*keys) >= 2


def test_what_is_common_in_no_scope_is_not_common() -> None:
    """Texts of several scopes are never compared, so that none is in the way of another."""
    alone, together = make_shingles(n_shingles=3), make_shingles(n_shingles=3)
    alone.learn_within(OTHERS, np.arange(len(OTHERS)))
    together.learn_within(OTHERS, np.zeros(len(OTHERS), np.int64))
    new = keys_of(make_shingles(n_shingles=3), *OTHERS).tolist()
    assert keys_of(alone, *OTHERS).tolist() == new != keys_of(together, *OTHERS).tolist()
