"""From what a user wrote to settings: defaults, plugins, options, and all faults at once."""

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from hybriddup.config import Settings, load_settings, open_session
from hybriddup.config.settings import AnyVerifier, ComponentSettings, LengthBand, SingleVerifier
from hybriddup.errors import ConfigError, PluginError
from hybriddup.plugin.manager import PluginManager
from tests.builders import plugin_of

Faults = Callable[[str], list[str]]


@pytest.mark.parametrize("config", [{}, Settings(), "posts"])
def test_what_is_not_written_is_a_default(manager: PluginManager, config: Any) -> None:
    assert load_settings(config, manager) == load_settings("posts", manager)


TFIDF = {"use": "tfidf", "clip": [2.0, 5.0], "other": 3.5}


@pytest.mark.parametrize(
    ("step", "given", "expected"),
    [
        ("weighter", {"clip": [1, 4]}, TFIDF | {"clip": [1.0, 4.0]}),
        ("weighter", {"use": "tfidf", "clip": [1, 4]}, TFIDF | {"clip": [1.0, 4.0]}),
        ("weighter", {"use": "uniform"}, {"use": "uniform"}),
        ("blocks", {"use": "blocks", "n_blocks": 64}, {"n_blocks": 64, "n_key_blocks": 1, "max_bucket_size": 0}),
    ],
)
def test_step_keeps_options_of_the_default_component_but_not_of_one_that_is_replaced(
    manager: PluginManager, step: str, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert load_settings({step: given}, manager).to_dict()[step] == {"use": given.get("use", "tfidf")} | expected


def test_section_is_merged_and_lengths_are_replaced_whole(manager: PluginManager) -> None:
    """Bands written for one kind of text are never mixed with those of another."""
    settings = load_settings({"audit": {"sample": 7}, "lengths": [{"exact_only": True}]}, manager)
    assert settings.audit.sample == 7
    assert settings.lengths == (LengthBand(exact_only=True),)


def test_options_are_filled_in_for_every_component(manager: PluginManager) -> None:
    bands = [{"max_hamming_distance": 3, "verifier": {"any": [{"use": "edit", "threshold": 0.8}]}}]
    settings = load_settings({"lengths": bands}, manager)
    edit = SingleVerifier(use="edit", threshold=0.8, distance="indel")
    assert settings.lengths[0].verifier == AnyVerifier(any=(edit,))
    assert settings.normalizer.options["urls"] == "drop_decoration"


@pytest.mark.parametrize("name", ["weibo", "twitter", "articles"])
def test_resolved_settings_are_a_configuration_of_themselves(manager: PluginManager, name: str) -> None:
    settings = load_settings(name, manager)
    assert load_settings(yaml.safe_load(yaml.safe_dump(settings.to_dict())), manager) == settings
    assert load_settings(settings, manager) == settings


def test_mapping_of_any_kind_is_read_and_left_as_it_is(manager: PluginManager) -> None:
    band = {"max_hamming_distance": 3, "verifier": {"use": "edit", "threshold": 0.8}}
    given = {"tokenizer": MappingProxyType({"cjk": (2, 2)}), "lengths": (band,)}
    load_settings(given, manager)
    assert given == {"tokenizer": {"cjk": (2, 2)}, "lengths": (band,)}
    assert band["verifier"] == {"use": "edit", "threshold": 0.8}


def test_settings_made_in_python_are_checked_too(manager: PluginManager) -> None:
    settings = Settings(tokenizer=ComponentSettings(use="char_ngrams", sizes=3))
    with pytest.raises(ConfigError, match=r"tokenizer\.sizes is not a key here"):
        load_settings(settings, manager)


def test_every_fault_of_a_file_is_reported_with_its_line(faults: Faults) -> None:
    text = """
        normalizer: {use: mikroblog}
        tokenizer: {cjk: [2, 1], sizes: 3}
        weighter: 3
        fingerprint: {bits: 100}
        numbers_must_match: 1
        keep: best
        lenghts: []
        lengths:
          - {up_to: 20, exact_only: true, max_hamming_distance: 3}
          - {up_to: 10, max_hamming_distance: 3, verifier: {use: edit, threshold: 1.5}}
          - {up_to: 9, max_hamming_distance: 600, verifier: {all: [{use: edti, threshold: 0.8}, {use: edit}]}}
    """
    assert faults(text) == [
        (
            "posts.yaml:1: normalizer.use: normalizer 'mikroblog' is not known. Did you mean 'microblog'? "
            "(available: chat, microblog, none)"
        ),
        "posts.yaml:2: tokenizer.cjk must be [smallest, largest] with 1 <= smallest <= largest <= 16; got [2, 1].",
        "posts.yaml:2: tokenizer.sizes is not a key here (allowed: cjk, other).",
        "posts.yaml:3: weighter must be a mapping such as {use: NAME}; got 3.",
        "posts.yaml:4: fingerprint.bits must be a multiple of 64 in [64, 512]; got 100.",
        "posts.yaml:5: numbers_must_match must be true or false; got 1.",
        (
            "posts.yaml:6: keep must be 'first' or 'last' or 'longest' or 'most_complete' or 'none' or a mapping such "
            "as {highest: FIELD} or a list of at least 1 of these; got 'best'."
        ),
        (
            "posts.yaml:7: lenghts is not a key here. Did you mean 'lengths'? (allowed: plugins, recipe, normalizer, "
            "compare, without_text, tokenizer, weighter, hasher, fingerprint, blocks, must_agree, keep, max_copies, "
            "within, window, audit, lengths)."
        ),
        "posts.yaml:9: lengths[0].max_hamming_distance must be left out where exact_only is true; got 3.",
        "posts.yaml:10: lengths[1].verifier.threshold must be a number in [0, 1]; got 1.5.",
        "posts.yaml:10: lengths[1].up_to must be above 20, the end of the band before it; got 10.",
        "posts.yaml:11: lengths[2].max_hamming_distance must be an int in [0, 511]; got 600.",
        "posts.yaml:11: lengths[2].verifier.all[1].threshold is missing; it must be a number in [0, 1].",
        (
            "posts.yaml:11: lengths[2].up_to must be left out of the last band, so that longer texts have a band too; "
            "got 9."
        ),
        (
            "posts.yaml:11: lengths[2].verifier.all[0].use: verifier 'edti' is not known. Did you mean 'edit'? "
            "(available: cosine, edit, hamming, jaccard, lcs, post)"
        ),
    ]


NEAR = "max_hamming_distance: 3, verifier: {use: edit, threshold: 0.8}"
EDIT = "{use: edit, threshold: 1}"
MASKED = "normalizer: {digits: mask}"
MANY_MASKED = "normalizer: [{use: none}, {use: microblog, digits: mask}]\nnumbers_must_match: true"
NOTHING = "the guard numbers has nothing to compare where normalizer.digits is mask"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lengths: []", "1: lengths must be a list of at least 1, each item a mapping with up_to, exact_only, "),
        ("lengths: 3", "1: lengths must be a list of at least 1, each item a mapping with up_to, exact_only, "),
        (
            f"fingerprint: {{bits: 64}}\nlengths: [{{{NEAR.replace('3', '64')}}}]",
            "2: lengths[0].max_hamming_distance must be below fingerprint.bits, which is 64; got 64.",
        ),
        (
            f"{MASKED}\nlengths: [{{verifier: {EDIT}, numbers_must_match: true}}]",
            f"2: lengths[0].must_agree[0]: {NOTHING}",
        ),
        (
            f"{MASKED}\nnumbers_must_match: true",
            f"2: must_agree[0]: {NOTHING}; set normalizer.digits: keep, or leave the guard out.",
        ),
        (MANY_MASKED, f"2: must_agree[0]: {NOTHING}"),
        (
            f"blocks: {{use: blocks, n_blocks: 3}}\nlengths: [{{{NEAR}}}]",
            "1: blocks.n_blocks must be at least 4 because max_hamming_distance is 3 and n_key_blocks is 1; got 3. ",
        ),
        (
            "tokenizer: {use: rjieba}",
            "1: tokenizer.use: tokenizer 'rjieba' is not installed; run: pip install hybriddup-rj",
        ),
        ("tokenizer: {use: [a]}", '1: tokenizer.use must be text; got ["a"].'),
        ("tokenizer:", "1: tokenizer must be a mapping such as {use: NAME}; got null."),
        ("tokenizer: {options: {cjk: [1, 2]}}", "1: tokenizer.options is not a key here (allowed: cjk, other)."),
        ("keep: {highest: ''}", "1: keep.highest must be text that is not empty; got ''."),
        ("keep: {lowest: likes}", "1: keep.highest is missing; it must be text that is not empty."),
        ("audit: {sample: true}", "1: audit.sample must be an int of at least 0; got true."),
        ("audit: {sample: -1}", "1: audit.sample must be an int of at least 0; got -1."),
        ("audit: 3", "1: audit must be a mapping with sample; got 3."),
        ("fingerprint: {bits: 576}", "1: fingerprint.bits must be a multiple of 64 in [64, 512]; got 576."),
        ("fingerprint: {bits: 128.0}", "1: fingerprint.bits must be a multiple of 64 in [64, 512]; got 128.0."),
        ("plugins: my_plugin", "1: plugins must be a list, each item text; got 'my_plugin'."),
        ("plugins: [3]", "1: plugins[0] must be text; got 3."),
        ("tokenizer: [{use: words}]", "1: tokenizer must be a mapping such as {use: NAME}; got"),
        *(
            (f"normalizer: [{given}]", f"1: normalizer{message}")
            for given, message in (
                ("", " must be a mapping such as {use: NAME} or a list of at least 1 of these; got []."),
                ("{urls: drop}", "[0].use is missing"),
                ("{use: none}, {use: microblog, urlz: 1}", "[1].urlz is not a key here. Did you mean 'urls'?"),
                ("{use: none}, {use: microblok}", "[1].use: normalizer 'microblok' is not known. Did you mean"),
                ("3, microblog", "[0] must be a mapping such as {use: NAME}; got 3."),
            )
        ),
    ],
)
def test_fault_says_place_and_range_and_value(faults: Faults, text: str, message: str) -> None:
    assert faults(text)[0].startswith(f"posts.yaml:{message}")


@pytest.mark.parametrize(
    ("bands", "message"),
    [
        ("3", "[0] must be a mapping with up_to, exact_only, max_hamming_distance, verifier, "),
        (f"{{up_to: 140, {NEAR}}}", "[0].up_to must be left out of the last band, so that longer texts have a band to"),
        (f"{{{NEAR}}}, {{{NEAR}}}", "[0].up_to is missing; only the last band may be open."),
        (f"{{up_to: 0, {NEAR}}}, {{{NEAR}}}", "[0].up_to must be an int of at least 1; got 0."),
        (f"{{up_to: 6, {NEAR}}}, {{up_to: 6, {NEAR}}}, {{{NEAR}}}", "[1].up_to must be above 6, the end of the band b"),
        ("{}", "[0].verifier is missing; set it, or set exact_only: true."),
        ("{max_hamming_distance: 3}", "[0].verifier is missing; set it, or set exact_only: true."),
        (f"{{exact_only: true, {NEAR}}}", "[0].max_hamming_distance must be left out where exact_only is true; got 3."),
        (f"{{numbers_must_match: 3, {NEAR}}}", "[0].numbers_must_match must be true or false; got 3."),
    ],
)
def test_fault_of_a_length_band_says_which(faults: Faults, bands: str, message: str) -> None:
    assert faults(f"lengths: [{bands}]")[0].startswith(f"posts.yaml:1: lengths{message}")


@pytest.mark.parametrize(
    ("verifier", "message"),
    [
        ("{threshold: 0.8}", ".use is missing; it must be text."),
        ("5", " must be a mapping such as {use: edit, threshold: 0.8} or a mapping such as {all: "),
        ("{any: []}", ".any must be a list of at least 1, each item a mapping such as {use: edit"),
        ("{any: [{use: edit, threshold: 1}], threshold: 1}", ".threshold cannot be combined with any; give it to"),
        ("{any: [{all: [{use: edit, threshold: 2}]}]}", ".any[0].all[0].threshold must be a number in [0, 1]; got 2."),
        (
            "{any: [{all: [{use: edit, threshold: 1}], threshold: 1}]}",
            ".any[0].threshold cannot be combined with all; give",
        ),
        ("{any: [{all: [{any: [{use: edti, threshold: 1}]}]}]}", ".any[0].all[0].any[0].use: verifier 'edti' is not k"),
        ("{use: edit, threshold: .nan}", ".threshold must be a number in [0, 1]; got NaN."),
        ("{use: edit, threshold: '0.8'}", ".threshold must be a number in [0, 1]; got '0.8'."),
        ("{use: edit, threshold: 1, distance: osa}", ".distance must be 'indel' or 'levenshtein'; got 'osa'."),
    ],
)
def test_fault_of_a_verifier_says_its_place_however_deep(faults: Faults, verifier: str, message: str) -> None:
    said = faults(f"lengths: [{{verifier: {verifier}}}]")
    assert said[0].startswith(f"posts.yaml:1: lengths[0].verifier{message}")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"keep": "best"}, "keep must be 'first' or"),  # the key only, as there is no file
        ({"tokenizer": {"cjk": object()}}, "tokenizer must be made of plain data as in YAML: .* is of type object"),
        (None, "config must be a name, a path, a mapping or Settings; got NoneType."),
        (3, "config must be a name, a path, a mapping or Settings; got int."),
        (["weibo"], "config must be a name, a path, a mapping or Settings; got list."),
    ],
)
def test_config_made_in_python_that_cannot_be_is_an_error(manager: PluginManager, config: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        load_settings(config, manager)


@pytest.fixture
def module_beside_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name a plugin module in the current directory, which a configuration beside it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry])
    code = """
        import hybriddup

        @hybriddup.hookimpl
        def hybriddup_register(registry):
            registry.add_tokenizer("letters", lambda text: list(text))
    """
    Path("plugin_of_a_file.py").write_text(dedent(code), "utf-8")
    Path("posts.yaml").write_text("plugins: [plugin_of_a_file]\ntokenizer: {use: letters}", "utf-8")
    monkeypatch.delitem(sys.modules, "plugin_of_a_file", raising=False)
    return "plugin_of_a_file"


def test_plugins_of_a_file_are_loaded_before_its_components_are_checked(
    module_beside_the_user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    settings, manager = open_session("posts.yaml", entry_points=False)
    assert settings.plugins == (module_beside_the_user,)
    tokenizer = manager.registry.create_by_name("tokenizer", settings.tokenizer.use)
    assert tokenizer.tokenize_batch(["ab"]).strings(0) == ["a", "b"]


def test_a_file_has_modules_imported_that_lie_beside_it(
    module_beside_the_user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    settings, manager = open_session("../posts.yaml", entry_points=False)
    tokenizer = manager.registry.create_by_name("tokenizer", settings.tokenizer.use)
    assert tokenizer.tokenize_batch(["ab"]).strings(0) == ["a", "b"]


def test_a_file_has_no_module_imported_from_the_current_directory(module_beside_the_user: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path("posts.yaml").rename("elsewhere/posts.yaml")
    with pytest.raises(PluginError, match=f"'{module_beside_the_user}' is not installed and not in .*elsewhere"):
        open_session("elsewhere/posts.yaml", entry_points=False)
    with pytest.raises(PluginError, match=f"'{module_beside_the_user}' is not installed; .* name it with --plugin"):
        open_session({"plugins": [module_beside_the_user]}, entry_points=False)
    assert module_beside_the_user not in sys.modules
    settings, _ = open_session("elsewhere/posts.yaml", [module_beside_the_user], entry_points=False)
    assert settings.tokenizer.use == "letters"


def test_two_files_may_not_mean_two_modules_of_one_name(module_beside_the_user: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for name in ("posts.yaml", f"{module_beside_the_user}.py"):
        (tmp_path / "other" / name).write_bytes((tmp_path / name).read_bytes())
    open_session("posts.yaml", entry_points=False)
    with pytest.raises(PluginError, match=rf"is {tmp_path}/plugin_of_a_file.py, not other/plugin_of_a_file.py; rename"):
        open_session("other/posts.yaml", entry_points=False)


CHAIN = """
    normalizer:
      - {use: microblog, digits: mask}
      - use: none
"""


def test_normalizers_in_a_list_follow_each_other(tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(dedent(CHAIN), "utf-8")
    settings = load_settings(tmp_path / "chain.yaml")
    chosen = [(one.use, one.options.get("digits")) for one in settings.normalizers]
    assert chosen == [("microblog", "mask"), ("none", None)]
    assert settings.to_dict()["normalizer"][1] == {"use": "none"}
    assert load_settings(settings.to_dict()) == settings


def test_session_without_config_plugins_loads_those_asked_for() -> None:
    plugin = plugin_of(lambda registry: registry.add_tokenizer("letters", str.split))
    settings, _ = open_session({"tokenizer": {"use": "letters"}}, plugins=[plugin], entry_points=False)
    assert settings.tokenizer == ComponentSettings(use="letters")


@pytest.mark.parametrize(("bits", "limits"), [(64, [22, 22, 20]), (128, [44, 44, 40]), (192, [66, 66, 60])])
def test_band_without_a_limit_gets_one_by_its_lengths_and_the_width(
    manager: PluginManager, bits: int, limits: list[int]
) -> None:
    verifier = {"use": "edit", "threshold": 0.8}
    bands = [{"up_to": 30, "verifier": verifier}, {"up_to": 200, "verifier": verifier}, {"verifier": verifier}]
    settings = load_settings({"fingerprint": {"bits": bits}, "lengths": bands}, manager)
    assert [band["max_hamming_distance"] for band in settings.to_dict()["lengths"]] == limits
    assert load_settings(settings.to_dict(), manager) == settings


def test_limit_that_is_given_stays(manager: PluginManager) -> None:
    near = {"max_hamming_distance": 0, "verifier": {"use": "edit", "threshold": 0.8}}
    settings = load_settings({"lengths": [{"up_to": 6, "exact_only": True}, near]}, manager)
    assert [band.max_hamming_distance for band in settings.lengths] == [None, 0]


def test_limit_over_three_eighths_of_the_bits_is_a_warning(manager: PluginManager) -> None:
    bands: list[dict[str, Any]] = [{"up_to": 9, "max_hamming_distance": 49}, {"max_hamming_distance": 48}]
    for band in bands:
        band["verifier"] = {"use": "edit", "threshold": 0.8}
    (warning,) = load_settings({"lengths": bands}, manager).warnings()
    assert warning.startswith("lengths[0].max_hamming_distance is 49 of 128 bits.")
    assert load_settings({}, manager).warnings() == []


def test_a_mapping_holds_no_number_past_64_bits() -> None:
    """All of them are named, though Python does not write a number of 5,000 digits."""
    config = {"audit": {"sample": 10**5000}, "tokenizer": {"use": "char_ngrams", "cjk": [1, -(10**400)]}}
    with pytest.raises(ConfigError) as raised:
        load_settings(config)
    assert [line.split(";")[0] for line in str(raised.value).splitlines()] == [
        "audit.sample must be within 9,223,372,036,854,775,807 of 0",
        "tokenizer.cjk[1] must be within 9,223,372,036,854,775,807 of 0",
    ]
