"""Fit the models that come with hybriddup to pairs that people judged, and judge them on sources left out.

python -m tests.benchmarks.fit_post_models FOLDER [--write]
FOLDER holds ``judged_*.jsonl.gz``: pairs ``a, b, label`` with their ``source``. Prints, for each model, precision,
recall and F1 of ``judged_world`` with each of its sources left out in turn, and of the other files by the fitted model,
with the guards of the configuration. With ``--write``, writes models.yaml.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from scipy.special import expit

from hybriddup.config.load import open_session
from hybriddup.data.records import Bools, Float64s, Int32s, Int64s, text_lengths
from hybriddup.kernels.posts.features import FEATURES
from hybriddup.run.components import Components
from hybriddup.steps.verifiers.post import model as shipped
from hybriddup.steps.verifiers.post import verifier
from hybriddup.steps.verifiers.post.features import pair_features
from hybriddup.steps.verifiers.post.fitting import fit_curves

FILES = {"world": 2.0, "world_decided": 1.0, "tweets": 1.0, "weibo": 1.0, "titles": 1.5, "sms": 1.5}
"""How much a pair of each file counts."""


class Model(NamedTuple):
    """How a model is fitted."""

    config: str
    factors: dict[str, float]
    """By file, how many times more its pairs count than in `FILES`."""
    threshold: float
    """The probability at which the score is 0.5, chosen on the sources left out."""


MODELS = {
    "posts": Model("posts", {"world": 2.0, "world_decided": 2.0, "weibo": 5.0}, 0.66),
    "twitter": Model("twitter", {"tweets": 14.0}, 0.46),
    "sms": Model("sms", {"sms": 8.0}, 0.405),
    "titles": Model("headlines", {"titles": 4.0}, 0.64),
}


class Pairs(NamedTuple):
    """The judged pairs."""

    posts: list[str]
    files: Any
    sources: Any
    labels: Bools

    @property
    def places(self) -> tuple[Int64s, Int64s]:
        """The posts of each pair."""
        return np.arange(0, len(self.posts), 2), np.arange(1, len(self.posts), 2)


def read(folder: Path) -> Pairs:
    """Return the pairs of all files."""
    posts, files, sources, labels = [], [], [], []
    for file in FILES:
        with gzip.open(folder / f"judged_{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for pair in map(json.loads, lines):
                posts += [pair["a"], pair["b"]]
                files.append(file)
                sources.append(pair.get("source") or file)
                labels.append(bool(pair["label"]))
    return Pairs(posts, np.array(files), np.array(sources), np.array(labels))


def measured(found: Bools, labels: Bools) -> str:
    """Return precision, recall and F1."""
    n_right = (found & labels).sum()
    precision, recall, f1 = n_right / found.sum(), n_right / labels.sum(), 2 * n_right / (found.sum() + labels.sum())
    return f"P {precision:.3f} R {recall:.3f} F1 {f1:.3f}"


def decided(logits: Float64s, features: Float64s, threshold: float, of_length: Float64s) -> Bools:
    """Return which pairs match by the model and the rules of `post`, with the thresholds of the length bands."""
    scores = verifier.by_rules(expit(logits - np.log(threshold / (1 - threshold))), features)
    return np.asarray(scores >= of_length)


def main(folder: Path, write: bool) -> None:
    """Fit, print and write."""
    pairs, fitted = read(folder), {}
    is_world = pairs.files == "world"
    for name, (config, factors, threshold) in MODELS.items():
        settings, manager = open_session(config)
        components = Components.create(settings, manager.registry, workers=1)
        posts = components.normalizer.normalize_batch(pairs.posts)
        features = pair_features(posts, *pairs.places)
        weights = np.array([FILES[file] * factors.get(file, 1.0) for file in pairs.files])
        left_out = np.zeros(len(weights))
        for source in np.unique(pairs.sources):
            inside = pairs.sources == source
            fit = fit_curves(features[~inside], pairs.labels[~inside], weights[~inside])
            left_out[inside] = fit.logits(features[inside])
        bands = bands_of(components, posts, pairs)
        allowed = ~components.bands.guards.refuse(posts, *pairs.places, bands)
        of_length = np.nan_to_num(components.bands.plan.thresholds, nan=0.5)[bands]
        fit = fit_curves(features, pairs.labels, weights)
        fitted[name] = fit.model(float(np.log(threshold / (1 - threshold))))
        print(f"{name}: {len(fitted[name].curves)} curves")
        for at in sorted({threshold, 0.5, 0.55, 0.6, 0.62, 0.64, 0.66, 0.7}):
            found = decided(left_out, features, at, of_length)
            print(f"  sources left out, {at}: {measured(found[is_world], pairs.labels[is_world])};", end=" ")
            print(f"with guards {measured((found & allowed)[is_world], pairs.labels[is_world])}")
        found = decided(fit.logits(features), features, threshold, of_length)
        for file in FILES:
            inside = pairs.files == file
            print(f"  {file}: {measured(found[inside], pairs.labels[inside])};", end=" ")
            print(f"with guards {measured((found & allowed)[inside], pairs.labels[inside])}")
    if write:
        path = Path(shipped.__file__).with_name("models.yaml")
        head = path.read_text("utf-8").partition("\n\n")[0]
        path.write_text(
            head + "\n" + "".join(f"\n{name}:\n{as_yaml(model)}" for name, model in fitted.items()), "utf-8"
        )


def bands_of(components: Components, posts: list[str], pairs: Pairs) -> Int32s:
    """Return the length band of each pair."""
    one, other = pairs.places
    lengths = text_lengths(components.compared(posts))
    return components.bands.of_lengths(np.minimum(lengths[one], lengths[other]))


def as_yaml(model: shipped.PostModel) -> str:
    """Return a model, a line for each curve."""
    lines = [f"  intercept: {model.intercept}"]
    for name in FEATURES:
        if name in model.curves:
            points = [[float(value), float(added)] for value, added in model.curves[name]]
            lines.append(f"  {name}: {yaml.safe_dump(points, default_flow_style=True, width=1000).strip()}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--write" in sys.argv)
