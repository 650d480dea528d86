"""The data that flows between steps: posts as columns; arrays of texts, tokens, fingerprints, pairs and decisions."""
