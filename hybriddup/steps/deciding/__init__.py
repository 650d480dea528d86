"""Decide: texts in order -> kept or removed, the keeper of each removed text. The rule of README, "What went, and why".

A text is removed when it equals an earlier kept text, or when an earlier kept text is among its candidates and the
verifier accepts the pair. Its keeper is the earliest of these, an equal one first. Of a crowded key only the newest
kept texts are candidates. Candidates are verified from the earliest on, and one is passed over if `max_candidates`
before it have no more differing bits. So what is decided is a function of the order alone, however the texts are cut
into batches and whatever index holds the kept ones. Kept texts of the index come before those of the batch: what the
batch brings never changes what they decided.
"""
