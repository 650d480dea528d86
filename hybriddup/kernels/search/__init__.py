"""Finds the texts of a run that share a key, checks the limits of pairs, and decides which texts are removed."""
