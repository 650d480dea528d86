"""The declared keys: documented, ranged, frozen, and checked against each other."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ValidationError

from hybriddup.config import settings as module
from hybriddup.config.settings import LengthBand, Settings, SingleVerifier
from hybriddup.plugin.manager import create_plugin_manager


def keys() -> Iterator[tuple[str, str | None]]:
    """Every key of the settings and every option of a built-in, with its description."""
    models = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, BaseModel)]
    registry = create_plugin_manager(entry_points=False).registry
    for registered in registry.registered():
        model = registered.options_model()
        models += [model] if model is not None else []
    for model in models:
        schema = model.model_json_schema()
        properties = schema.get("properties") or schema.get("$defs", {}).get(model.__name__, {}).get("properties")
        for name in model.model_fields:
            yield f"{model.__qualname__}.{name}", properties[name].get("description")


def near(up_to: int | None = None, max_hamming_distance: int = 3) -> LengthBand:
    verifier = SingleVerifier(use="edit", threshold=0.8)
    return LengthBand(up_to=up_to, max_hamming_distance=max_hamming_distance, verifier=verifier)


@pytest.mark.parametrize(("key", "description"), list(keys()))
def test_every_key_is_described(key: str, description: str | None) -> None:
    assert description is not None, key
    assert len(description) > 15
    assert description.endswith((".", ")"))
    assert "  " not in description


def test_bands_cover_every_length_once() -> None:
    bands = tuple(LengthBand(up_to=up_to, exact_only=True) for up_to in (6, 20, None))
    assert list(Settings(lengths=bands).bands()) == [(0, bands[0]), (7, bands[1]), (21, bands[2])]


@pytest.mark.parametrize(("up_to", "lower", "name"), [(6, 0, "0-6"), (20, 7, "7-20"), (None, 141, "141-")])
def test_band_is_named_by_its_lengths(up_to: int | None, lower: int, name: str) -> None:
    assert LengthBand(up_to=up_to, exact_only=True).name(lower) == name


def test_largest_hamming_distance_is_that_of_any_band() -> None:
    assert Settings(lengths=(near(up_to=20, max_hamming_distance=9), near())).max_hamming_distance == 9
    assert Settings(lengths=(LengthBand(exact_only=True),)).max_hamming_distance == 0


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().keep = "last"  # type: ignore[misc]


def test_rules_hold_for_settings_made_in_python() -> None:
    """Bands with a gap cannot be made at all."""
    with pytest.raises(ValidationError, match="must be left out of the last band"):
        Settings(lengths=(near(up_to=140),))


def test_settings_are_written_in_the_order_of_the_steps() -> None:
    assert list(Settings().to_dict()) == list(Settings.model_fields)


def test_band_is_written_without_what_does_not_apply() -> None:
    assert LengthBand(up_to=6, exact_only=True).to_dict() == {"up_to": 6, "exact_only": True}
    assert near().to_dict() == {"max_hamming_distance": 3, "verifier": {"use": "edit", "threshold": 0.8}}


def test_band_made_in_python_gets_its_limit_too() -> None:
    band = LengthBand(verifier=SingleVerifier(use="edit", threshold=0.8))
    assert Settings(lengths=(band,)).max_hamming_distance == 40
