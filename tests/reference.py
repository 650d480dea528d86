"""Slow, obvious twins of what the package does in arrays and kernels.

Slowness is their purpose: each is written so that a reader sees that it is right, in plain Python with lists, dicts and
exact fractions, and shares no code with what it is compared to. Nothing here may be optimized.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

# --- fingerprints ---


def hamming_distance(a: int, b: int) -> int:
    """Number of bits in which two fingerprints differ."""
    return bin(a ^ b).count("1")


def signed_sums(tokens: Sequence[str], weights: Sequence[int], bits: int, hash_of: Callable[[str], int]) -> list[int]:
    """Add up bit by bit: plus the weight where a token's hash has a 1, minus the weight where it has a 0."""
    hashes = {token: hash_of(token) for token in tokens}
    sums = [0] * bits
    for token, weight in zip(tokens, weights, strict=True):
        for bit in range(bits):
            if (hashes[token] >> bit) % 2 == 1:
                sums[bit] += weight
            else:
                sums[bit] -= weight
    return sums


def keep_signs(sums: Sequence[int]) -> int:
    """A sum above zero gives bit 1; a sum of zero gives 0."""
    return sum(2**bit for bit, value in enumerate(sums) if value > 0)


def simhash(
    text: str,
    bits: int,
    *,
    tokenize: Callable[[str], list[str]],
    weigh: Callable[[str], int],
    hash_of: Callable[[str], int],
) -> int:
    """Simhash in its five steps: tokenize, weight, hash, add up, keep the signs. Weights are whole numbers."""
    tokens = tokenize(text)
    weights = [weigh(token) for token in tokens]
    return keep_signs(signed_sums(tokens, weights, bits, hash_of))


# --- texts ---


def lcs_length(a: str, b: str) -> int:
    """Length of the longest common subsequence, by the textbook table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, start=1):
        for j, y in enumerate(b, start=1):
            table[i][j] = table[i - 1][j - 1] + 1 if x == y else max(table[i - 1][j], table[i][j - 1])
    return table[len(a)][len(b)]


def levenshtein_distance(a: str, b: str) -> int:
    """Fewest insertions, deletions and replacements of one character that turn one text into the other."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                table[i][j] = i + j
            else:
                replaced = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
                table[i][j] = min(replaced, table[i - 1][j] + 1, table[i][j - 1] + 1)
    return table[len(a)][len(b)]


def indel_similarity(a: str, b: str) -> Fraction:
    """Two times the characters in common, in order, over the characters of both."""
    return Fraction(2 * lcs_length(a, b), len(a) + len(b)) if a or b else Fraction(1)


def levenshtein_similarity(a: str, b: str) -> Fraction:
    """Share of the longer text that needs no edit."""
    longer = max(len(a), len(b))
    return Fraction(longer - levenshtein_distance(a, b), longer) if longer else Fraction(1)


def lcs_similarity(a: str, b: str, relative_to: str = "longer") -> Fraction:
    """Characters in common, in order, over the characters of the longer or the shorter text."""
    total = max(len(a), len(b)) if relative_to == "longer" else min(len(a), len(b))
    if total == 0:
        return Fraction(int(a == b))
    return Fraction(lcs_length(a, b), total)


def characters_in_common(a: str, b: str) -> int:
    """Characters that stand in both texts, each as often as in the one that has it less often, whatever their order."""
    return (Counter(a) & Counter(b)).total()


def char_ngrams(text: str, size: int) -> list[str]:
    """Every run of ``size`` characters, in order; a shorter text is its own only n-gram, an empty one has none."""
    if len(text) < size:
        return [text] if text else []
    return [text[start : start + size] for start in range(len(text) - size + 1)]


def jaccard(a: Iterable[str], b: Iterable[str]) -> Fraction:
    """Distinct features in both over distinct features in either; 0 where there is none."""
    in_both, in_either = set(a) & set(b), set(a) | set(b)
    return Fraction(len(in_both), len(in_either)) if in_either else Fraction(0)


def inverse_document_frequencies(token_lists: Sequence[Sequence[str]]) -> Callable[[str], float]:
    """The smoothed ln((1 + n) / (1 + n with the token)) + 1, as a function of the token."""
    n_with: Counter[str] = Counter()
    for tokens in token_lists:
        n_with.update(set(tokens))
    return lambda token: math.log((1 + len(token_lists)) / (1 + n_with[token])) + 1


def cosine(a: Iterable[str], b: Iterable[str], weight_of: Callable[[str], float] = lambda _: 1.0) -> float:
    """Cosine of the angle between the weighted token counts; 0.0 where either text has no token."""
    counts_a, counts_b = Counter(a), Counter(b)
    if not counts_a or not counts_b:
        return 0.0
    vector_a = {token: count * weight_of(token) for token, count in counts_a.items()}
    vector_b = {token: count * weight_of(token) for token, count in counts_b.items()}
    product = math.fsum(vector_a[token] * vector_b[token] for token in vector_a if token in vector_b)
    squares = (math.fsum(value * value for value in vector.values()) for vector in (vector_a, vector_b))
    return product / math.prod(map(math.sqrt, squares))


def cosine_reaches(a: Iterable[str], b: Iterable[str], threshold: Fraction) -> bool:
    """Whether the cosine of two texts' token counts is at least the threshold, without a single rounding."""
    counts_a, counts_b = Counter(a), Counter(b)
    product = sum(counts_a[token] * counts_b[token] for token in counts_a)
    squares = sum(n * n for n in counts_a.values()) * sum(n * n for n in counts_b.values())
    return squares > 0 and product * product >= threshold * threshold * squares


# --- decisions ---


class Decisions(NamedTuple):
    """Which texts stay, and of each that goes, every kept text before it that it matches, earliest first."""

    kept: list[int]
    keepers: dict[int, list[int]]


def greedy_decide(order: Sequence[int], matches: Mapping[tuple[int, int], object]) -> Decisions:
    """Remove a text when it matches one decided before that was kept; ``matches`` holds each pair in either order."""
    kept: list[int] = []
    keepers: dict[int, list[int]] = {}
    for text in order:
        found = [keeper for keeper in kept if (keeper, text) in matches or (text, keeper) in matches]
        if found:
            keepers[text] = found
        else:
            kept.append(text)
    return Decisions(kept, keepers)


class RuleOutcome(NamedTuple):
    """What the rule of removal says of some texts, and how often each limit cut a search short."""

    kept: list[int]
    exact: dict[int, int]
    """The kept text that a removed one equals."""
    near: dict[int, int]
    """The keeper of each text that was removed as a near repeat."""
    n_crowded: int
    """Look-ups of keys that more kept texts had than are looked at."""
    n_cut: int
    """Kept texts of which candidates were passed over."""


def decide_by_rule(
    names: Sequence[Hashable],
    keys: Sequence[Collection[int]],
    probes: Sequence[Collection[int]],
    distance_of: Callable[[int, int], int],
    is_within: Callable[[int, int], bool],
    is_accepted: Callable[[int, int], bool],
    *,
    max_bucket_size: int,
    most_pairs: Sequence[int],
) -> RuleOutcome:
    """Decide texts one by one. Equal names are equal texts; the functions are given an earlier and a later one."""
    kept: list[int] = []
    exact: dict[int, int] = {}
    near: dict[int, int] = {}
    n_crowded = n_cut = 0
    for text in range(len(names)):
        equal = [earlier for earlier in kept if names[earlier] == names[text]]
        if equal:
            exact[text] = equal[0]
            continue
        looked_at: set[int] = set()
        for key in probes[text]:
            with_key = [earlier for earlier in kept if key in keys[earlier]]
            if max_bucket_size and len(with_key) > max_bucket_size:
                n_crowded += 1
                with_key = with_key[-max_bucket_size:]
            looked_at.update(with_key)
        candidates = [earlier for earlier in looked_at if is_within(earlier, text)]
        distances = {earlier: distance_of(earlier, text) for earlier in candidates}
        verified = [
            earlier
            for earlier in candidates
            if sum(other < earlier and distances[other] <= distances[earlier] for other in candidates)
            < most_pairs[text]
        ]
        matches = [earlier for earlier in verified if is_accepted(earlier, text)]
        if matches:
            near[text] = min(matches)
        else:
            kept.append(text)
            n_cut += len(verified) < len(candidates)
    return RuleOutcome(kept, exact, near, n_crowded, n_cut)


def connected_components(nodes: Iterable[int], edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The nodes that are linked, directly or not, by walking from each node that no walk has reached yet."""
    neighbors: dict[int, set[int]] = {node: set() for node in nodes}
    for a, b in edges:
        neighbors[a].add(b)
        neighbors[b].add(a)
    components, reached = [], set()
    for start in sorted(neighbors):
        if start in reached:
            continue
        component, waiting = {start}, [start]
        while waiting:
            for neighbor in neighbors[waiting.pop()] - component:
                component.add(neighbor)
                waiting.append(neighbor)
        reached |= component
        components.append(sorted(component))
    return components
