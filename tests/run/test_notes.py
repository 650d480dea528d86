"""What a run has to say besides its counts."""

from hybriddup import dedupe


def test_limit_over_three_eighths_of_the_bits_is_a_note() -> None:
    """The run goes on; by default there is nothing to note."""
    posts = ["the rain in spain stays mainly in the plain", "a quick brown fox jumps over the lazy dog"]
    bands = [{"max_hamming_distance": 50, "verifier": {"use": "edit", "threshold": 0.8}}]

    (note,) = dedupe(posts, config={"lengths": bands}).summary.notes

    assert note.startswith("lengths[0].max_hamming_distance is 50 of 128 bits.")
    assert dedupe(posts).summary.notes == []
