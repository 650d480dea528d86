"""Compiled kernels: arrays in, arrays out; no Python objects, input or output, settings or randomness."""
