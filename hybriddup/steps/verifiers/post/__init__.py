"""The `post` verifier: whether somebody who has read one post needs the other, by what the two say.

`dictionary` tells which characters and words there are, `features` compares pairs, `model` makes a score of that, and
`verifier` is the component.
"""
