"""The `post` verifier: whether a reader of one post learns anything from the other.

`features` computes the features of pairs, `model` computes a score from the features, `fitting` fits a model to
labelled pairs, and `verifier` combines the model with rules.
"""
