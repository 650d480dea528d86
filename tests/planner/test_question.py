"""What may be asked, and the messages where it may not."""

from __future__ import annotations

import pytest

from hybriddup.errors import ConfigError
from hybriddup.planner.question import make_question


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"n_posts": 2**31}, "--posts must be at most 2,147,483,647, because rows are numbered with 32 bits"),
        ({"bits": 65}, "--bits must be a multiple of 64 from 64 to 512; got 65."),
        ({"bits": 0}, "--bits must be a multiple of 64 from 64 to 512; got 0."),
        ({"bits": 576}, "--bits must be a multiple of 64 from 64 to 512; got 576."),
        ({"recall": 0.0}, "--recall must be above 0 and at most 1; got 0."),
        ({"recall": 1.01}, "--recall must be above 0 and at most 1; got 1.01."),
        ({"recall": float("nan")}, "--recall must be above 0 and at most 1; got nan."),
        ({"max_hamming_distance": 64}, "--max-hamming-distance must be from 0 to 63, below --bits; got 64."),
        ({"max_hamming_distance": -1}, "--max-hamming-distance must be from 0 to 63, below --bits; got -1."),
        ({"max_hamming_distance": None}, "give either --max-hamming-distance, in bits, or --edit-share"),
        ({"edit_share": 0.1}, "got both of them."),
        ({"max_hamming_distance": None, "edit_share": 0.0}, "--edit-share must be above 0 and at most 0.5; got 0.0."),
        ({"max_hamming_distance": None, "edit_share": 0.6}, "--edit-share must be above 0 and at most 0.5; got 0.6."),
        ({"max_hamming_distance": None, "edit_share": 0.1, "recall": 1.0}, "--recall must be below 1 with --edit"),
    ],
)
def test_number_out_of_range_is_refused(numbers: dict, message: str) -> None:
    """The message names the option, what is allowed and what was given."""
    with pytest.raises(ConfigError) as raised:
        make_question(**({"n_posts": 1000, "bits": 64, "max_hamming_distance": 3} | numbers))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "numbers",
    [
        {"n_posts": 1, "bits": 64, "max_hamming_distance": 0, "recall": 1},
        {"n_posts": 2**31 - 1, "bits": 512, "max_hamming_distance": 511},
        {"n_posts": 1000, "bits": 64, "edit_share": 0.5, "recall": 0.999999},
    ],
)
def test_bounds_are_inclusive(numbers: dict) -> None:
    """The smallest and the largest are questions too."""
    question = make_question(**numbers)
    assert question.distances.limit < question.bits
