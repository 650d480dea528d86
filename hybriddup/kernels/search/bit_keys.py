"""Block keys that are hashes of chosen bits of a fingerprint."""

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.search.shingles import mixed


@njit(cache=True, nogil=True)
def hash_bits(bits: UInt64s, masks: UInt64s, flips: UInt64s, mask_of: Int64s) -> UInt64s:
    """Return uint64[n, n_keys]: the keys of each fingerprint, as hashes of chosen bits.

    Parameters
    ----------
    bits
        uint64[n, words]: the fingerprints.
    masks
        uint64[n_masks, words]: masks of the chosen bits.
    flips, mask_of
        uint64[n_keys, words], int64[n_keys]: for each key, the bits to flip before hashing, and the index of its mask.

    Notes
    -----
    If all chosen bits are in one 64-bit word, the hash is one to one, so that different bits never collide. Otherwise
    they collide with probability 2**-64, as do keys of different masks. No hash is 2**64 - 1.
    """
    keys, seeds = np.empty((len(bits), len(flips)), np.uint64), np.empty(len(masks), np.uint64)
    for mask in range(len(masks)):
        seeds[mask] = mixed(np.uint64(mask + 1))  # far apart, so that keys of different masks do not collide
    for row in range(len(bits)):
        for key in range(len(flips)):
            hashed = seeds[mask_of[key]]
            for word in range(bits.shape[1]):
                if masks[mask_of[key], word] != 0:
                    hashed = mixed(hashed ^ ((bits[row, word] ^ flips[key, word]) & masks[mask_of[key], word]))
            keys[row, key] = min(hashed, np.uint64(2**64 - 2))
    return keys
