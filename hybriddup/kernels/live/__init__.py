"""The live index of a window: posting lists, tables, and the ring of texts that they point to."""
