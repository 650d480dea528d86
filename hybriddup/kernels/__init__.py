"""Compiled kernels: functions from arrays to arrays, without Python objects, I/O, settings or randomness."""

from hybriddup.kernels.cache import warn_if_nothing_is_kept

warn_if_nothing_is_kept()
