"""How far from its own key a text is looked up, so that no pair within a Hamming distance is missed."""

from math import comb


def count_neighbours(n_bits: int, radius: int) -> int:
    """Return how many words of ``n_bits`` differ from a given one in at most ``radius`` bits, itself included.

    Examples
    --------
    >>> count_neighbours(64, 3)
    43745
    """
    return sum(comb(n_bits, flipped) for flipped in range(radius + 1))


def block_radii(n_blocks: int, distance: int) -> list[int]:
    """Return the radius within which each block is probed, so that every pair within ``distance`` bits is found.

    A pair is missed when every block differs in more bits than its radius, so in ``sum(radius + 1)`` bits at least.
    For that to be ``distance + 1``, and no more, the first blocks are probed one bit farther than the others (Norouzi,
    Punjani and Fleet 2012). Of more than ``distance + 1`` blocks only so many are needed.

    Examples
    --------
    >>> block_radii(4, 10), block_radii(4, 11), block_radii(4, 1)
    ([2, 2, 2, 1], [2, 2, 2, 2], [0, 0])
    """
    radius, n_farther = divmod(max(distance, 0) + 1, n_blocks)
    return [radius] * n_farther + [radius - 1] * ((n_blocks - n_farther) if radius else 0)


def show_range(least: int, most: int) -> str:
    """Return the numbers from one to another, such as ``25-26``, or the one where they are the same."""
    return str(most) if least == most else f"{least}-{most}"
