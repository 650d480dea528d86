"""Compiled kernels: arrays in, arrays out; no Python objects, input or output, settings or randomness."""

from hybriddup.kernels.cache import forget_other_versions, warn_without_cache

forget_other_versions()
warn_without_cache()
