"""Writing the pairs that a configuration judges wrongly, to be read by people."""

from __future__ import annotations

import json

import numpy as np

from hybriddup.data.records import Float64s, Int64s
from hybriddup.files.outputs import Output
from hybriddup.study.evaluate import LabeledPairs, ScoredPairs


def write_wrong_pairs(
    target: Output, pairs: LabeledPairs, scored: ScoredPairs, thresholds: Float64s, places: Int64s
) -> None:
    """Write some pairs as JSON Lines: both texts, the label, the score, and the threshold of their length band.

    The score is null where stage 1 does not propose the pair, or several verifiers decide together.
    """
    with target.open() as stream:
        for place in places.tolist():
            score, threshold = float(scored.scores[place]), float(thresholds[scored.bands[place]])
            line = {
                "a": pairs.a[place],
                "b": pairs.b[place],
                "label": int(pairs.labels[place]),
                "score": None if np.isnan(score) else score,
                "threshold": None if np.isnan(threshold) else threshold,
            }
            stream.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
