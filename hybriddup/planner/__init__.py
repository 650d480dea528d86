"""Planning an index: what each shape of block index costs and finds, by formula, and which one suits.

`formulas`, `weak_bits` and `distances` hold the formulas, `shapes` the shapes that they are worked out for, `choosing`
the choice. Nothing here builds an index or reads a post, and numpy is all that is imported.
"""
