"""What the program has is documented, and what the documents name is there."""

import doctest
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import hybriddup
from hybriddup import testing
from hybriddup.cli import options
from hybriddup.cli.app import app
from hybriddup.cli.commands import OWN
from hybriddup.config import Settings, load_settings
from hybriddup.config.read import shipped_names
from hybriddup.config.schema import config_schema
from hybriddup.config.settings import AuditSettings, CombinedVerifier, FingerprintSettings, LengthBand, SingleVerifier
from hybriddup.plugin import spec
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.roles import ROLES
from tests.docs import rates
from tests.docs.markdown import CONTRIBUTING, GUIDES, README, REFERENCE, ROOT, read_blocks, table_under

PACKAGE = ROOT / "hybriddup"
DOCUMENTS = [README, *REFERENCE, CONTRIBUTING, ROOT / "CHANGELOG.md"]
TEXT = "\n".join(path.read_text("utf-8") for path in [README, *REFERENCE])


def commands(command: Any, name: str = "hybriddup") -> Iterator[tuple[str, Any]]:
    context = command.make_context(name, [], resilient_parsing=True)
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for word in command.list_commands(context):
        if name == "hybriddup" and word not in OWN:  # of a plugin
            continue
        yield from commands(command.get_command(context, word), f"{name} {word}")


PROGRAM = typer.main.get_command(app)
COMMANDS = dict(commands(PROGRAM))
HOOKS = {name: value for name, value in vars(spec).items() if name.startswith("hybriddup_")}


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_in_the_guides_with_its_arguments(name: str) -> None:
    arguments = ", ".join(inspect.signature(HOOKS[name]).parameters)
    assert f"{name}({arguments})" in [row[0] for row in table_under("| hook |")]


def test_guides_name_no_other_hooks() -> None:
    assert set(re.findall(r"\bhybriddup_(?:register|add_\w+|run_\w+)", TEXT)) == set(HOOKS)


def test_every_public_name_is_in_the_guides() -> None:
    assert [name for name in hybriddup.__all__ if not re.search(rf"\b{name}\b", TEXT)] == []


def test_table_of_commands_is_that_of_the_program() -> None:
    assert sorted(row[0] for row in table_under("| command |")) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_has_help(name: str) -> None:
    unexplained = [one.name for one in COMMANDS[name].params if not str(one.help or "").rstrip().endswith(".")]
    assert unexplained == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_options_that_documents_name_exist(path: Path) -> None:
    known = {word for command in [PROGRAM, *COMMANDS.values()] for one in command.params for word in one.opts}
    is_guide = path in GUIDES
    lines = [line for line in path.read_text("utf-8").splitlines() if is_guide or "hybriddup " in line]
    lines = [re.sub(r"\bpip install [^&|]*&", "&", line) for line in lines]  # options of pip
    named = {word for line in lines for word in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)}
    assert named - known - {"--help"} == set()


def test_exit_codes_are_those_of_the_program() -> None:
    codes = map(int, re.findall("[0-9]+", options.EXIT_CODES))
    assert [int(row[0]) for row in table_under("| exit code |")] == sorted(codes)


def test_table_of_keys_is_that_of_the_settings() -> None:
    assert [row[0] for row in table_under("| key |")] == list(Settings.model_fields)


@pytest.mark.parametrize("model", [LengthBand, FingerprintSettings, AuditSettings], ids=lambda model: model.__name__)
def test_keys_inside_sections_are_in_the_guides(model: Any) -> None:
    assert [key for key in model.model_fields if f"`{key}`" not in TEXT] == []


def test_every_key_has_a_description_in_the_schema() -> None:
    schema = config_schema(create_plugin_manager(entry_points=False).registry)
    assert list(undescribed(schema, "")) == []


def undescribed(schema: Any, path: str) -> Iterator[str]:
    """Paths of the properties that have no description."""
    if isinstance(schema, list):
        for item in schema:
            yield from undescribed(item, path)
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name != "properties":
            yield from undescribed(value, path if name == "$defs" else f"{path}.{name}")
    properties = schema.get("properties", {})
    for name, value in properties.items():
        if not value.get("description"):
            yield f"{path}.{name}"
        yield from undescribed(value, f"{path}.{name}")


def test_table_of_roles_is_that_of_the_registry() -> None:
    registry = create_plugin_manager(entry_points=False).registry
    assert table_under("| role |") == [[role.label, ", ".join(registry.names(role.name))] for role in ROLES.values()]


def test_table_of_plugins_has_every_role_with_its_function_methods_and_check() -> None:
    rows = {row[0].removeprefix("add_"): row[1:] for row in table_under("| add it with |")}
    functions = {name: row[0].replace("none", "") for name, row in rows.items()}
    methods = {name: set(re.findall(r"\w+", row[1])) for name, row in rows.items()}
    assert functions == {name: role.per_text for name, role in ROLES.items()}
    assert [name for name, role in ROLES.items() if methods[name].isdisjoint(role.methods)] == []
    assert [row[2] for row in rows.values() if row[2] not in testing.__all__] == []


def test_public_records_are_where_the_table_says() -> None:
    rows = [(row[0], name) for row in table_under("| module | names |") for name in row[1].split(", ")]
    assert [f"{module}.{name}" for module, name in rows if not hasattr(import_module(module), name)] == []


def describe_band(band: LengthBand) -> str:
    """A length band as the table of shipped configurations writes it."""
    length = "longer" if band.up_to is None else f"up to {band.up_to}"
    if band.verifier is None:
        return f"{length}: equal"
    return f"{length}: {describe_verifier(band.verifier)} within {band.max_hamming_distance}"


def describe_verifier(verifier: SingleVerifier | CombinedVerifier) -> str:
    """A verifier with its threshold, or those that it combines."""
    if isinstance(verifier, SingleVerifier):
        return f"{verifier.use} {verifier.threshold:g}"
    joint = " or " if verifier.combine == "any" else " and "
    return joint.join(map(describe_verifier, verifier.members))


def describe_configuration(name: str) -> list[str]:
    """Name, width and bands of a shipped configuration as the table writes them."""
    settings = load_settings(name, create_plugin_manager(entry_points=False))
    names = ", ".join(guard.use for guard in settings.must_agree)
    guards = [f"guards: {names}"] if names else []
    return [name, str(settings.fingerprint.bits), "; ".join([*map(describe_band, settings.lengths), *guards])]


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_configuration_is_in_the_guides_with_its_thresholds(name: str) -> None:
    rows = {row[0]: [row[0], *row[2:]] for row in table_under("| name |")}
    assert rows.get(name) == describe_configuration(name)


def test_guides_list_no_other_configurations() -> None:
    assert sorted(row[0] for row in table_under("| name |")) == shipped_names()


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_readme_is_read_in_two_minutes() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 250


@pytest.mark.parametrize("path", sorted({*DOCUMENTS, *GUIDES}), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        is_on_the_host = link.startswith("../../actions/")  # pages of the repository, next to its files
        if (
            "://" not in link
            and not is_on_the_host
            and not (target.exists() and (not anchor or anchor in anchors(target)))
        ):
            broken.append(link)
    assert broken == []


def tree_of_contributing() -> list[str]:
    """The paths in the tree of CONTRIBUTING.md, directories with a slash at the end."""
    paths: list[str] = []
    above: list[str] = []
    for line in next(block.text for block in read_blocks(CONTRIBUTING) if "hybriddup/\n" in block.text).splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above[depth:] = [name]
        paths.append("".join(above))
    return paths


def test_tree_in_contributing_names_paths_that_exist() -> None:
    assert [path for path in tree_of_contributing() if not (ROOT / path).exists()] == []


def test_tree_in_contributing_names_every_module_of_the_package() -> None:
    package = ROOT / "hybriddup"
    modules = [*package.glob("*.py"), *package.glob("steps/*.py")]
    there = {str(path.relative_to(ROOT)) for path in modules if path.name != "__init__.py"}
    there |= {f"hybriddup/{path.parent.relative_to(package)}/" for path in package.glob("*/__init__.py")}
    there |= {f"hybriddup/steps/{path.parent.name}/" for path in package.glob("steps/*/__init__.py")}
    assert there - set(tree_of_contributing()) == set()


@pytest.mark.parametrize(
    "path", [path for path in PACKAGE.rglob("*.py") if ">>>" in path.read_text("utf-8")], ids=lambda path: path.stem
)
def test_examples_in_docstrings_are_right(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = import_module(".".join(parts).removesuffix(".__init__"))
    assert doctest.testmod(module).failed == 0


def test_the_picture_is_that_of_the_table() -> None:
    """Run python -m tests.docs.rates after a change of the table."""
    found = rates.tools(rates.README.read_text(encoding="utf-8"))
    assert [tool.name for tool in found][:2] == ["hybriddup, benchmark", "rensa + rapidfuzz"]
    assert len(found) == 6
    assert rates.PICTURE.read_text(encoding="utf-8") == rates.draw(found)
