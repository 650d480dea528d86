"""Parsing of normalized posts: tables of characters and words (`characters`), and the parts of posts (`parts`)."""
