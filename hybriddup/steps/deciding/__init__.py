"""Decides for each text, in order, whether it is kept or removed, and which kept text is the keeper of a removed text.

A text is removed if it equals an earlier kept text, or if an earlier kept text is a candidate and the verifier accepts
the pair. Its keeper is the equal text, or else the earliest accepted candidate. If many kept texts have a key, only the
newest are candidates. Candidates are verified from the earliest on, and a candidate is skipped if `max_candidates`
earlier candidates have an equal or smaller Hamming distance. So the decisions depend only on the order of the texts,
not on batches or indexes.
All texts of the index are earlier than the batch, so the batch cannot change a decision made by the index.
README, "What went, and why", explains the rule to users.
"""
