"""Compiled kernels: arrays in, arrays out; no Python objects, input or output, settings or randomness."""

from hybriddup.kernels.cache import warn_if_nothing_is_kept

warn_if_nothing_is_kept()
