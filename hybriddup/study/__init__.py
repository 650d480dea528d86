"""Inspect and tune decisions: explain two texts step by step, measure precision and recall, label, tune and plan."""
