"""A run over a corpus: its components, the steps in order, the audit, the result and its summary."""
