"""How far around its own key a text is looked up: no pair within the distance is missed, and no key is one too many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybriddup.steps.blocks.pigeonhole import cut_blocks
from hybriddup.steps.blocks.radii import block_radii, count_neighbours


@given(st.integers(1, 9), st.integers(0, 4))
def test_neighbours_within_a_radius_are_counted_rightly(n_bits: int, radius: int) -> None:
    """By trying every word."""
    assert count_neighbours(n_bits, radius) == sum(word.bit_count() <= radius for word in range(2**n_bits))


@given(n_blocks=st.integers(1, 64), distance=st.integers(0, 511))
def test_radii_are_the_least_that_miss_nothing(n_blocks: int, distance: int) -> None:
    """The fewest differing bits of a pair that every block misses are one more than the distance."""
    radii = block_radii(n_blocks, distance)
    assert sum(radius + 1 for radius in radii) == distance + 1
    assert len(radii) == min(n_blocks, distance + 1)
    assert radii == sorted(radii, reverse=True)
    assert max(radii) - min(radii) <= 1


@given(st.integers(1, 10).flatmap(lambda bits: st.tuples(st.just(bits), st.integers(1, bits), st.integers(0, bits))))
def test_every_difference_of_few_bits_is_within_the_radius_of_a_block(shape: tuple[int, int, int]) -> None:
    """All words of up to ten bits, cut into every number of blocks: what all blocks miss differs in more bits."""
    bits, n_blocks, distance = shape
    radii, blocks = block_radii(n_blocks, distance), cut_blocks(bits, n_blocks)
    missed = []
    for word in range(2**bits):
        differing = [sum(word >> int(bit) & 1 for bit in block) for block in blocks]
        if all(n > radius for n, radius in zip(differing, radii, strict=False)):
            missed.append(word.bit_count())
    assert min(missed, default=bits + 1) > distance
