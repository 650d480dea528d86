"""Which texts share a key: keys, groups and rings of a run, limits of pairs, and the rule of removal."""
