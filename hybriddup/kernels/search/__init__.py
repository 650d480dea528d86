"""Finding texts that share a key in a run: keys, groups and rings, the limits of pairs, and the rule of removal."""
