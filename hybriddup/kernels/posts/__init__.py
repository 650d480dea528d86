"""Parsing and comparing posts: tokens, structure, differences, features, and the curves that weigh features."""
