"""What posts say: which characters and words there are (`characters`), and the parts of normalized posts (`parts`)."""
