"""The keys of a configuration: name, type, range, default and a one-sentence description. Defaults match `posts`.

These models hold resolved settings. Users write only the keys to change; `hybriddup.config.load` resolves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    Tag,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from hybriddup.config.rules import combined_by, default_limit, setting_faults, setting_warnings
from hybriddup.steps.options import WRITTEN_FORM, Described


class _Section(Described):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the section as plain data for YAML or JSON, with keys and order as in a configuration file."""
        return self.model_dump(mode="json")


class ComponentSettings(_Section):
    """The component that performs a step: its name and, as extra keys, its options."""

    model_config = ConfigDict(extra="allow", json_schema_extra={WRITTEN_FORM: "{use: NAME}"})

    use: str
    """Name of the component, as `hybriddup plugins` lists it."""

    @property
    def options(self) -> dict[str, Any]:
        """Options of the component, by name."""
        return dict(self.model_extra or {})


class GuardSettings(ComponentSettings):
    """A guard with its options; in a file the name alone is enough."""

    model_config = ConfigDict(extra="allow", json_schema_extra={WRITTEN_FORM: "{use: numbers, strict: true}"})


class FingerprintSettings(_Section):
    """The simhash fingerprint."""

    bits: int = Field(128, ge=64, le=512, multiple_of=64)
    """Width of a fingerprint; more bits separate texts better and cost more memory and time."""


class KeepHighest(_Section):
    """Keep the post with the highest value of a field; posts without a value come last."""

    model_config = ConfigDict(json_schema_extra={WRITTEN_FORM: "{highest: FIELD}"})

    highest: str = Field(min_length=1)
    """Name of the field; of a set of repeats, the post with the highest value is kept."""


class AuditSettings(_Section):
    """The estimate of how many repeats the search for candidate pairs (stage 1) missed."""

    sample: int = Field(3000, ge=0)
    """Number of kept posts that are compared with all others again, to estimate the recall of the search for candidate
    pairs (stage 1); if possible, at least one in eight has a key that many posts share; 0 = no estimate."""


class SingleVerifier(ComponentSettings):
    """One verifier and the score a pair must reach."""

    model_config = ConfigDict(extra="allow", json_schema_extra={WRITTEN_FORM: "{use: edit, threshold: 0.8}"})

    threshold: float = Field(ge=0, le=1, allow_inf_nan=False)
    """Lowest score that makes a pair a duplicate, inclusive; 1.0 = the same text."""

    def thresholds(self) -> list[float]:
        """Return a list with the threshold."""
        return [self.threshold]

    def map_thresholds(self, change: Callable[[float], float]) -> SingleVerifier:
        """Return a copy with ``change`` applied to the threshold."""
        return self.model_copy(update={"threshold": change(self.threshold)})


class CombinedVerifier(_Section):
    """Several verifiers, all or any of which must accept a pair; members may be combinations themselves."""

    # extra keys are allowed here because `hybriddup.config.rules` reports them with a better message
    model_config = ConfigDict(
        extra="allow", json_schema_extra={WRITTEN_FORM: "{all: [{use: edit, threshold: 0.8}, ...]}"}
    )

    combine: ClassVar[Literal["all", "any"]]

    @property
    def members(self) -> tuple[VerifierSettings, ...]:
        """The verifiers of the combination, which may be combinations themselves."""
        members: tuple[VerifierSettings, ...] = getattr(self, self.combine)
        return members

    def thresholds(self) -> list[float]:
        """Return the thresholds of all members."""
        return [threshold for member in self.members for threshold in member.thresholds()]

    def map_thresholds(self, change: Callable[[float], float]) -> CombinedVerifier:
        """Return a copy with ``change`` applied to the thresholds of all members."""
        return self.model_copy(update={self.combine: tuple(one.map_thresholds(change) for one in self.members)})


class AllVerifiers(CombinedVerifier):
    """Several verifiers that must all accept a pair; members may be combinations themselves."""

    combine = "all"
    all: _Members


class AnyVerifier(CombinedVerifier):
    """Several verifiers, at least one of which must accept a pair; members may be combinations themselves."""

    combine = "any"
    any: _Members


def _verifier_kind(value: Any) -> str:
    return f"{value.combine if isinstance(value, CombinedVerifier) else combined_by(value) or 'one'} of"


VerifierSettings = Annotated[
    Annotated[SingleVerifier, Tag("one of")]
    | Annotated[AllVerifiers, Tag("all of")]
    | Annotated[AnyVerifier, Tag("any of")],
    Discriminator(_verifier_kind),
]
_Members = Annotated[
    tuple[VerifierSettings, ...],
    Field(min_length=1, description="The verifiers, or combinations of them, cheapest first."),
]
AllVerifiers.model_rebuild()
AnyVerifier.model_rebuild()


class LengthBand(_Section):
    """Limits, verifier and guards for pairs whose shorter text has a length in this band."""

    up_to: int | None = Field(None, ge=1)
    """Maximum length of a text of the band, in code points of the compared text; left out in the last band."""
    exact_only: bool = False
    """Whether texts of the band are repeats only if they are equal after normalizing."""
    max_hamming_distance: int | None = Field(None, ge=0, le=511)
    """Largest number of differing bits at which a pair is still verified, inclusive; if left out, 44 of 128 bits for
    bands with up_to at most 200, else 40, in proportion for other widths."""
    verifier: VerifierSettings | None = None
    """Compares the texts of a candidate pair, and decides whether they are repeats."""
    must_agree: tuple[GuardSettings, ...] | None = None
    """Guards for pairs of this band, which replace the guards at the top level."""

    def name(self, lower: int) -> str:
        """Return the name of the band in results, such as ``7-20`` or ``141-``; ``lower`` is its minimum length."""
        return f"{lower}-" if self.up_to is None else f"{lower}-{self.up_to}"

    def with_limit(self, bits: int) -> LengthBand:
        """Return the band; if it has a verifier but no Hamming limit, add the default limit for ``bits`` bits."""
        if self.exact_only or self.verifier is None or self.max_hamming_distance is not None:
            return self
        return self.model_copy(update={"max_hamming_distance": default_limit(bits, self.up_to)})

    def map_thresholds(self, change: Callable[[float], float]) -> LengthBand:
        """Return a copy with ``change`` applied to the thresholds of all verifiers of the band."""
        verifier = self.verifier and self.verifier.map_thresholds(change)
        return self.model_copy(update={"verifier": verifier})

    @model_serializer(mode="wrap")
    def _leave_out_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in serialize(self).items() if value is not None and value is not False}


def _keep_kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "list"
    return "field" if isinstance(value, (Mapping, KeepHighest)) else "name"


KeepName = Annotated[Literal["first", "last", "longest", "most_complete", "none"], Tag("name")]
KeepField = Annotated[KeepHighest, Tag("field")]
KeepRule = Annotated[KeepName | KeepField, Discriminator(_keep_kind)]
KeepRules = Annotated[tuple[KeepRule, ...], Field(min_length=1), Tag("list")]
Keep = Annotated[KeepName | KeepField | KeepRules, Discriminator(_keep_kind)]


def _step_kind(value: Any) -> str:
    return "list" if isinstance(value, (list, tuple)) else "one"


ComponentOrChain = Annotated[
    Annotated[ComponentSettings, Tag("one")]
    | Annotated[tuple[ComponentSettings, ...], Field(min_length=1), Tag("list")],
    Discriminator(_step_kind),
]


DEFAULT_LENGTHS = (
    LengthBand(up_to=4, max_hamming_distance=16, verifier=SingleVerifier(use="post", threshold=0.85)),
    LengthBand(up_to=15, max_hamming_distance=40, verifier=SingleVerifier(use="post", threshold=0.65)),
    LengthBand(up_to=40, max_hamming_distance=40, verifier=SingleVerifier(use="post", threshold=0.5)),
    LengthBand(max_hamming_distance=40, verifier=SingleVerifier(use="post", threshold=0.6)),
)


DEFAULT_GUARDS = tuple(GuardSettings(use=name) for name in ("numbers", "negation", "opposites", "names"))


class WindowSettings(_Section):
    """How a live window treats copies of a kept post, and posts with a known id. Runs do not use this section."""

    renew: bool = False
    """Whether a copy renews the kept post, which then matches for another horizon: a text that is repeated daily is
    kept only once, and not once per horizon. A post is renewed at most once in a sixteenth of the horizon."""
    on_same_id: Literal["answer", "replace"] = "answer"
    """How a post whose id was sent before is treated: answer gives the same answer again, whatever the text; replace
    removes the earlier post and decides the new one if their texts differ, as after an edit."""


class Settings(_Section):
    """The settings of a run, every key resolved; the keys follow the order of the steps."""

    plugins: tuple[str, ...] = ()
    """Modules to load as plugins, in addition to the installed plugins: importable modules, or files next to the
    configuration."""
    recipe: str | None = Field(None, min_length=1)
    """File written by `hybriddup learn`: token weights, common shingles, IDF; null = learn them from each run's
    posts."""
    normalizer: ComponentOrChain = ComponentSettings(use="microblog", reposts="mask")
    """Removes differences that do not count, such as case, URLs and mentions; in a list, each normalizer gets the
    output of the one before it."""
    compare: Literal["all", "body"] = "body"
    """Part of a post that is compared to find near repeats: all of it, or its body, which is the words without the
    links, emoji and hashtags around them. A post with hashtags and a very short body (under five Han characters, or
    about three words of another script) is compared whole, although its fingerprint and keys still leave out emoji,
    links and mentions. Exact repeats are found by the whole post."""
    without_text: Literal["keep", "drop", "compare"] = "keep"
    """How posts that have no text after normalizing, such as pictures or links, are treated: keep keeps each; drop
    leaves them out, without a keeper (a window keeps them, because it must decide each post); compare removes repeats
    of the same text before normalizing."""
    tokenizer: ComponentSettings = ComponentSettings(use="char_ngrams", cjk=[1, 2], other=[3, 3])
    """Splits a text into the features that make its fingerprint."""
    weighter: ComponentSettings = ComponentSettings(use="tfidf", clip=[2, 5], other=3.5)
    """Sets how strongly each feature pulls the bits of the fingerprint."""
    hasher: ComponentSettings = ComponentSettings(use="xxh3", seed=0)
    """Turns a feature into pseudorandom bits."""
    fingerprint: FingerprintSettings = FingerprintSettings()
    """The simhash fingerprint of each text."""
    blocks: ComponentSettings = ComponentSettings(use="shingles")
    """The block index, which finds texts whose fingerprints differ in few bits."""
    must_agree: tuple[GuardSettings, ...] = DEFAULT_GUARDS
    """Guards: what must agree in two posts, whatever the score, such as numbers or negation; a list of names, {use:
    NAME} with options, or {words: [buy, sell]}. A length band may have a list of its own."""
    keep: Keep = "first"
    """Which post of a set of repeats is kept: first, last, longest, most_complete (the longest body, see compare), or
    the one with the highest value of a field; in a list, each rule breaks the ties of the rules before it; or none,
    which also removes a post that has copies. Windows keep the first."""
    max_copies: int = Field(0, ge=0)
    """Number of copies of a kept post that are kept too: with 2, the third copy is the first to be removed. Windows and
    Spark keep no copies."""
    within: str | None = Field(None, pattern=r"^\s*\d+(\.\d+)?\s*[smhd]\s*$")
    """Time within which two posts repeat each other, exclusive: a number with s, m, h or d, such as 7d; null = any. The
    time of a post is in the field of --time-field. A window has a horizon instead."""
    window: WindowSettings = WindowSettings()
    """How a live window treats copies of a kept post, and posts with a known id."""
    audit: AuditSettings = AuditSettings()
    """How a run estimates the recall of its search for candidate pairs (stage 1); the summary has the estimate."""
    lengths: tuple[LengthBand, ...] = Field(DEFAULT_LENGTHS, min_length=1)
    """Bands of text length, shortest first, without gaps; a pair is judged by the band of its shorter text."""

    _remarks: tuple[str, ...] = PrivateAttr(())

    @field_validator("lengths")
    @classmethod
    def _fill_limits(cls, lengths: tuple[LengthBand, ...], info: ValidationInfo) -> tuple[LengthBand, ...]:
        fingerprint = info.data.get("fingerprint")
        if fingerprint is None:  # invalid, which is reported already
            return lengths
        return tuple(band.with_limit(fingerprint.bits) for band in lengths)

    @model_validator(mode="after")
    def _check_rules(self) -> Settings:
        if faults := setting_faults(self.to_dict()):
            raise ValueError(" ".join(fault.message for fault in faults))
        return self

    @property
    def max_hamming_distance(self) -> int:
        """The largest Hamming limit of all length bands, inclusive; 0 if all bands remove exact repeats only."""
        return max(band.max_hamming_distance or 0 for band in self.lengths)

    @property
    def keep_rules(self) -> tuple[KeepRule, ...]:
        """The rules that decide which post of a set of repeats is kept; each breaks the ties of the rules before it."""
        if self.keep == "none":
            return ("first",)
        return self.keep if isinstance(self.keep, tuple) else (self.keep,)

    @property
    def of_runs_only(self) -> list[str]:
        """The settings in use that only runs support, not windows or Spark, as ``key: value``."""
        given = [("keep: none", self.keep == "none"), (f"max_copies: {self.max_copies}", self.max_copies)]
        return [written for written, is_given in [*given, (f"within: {self.within}", self.within)] if is_given]

    @property
    def normalizers(self) -> tuple[ComponentSettings, ...]:
        """The normalizers, in order."""
        return self.normalizer if isinstance(self.normalizer, tuple) else (self.normalizer,)

    @property
    def order_fields(self) -> tuple[str, ...]:
        """The distinct fields of ``keep: {highest: FIELD}``; empty if no rule uses a field."""
        return tuple(dict.fromkeys(rule.highest for rule in self.keep_rules if isinstance(rule, KeepHighest)))

    @property
    def thresholds(self) -> list[float]:
        """The thresholds of all verifiers, including the members of combined ones."""
        return [threshold for band in self.lengths if band.verifier for threshold in band.verifier.thresholds()]

    def map_thresholds(self, change: Callable[[float], float]) -> Settings:
        """Return a copy with ``change`` applied to the thresholds of all verifiers."""
        return self.model_copy(update={"lengths": tuple(band.map_thresholds(change) for band in self.lengths)})

    def bands(self) -> Iterator[tuple[int, LengthBand]]:
        """Yield the minimum length of each length band, and the band."""
        lower = 0
        for band in self.lengths:
            yield lower, band
            lower = (band.up_to or 0) + 1

    def with_remarks(self, remarks: Iterable[str]) -> Settings:
        """Return a copy with additional warnings about the written configuration, such as deprecated keys."""
        copy = self.model_copy()
        copy._remarks = (*self._remarks, *remarks)
        return copy

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings about the written configuration, such as deprecated keys."""
        return self._remarks

    def guards(self) -> list[tuple[GuardSettings, ...]]:
        """Return the guards of each length band: the band's own guards, or else the guards at the top level."""
        return [self.must_agree if band.must_agree is None else band.must_agree for band in self.lengths]

    def warnings(self) -> list[str]:
        """Return warnings about settings that are valid but probably not intended, one sentence each."""
        return [*self._remarks, *setting_warnings(self.to_dict())]

    def __repr__(self) -> str:
        steps = (*(one.use for one in self.normalizers), self.tokenizer.use, self.weighter.use, self.blocks.use)
        bands = "1 length band" if len(self.lengths) == 1 else f"{len(self.lengths)} length bands"
        return f"Settings: {', '.join(steps)}; {self.fingerprint.bits} bits; {bands}"

    __str__ = __repr__
