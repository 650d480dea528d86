"""Reading YAML: plain data only, and whatever else a file holds is an error with its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config.load import load_settings
from hybriddup.config.read import parse_yaml, read_config
from hybriddup.errors import ConfigError
from tests.builders import examples


def error_of(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "posts.yaml")
    return str(caught.value)


NOT_PLAIN = "is not allowed, only plain mappings, lists, text, numbers, true, false and null."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "normalizer: !!python/object/apply:os.system [echo]",
            f"posts.yaml:1: the tag !!python/object/apply:os.system {NOT_PLAIN}",
        ),
        ("a: 1\nkeep: !!python/name:os.system", f"posts.yaml:2: the tag !!python/name:os.system {NOT_PLAIN}"),
        ("keep: !mine first", f"posts.yaml:1: the tag !mine {NOT_PLAIN}"),
        ("keep: !!binary aGk=", f"posts.yaml:1: the tag !!binary {NOT_PLAIN}"),
        ("keep: !!set {a, b}", f"posts.yaml:1: the tag !!set {NOT_PLAIN}"),
        ("keep: first\nkeep: last", "posts.yaml:2: the key 'keep' is written twice, first in line 1."),
        ("lengths:\n  - up_to: 6\n    up_to: 7", "posts.yaml:3: the key 'up_to' is written twice, first in line 2."),
        ("1: a", "posts.yaml:1: a key must be text; got 1. Put it in quotes if it is meant."),
        ("yes: a", "posts.yaml:1: a key must be text; got yes. Put it in quotes if it is meant."),
        ("? [a, b]\n: c", "posts.yaml:1: a key must be text; got a list or mapping. Put it in quotes if it is meant."),
        ("- keep\n- first", 'posts.yaml:1: the top must be a mapping of keys; got ["keep", "first"].'),
        ("weibo", "posts.yaml:1: the top must be a mapping of keys; got 'weibo'."),
        ("keep: [", "posts.yaml:1: is not YAML: expected the node content, but found '<stream end>'."),
        ("keep: first\n\tbits: 64", "posts.yaml:2: is not YAML: found character '\\t' that cannot start any token."),
        ("keep: *base", "posts.yaml:1: is not YAML: found undefined alias 'base'."),
        ("keep: first\n---\nkeep: last", "posts.yaml:2: is not YAML: but found another document."),
        ("keep: \x00", "posts.yaml: is not YAML: special characters are not allowed."),
        ("keep: &a [*a]", "posts.yaml:1: the file is nested more than 50 deep, aliases followed."),
        ("keep: " + "[" * 60 + "]" * 60, "posts.yaml:1: the file is nested more than 50 deep, aliases followed."),
    ],
)
def test_text_that_is_not_plain_yaml_is_an_error_with_its_line(text: str, message: str) -> None:
    assert error_of(text) == message


def test_nested_aliases_cannot_fill_the_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    said = error_of("\n".join(lines))
    assert said == "posts.yaml:1: the file holds more than 100000 values, aliases counted each time."


def test_deep_nesting_is_an_error() -> None:
    """A file that would exhaust the stack is a configuration error too."""
    assert error_of("keep: " + "[" * 100_000) == "posts.yaml: is nested too deeply."


EDIT = {"use": "edit", "threshold": 0.8}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        *((text, {}) for text in ("", "\n\n", "# nothing but a remark\n", "---\n", "null")),
        ("keep: {highest: 2024-01-31}", {"keep": {"highest": "2024-01-31"}}),
        (
            "base: &base {use: edit, threshold: 0.8}\nhere: *base\nthere: {<<: *base, threshold: 0.9}",
            {"base": EDIT, "here": EDIT, "there": EDIT | {"threshold": 0.9}},
        ),
    ],
)
def test_plain_yaml_is_read(text: str, data: dict[str, object]) -> None:
    assert parse_yaml(text, "posts.yaml").data == data


def test_changing_what_was_read_does_not_change_what_is_read_again() -> None:
    """Parsed files are cached, and components' options are filled in where they are."""
    text = "blocks: {use: blocks}\nlengths:\n  - {up_to: 6}\n"
    first = parse_yaml(text, "posts.yaml")
    first.data["lengths"][0]["up_to"] = 7
    first.data["blocks"].clear()
    assert parse_yaml(text, "posts.yaml").data == {"blocks": {"use": "blocks"}, "lengths": [{"up_to": 6}]}


def test_lines_of_values_are_known() -> None:
    written = parse_yaml("keep: first\nlengths:\n  - up_to: 6\n    exact_only: true\n", "posts.yaml")
    paths = [("keep",), ("lengths", 0, "exact_only"), ("lengths", 0, "verifier"), ("fingerprint", "bits")]
    assert list(map(written.line_of, paths)) == [1, 4, 3, 0]


def test_name_that_is_neither_shipped_nor_a_file_lists_the_shipped() -> None:
    with pytest.raises(ConfigError) as caught:
        read_config("weibbo")
    assert str(caught.value) == (
        "config 'weibbo' is neither a file nor a shipped configuration. Did you mean 'weibo'? "
        "(shipped: articles, benchmark, headlines, posts, sms, twitter, weibo)"
    )


def test_shipped_name_is_not_hidden_by_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file called weibo is reached as a path, never by accident."""
    monkeypatch.chdir(tmp_path)
    Path("weibo").write_text("keep: last", "utf-8")
    assert "keep" not in read_config("weibo").data
    assert read_config("./weibo").data == read_config(Path("weibo")).data == {"keep": "last"}


def test_file_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "posts.yaml"
    path.write_bytes("keep: 最".encode("gb18030"))
    with pytest.raises(ConfigError, match="must be UTF-8; byte 6 is not"):
        read_config(path)


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "posts.yaml"
    path.write_text("keep: last", "utf-8-sig")
    assert read_config(path).data == {"keep": "last"}


def test_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_config(tmp_path)


@examples(100)
@given(st.text(alphabet="ab:{}[]&*!-#\n \t'\"|>?%@,<0.~\x00\ud800", max_size=40))
def test_any_text_is_a_mapping_or_an_error_of_ours(text: str) -> None:
    try:
        data = parse_yaml(text, "posts.yaml").data
    except ConfigError:
        return
    assert isinstance(data, dict)


PAST_64_BITS = "audit.sample must be within 9,223,372,036,854,775,807 of 0"


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("9" * 5000, "the number '9+[.]{3} cannot be read"),
        *((number, PAST_64_BITS) for number in ("9" * 400, "-" + "9" * 400, "9223372036854775808")),
        *((number, PAST_64_BITS) for number in ("0x" + "f" * 5000, "1" + ":1" * 5000)),
        (f"1{':1' * 5000}.5", "the number '1:1:1.* cannot be read"),
    ],
    ids=["5,000 digits", "400 digits", "negative", "64 bits", "hexadecimal", "of sixties", "sixties and a fraction"],
)
def test_a_number_that_cannot_be_held_is_refused(tmp_path: Path, number: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"audit:\n  sample: {number}")
    with pytest.raises(ConfigError, match=rf"mine\.yaml:2: {message}"):
        load_settings(path)
