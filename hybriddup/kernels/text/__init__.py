"""Characters and words of texts: folding, word boundaries, n-grams, tokens and their hashes, simhash, edit distance."""
