"""The live index of a window: hash tables, posting lists and segments, and the ring buffer of the indexed texts."""
