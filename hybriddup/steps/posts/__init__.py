"""What posts say: which characters and words there are (`dictionary`), and the parts of normalized posts (`parts`)."""
