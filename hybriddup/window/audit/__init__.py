"""The audit of a live window: how much of what it should have found it finds."""
