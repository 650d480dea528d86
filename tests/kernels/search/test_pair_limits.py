"""The shortest text that one may match, by looking at every text; and classes of lengths."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.search.pair_limits import length_class, shortest_partners
from tests.inner_kernels import from_python

LONGEST = 25


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 60)), max_size=12))
def test_the_shortest_partner_is_the_shortest_text_that_reaches(texts: list[tuple[int, int]]) -> None:
    columns = np.array(texts, np.int32).reshape(-1, 2).T
    expected = [
        min((own for own, reach in texts if own <= length <= reach), default=length) for length in range(LONGEST + 1)
    ]
    assert shortest_partners(*columns, LONGEST).tolist() == expected


def test_classes_of_lengths_never_fall_and_hold_a_sixteenth_each() -> None:
    lengths = [*range(5000), *(2**doublings + more for doublings in range(13, 31) for more in (-1, 0, 1))]
    classes = [int(from_python(length_class)(length)) for length in lengths]
    assert classes[:32] == list(range(32))
    assert classes == sorted(classes)
    assert classes[-1] == 255
    first_of = dict(zip(reversed(classes), reversed(lengths), strict=True))
    assert all(
        length < first_of[number] * 17 / 16 for length, number in zip(lengths, classes, strict=True) if 0 < number < 255
    )
