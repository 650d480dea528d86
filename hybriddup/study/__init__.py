"""What a run did and how well: two texts explained step by step, precision and recall on labeled pairs."""
