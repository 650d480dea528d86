"""Compiled functions that parse posts and compare them: tokens, structure, differences, features and scores."""
