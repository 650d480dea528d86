"""What flows between the steps: posts as columns, arrays of texts, tokens, fingerprints, pairs and decisions."""
