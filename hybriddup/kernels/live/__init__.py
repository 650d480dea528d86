"""The live index of a window: posting lists, and the ring of texts that they point to."""
