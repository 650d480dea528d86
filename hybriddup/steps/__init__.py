"""The steps of the pipeline in order, one module each: its Protocol first, then the built-in components."""
