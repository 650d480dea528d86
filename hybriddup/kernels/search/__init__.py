"""Compiled functions that find texts with a common key, check the limits of pairs, and decide which texts to remove."""
