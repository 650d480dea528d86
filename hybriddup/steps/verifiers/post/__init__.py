"""The `post` verifier: whether somebody who has read one post needs the other, by what the two say.

`features` compares pairs, `model` makes a score of that, `fitting` fits one to judged pairs, and `verifier` is the
component.
"""
