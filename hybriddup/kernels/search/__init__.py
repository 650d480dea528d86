"""Finding the texts of a run that share a key: keys, groups, rings, the limits of pairs, and the rule of removal."""
