"""A hash map from key to posting list, in shards, so that rehashing never pauses a whole batch.

The leading bits of the mixed key select the shard. A shard is a hash map with linear probing. Its slots are in pages
from a shared pool. A shard is rebuilt when it is full, and now and then to remove expired texts. Adding a key
rebuilds at most one shard.

A slot holds the lower half of its key, mixed by a bijection, and a value: 0 = the slot is empty; the number of the
key's only text; or, with the bit `IS_LIST`, the block of its list. So keys below 2**32 are distinguished exactly. The
upper halves of larger keys are stored in a separate array.
"""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.live.lists import (
    BLOCK_BITS,
    FREE_PAGE,
    FRESH_PAGE,
    Age,
    Postings,
    class_for,
    count_dead,
    free_block,
    is_dead,
    number_at,
    read_header,
    rewrite,
)
from hybriddup.kernels.popcount import HALF, LOW_HALF
from hybriddup.kernels.vectors import fetch_early

PAGE_BITS = 6
PAGE_MASK = np.uint64((1 << PAGE_BITS) - 1)
IS_LIST = np.uint64(1 << 31)
FULL, FILLED = (4, 5), (13, 20)
"""Load factors, as (numerator, denominator). A shard is rebuilt above `FULL`, with pages for a load factor `FILLED`."""
SPARSE = (2, 5)
"""Load factor, as (numerator, denominator), below which a rebuilt shard frees pages."""
FETCH_SWEPT = 24
"""How many slots ahead the header of a list is prefetched while a shard is rebuilt."""


@njit(cache=True, nogil=True, inner=True)
def mixed_half(half: np.uint64) -> np.uint64:
    """Mix the bits of a 32-bit number by the finalizer of MurmurHash3, a bijection."""
    half = (half ^ (half >> np.uint64(16))) * np.uint64(0x85EBCA6B) & LOW_HALF
    half = (half ^ (half >> np.uint64(13))) * np.uint64(0xC2B2AE35) & LOW_HALF
    return half ^ (half >> np.uint64(16))


@njit(cache=True, nogil=True, inner=True)
def tag_of(key: np.uint64) -> np.uint64:
    """Return the tag of a key: 32 mixed bits that, together with the key's upper half, identify the key."""
    return mixed_half((key & LOW_HALF) ^ mixed_half(key >> HALF))


@njit(cache=True, nogil=True, inner=True)
def shard_of(postings: Postings, tag: np.uint64) -> np.uint64:
    """Return the index of the shard that stores the keys with this tag, the 32 bits that `tag_of` returns."""
    return tag * np.uint64(len(postings.n_pages)) >> HALF


@njit(cache=True, nogil=True, inner=True)
def home_of(postings: Postings, tag: np.uint64, n_slots: np.uint64) -> np.uint64:
    """Return the index in a shard of ``n_slots`` slots where probing for a key with this tag (see `tag_of`) starts."""
    return (tag * np.uint64(len(postings.n_pages)) & LOW_HALF) * n_slots >> HALF


@njit(cache=True, nogil=True, inner=True)
def slot_in(postings: Postings, shard: np.uint64, place: np.uint64) -> np.uint64:
    """Map index ``place`` in a shard to an index in ``slots``; if the shard has no pages, return 0, an empty slot."""
    page = np.uint64(postings.pages[place >> np.uint64(PAGE_BITS), shard])
    return np.uint64(page << np.uint64(PAGE_BITS) | place & PAGE_MASK)


@njit(cache=True, nogil=True, inner=True)
def slots_of(postings: Postings, shard: np.uint64) -> np.uint64:
    """Return the number of slots of a shard."""
    return np.uint64(postings.n_pages[shard]) << np.uint64(PAGE_BITS)


@njit(cache=True, nogil=True, inner=True)
def find_slot(postings: Postings, key: np.uint64) -> np.uint64:
    """Return the index of a key's slot, or of the empty slot where the key would be inserted."""
    slots, uppers, tag = postings.slots, postings.uppers, tag_of(key)
    shard = shard_of(postings, tag)
    n_slots = slots_of(postings, shard)
    place = home_of(postings, tag, n_slots)
    while True:
        at = slot_in(postings, shard, place)
        slot = slots[at]
        if slot == 0 or (slot >> HALF == tag and (len(uppers) == 0 or np.uint64(uppers[at]) == key >> HALF)):
            return at
        place += np.uint64(1)
        if place == n_slots:
            place = np.uint64(0)


@njit(cache=True, nogil=True, inner=True)
def value_of(postings: Postings, key: np.uint64) -> np.uint64:
    """Return the value of a key: the number of its text or the block of its list; 0 if the key is not in the table."""
    return np.uint64(postings.slots[find_slot(postings, key)] & LOW_HALF)


@njit(cache=True, nogil=True, inner=True)
def fetch_home(postings: Postings, key: np.uint64) -> None:
    """Prefetch the slot where probing for a key starts."""
    tag = tag_of(key)
    shard = shard_of(postings, tag)
    fetch_early(postings.slots, slot_in(postings, shard, home_of(postings, tag, slots_of(postings, shard))))


@njit(cache=True, nogil=True, inner=True)
def fetch_header(postings: Postings, value: np.uint64) -> None:
    """Prefetch the header of the list that a slot's value points to, if any."""
    if value & IS_LIST:
        fetch_early(postings.words, (value ^ IS_LIST) << BLOCK_BITS)


@njit(cache=True, nogil=True, inner=True)
def has_room(n_keys: int, n_slots: np.uint64) -> bool:
    """Return whether ``n_keys`` keys fit into a shard of ``n_slots`` slots without exceeding the load factor `FULL`."""
    return n_keys * FULL[1] <= np.int64(n_slots) * FULL[0]


@njit(cache=True, nogil=True)
def sweep_shards(postings: Postings, first: int, last: int, next_number: int, first_live: int) -> None:
    """Remove the numbers of expired texts from the slots and lists of the shards ``first`` to ``last - 1``."""
    age = Age(np.uint64(next_number), np.uint64(next_number - first_live))
    for shard in range(first, last):
        if postings.n_pages[shard] > 0:
            rebuild_shard(postings, np.uint64(shard), age, True)


@njit(cache=True, nogil=True)
def rebuild_shard(postings: Postings, shard: np.uint64, age: Age, sweeps_lists: bool) -> None:
    """Remove expired texts from a shard's slots, and from its lists if ``sweeps_lists``; then resize the shard.

    Afterwards there is a slot for one more key, unless the pool has run out of pages.
    """
    n_slots = slots_of(postings, shard)
    slots, uppers, wide = postings.slots, postings.uppers, len(postings.uppers) > 0
    kept, kept_uppers = np.empty(np.int64(n_slots), np.uint64), np.empty(np.int64(n_slots) if wide else 0, np.uint32)
    n = np.uint64(0)
    for place in range(n_slots):
        at, soon = slot_in(postings, shard, np.uint64(place)), np.uint64(place) + np.uint64(FETCH_SWEPT)
        if sweeps_lists and soon < n_slots:
            fetch_header(postings, slots[slot_in(postings, shard, soon)] & LOW_HALF)
        value = swept_value(postings, slots[at] & LOW_HALF, age, sweeps_lists)
        kept[n] = slots[at] & ~LOW_HALF | value
        if wide:
            kept_uppers[n] = uppers[at]
        n += np.uint64(value != 0)
    resize_shard(postings, shard, np.int64(n) + 1)
    n_slots = slots_of(postings, shard)
    for page in range(postings.n_pages[shard]):
        start = slot_in(postings, shard, np.uint64(page) << np.uint64(PAGE_BITS))
        slots[np.int64(start) : np.int64(start) + (1 << PAGE_BITS)] = np.uint64(0)
    for i in range(n):
        place = home_of(postings, kept[np.uint64(i)] >> HALF, n_slots)
        at = slot_in(postings, shard, place)
        while slots[at] != 0:
            place = np.uint64(0) if place + np.uint64(1) == n_slots else place + np.uint64(1)
            at = slot_in(postings, shard, place)
        slots[at] = kept[np.uint64(i)]
        if wide:
            uppers[at] = kept_uppers[np.uint64(i)]
    postings.n_keys[shard] = np.int32(n)


@njit(cache=True, nogil=True, inner=True)
def swept_value(postings: Postings, value: np.uint64, age: Age, sweeps_lists: bool) -> np.uint64:
    """Remove the text of a slot if it has expired, or the expired texts of the slot's list if ``sweeps_lists``.

    Return the new value of the slot, 0 if the slot is now empty.
    """
    if not value & IS_LIST:
        return np.uint64(0) if value == 0 or is_dead(value, age) else value
    if not sweeps_lists:
        return value
    block = value ^ IS_LIST
    start = block << BLOCK_BITS
    its_class, n, oldest = read_header(postings.words, start, postings.ring_size)
    newest = number_at(postings.words, start, oldest + n - np.uint64(1), postings.ring_size)
    if is_dead(newest, age):
        free_block(postings, block, its_class)
        return np.uint64(0)
    if not is_dead(number_at(postings.words, start, oldest, postings.ring_size), age):
        return value
    n_live = n - count_dead(postings.words, start, postings.ring_size, age)
    if n_live == np.uint64(1):
        free_block(postings, block, its_class)
        return newest
    new_class = class_for(postings.class_words, n_live)
    moved = rewrite(postings, block, n_live, new_class) if new_class < its_class else block
    return value if moved == 0 else np.uint64(IS_LIST | moved)


@njit(cache=True, nogil=True, inner=True)
def resize_shard(postings: Postings, shard: np.uint64, n_keys: int) -> None:
    """Resize a shard to the pages that ``n_keys`` keys need, or fewer if the pool runs out.

    The size stays the same if the load factor is between `SPARSE` and `FULL`. If the size changes, the caller must
    rewrite all slots.
    """
    slots, pages, n_pages, book = postings.slots, postings.pages, postings.n_pages, postings.book
    n_slots = np.int64(slots_of(postings, shard))
    if n_keys * SPARSE[1] > n_slots * SPARSE[0] and has_room(n_keys, np.uint64(n_slots)):
        return
    wanted = ((n_keys * FILLED[1]) // FILLED[0] >> PAGE_BITS) + 1
    while n_pages[shard] > wanted:
        n_pages[shard] -= 1
        page = np.uint64(pages[np.uint64(n_pages[shard]), shard])
        slots[page << np.uint64(PAGE_BITS)] = np.uint64(book[FREE_PAGE])
        book[FREE_PAGE] = np.int64(page)
    while n_pages[shard] < min(wanted, len(pages)):
        page = np.uint64(book[FREE_PAGE])
        if page != 0:
            book[FREE_PAGE] = np.int64(slots[page << np.uint64(PAGE_BITS)])
        elif (book[FRESH_PAGE] + 1) << PAGE_BITS <= len(slots):
            page = np.uint64(book[FRESH_PAGE])
            book[FRESH_PAGE] += 1
        else:
            return
        pages[np.uint64(n_pages[shard]), shard] = np.uint32(page)
        n_pages[shard] += 1
