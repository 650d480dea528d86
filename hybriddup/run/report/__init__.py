"""Presents the results of a run to people: as an HTML page, and in notebooks."""
