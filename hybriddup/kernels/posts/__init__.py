"""Posts read as posts: tokens and structure, what differs between two, features and the curves that weigh them."""
