"""Numbers as people write and read them: counts of posts, bytes, durations."""

from __future__ import annotations

import re

from hybriddup.errors import ConfigError

NUMBER = re.compile(r"((?:[0-9]{1,3}(?:[_,][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+) *([a-zA-Z]*)")
"""Separators part three digits each, so that nobody's decimal comma is passed over."""
COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
BYTES = {"": 1, "b": 1} | {
    f"{prefix}{unit}": base**power
    for power, prefix in enumerate("kmgt", 1)
    for unit, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
LARGEST_PLAIN = 1e9
LARGEST_RATIO = 1e6
"""From here on, powers of ten are easier to read."""


def parse_count(text: str, option: str) -> int:
    """Return a count such as ``50M``, ``50_000_000`` or ``1.5k``.

    Raises
    ------
    ConfigError
        It is no whole number of at least 1; the message names the option.

    Examples
    --------
    >>> parse_count("50M", "--posts")
    50000000
    """
    value = scaled(text, COUNTS)
    if value is None or value < 1 or value != int(value):
        raise ConfigError(
            f"{option} must be a whole number of at least 1, such as 50000000, 50M, 200k or 1.5G; got {text!r}."
        )
    return int(value)


def parse_bytes(text: str, option: str) -> int:
    """Return a number of bytes such as ``1.5GB`` (10 ** 9), ``512MiB`` (2 ** 20) or ``800000``.

    Raises
    ------
    ConfigError
        It is no number of bytes; the message names the option.

    Examples
    --------
    >>> parse_bytes("1.5GB", "--memory"), parse_bytes("1 KiB", "--memory")
    (1500000000, 1024)
    """
    value = scaled(text, BYTES)
    if value is None or value < 1:
        raise ConfigError(
            f"{option} must be a number of bytes of at least 1, such as 1500000000, 1.5GB or 512MiB; got {text!r}."
        )
    return int(value)


def scaled(text: str, units: dict[str, int]) -> float | int | None:
    """Return a number times its unit, exactly where it is whole; None where there is no such number or unit."""
    match = NUMBER.fullmatch(text.strip())
    if match is None or match[2].lower() not in units:
        return None
    digits, unit = match[1].replace("_", "").replace(",", ""), units[match[2].lower()]
    return int(digits) * unit if digits.isdigit() else round(float(digits) * unit, 6)


def show_count(value: float) -> str:
    """Return a count with three digits or in full, such as ``696``, ``0.75``, ``3,052`` or ``1.2e+30``.

    Examples
    --------
    >>> show_count(0.7451), show_count(10.43), show_count(3051.8), show_count(0)
    ('0.75', '10.4', '3,052', '0')
    """
    if value >= LARGEST_PLAIN or 0 < value < 0.005:
        return f"{value:.1e}"
    if value == int(value) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def show_bytes(value: float) -> str:
    """Return bytes in the largest fitting decimal unit, such as ``1.2 GB``."""
    return with_unit(value, (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)))


def show_duration(nanoseconds: float) -> str:
    """Return a duration in the largest fitting unit, such as ``1.3 us``."""
    return with_unit(nanoseconds, (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)))


def with_unit(value: float, units: tuple[tuple[str, float], ...]) -> str:
    """Return a value in the first unit that it reaches, else in the last, with up to three digits."""
    unit, size = next(((unit, size) for unit, size in units if value >= size), units[-1])
    number = value / size
    if number >= 100_000:
        return f"{number:.0e} {unit}"
    return f"{number:,.0f} {unit}" if size == 1 or number >= 100 else f"{number:.1f} {unit}"


def show_range(least: int, most: int) -> str:
    """Return the numbers from one to another, such as ``25-26``, or the one where they are the same."""
    return str(most) if least == most else f"{least}-{most}"


def show_times(ratio: float) -> str:
    """Return how many times as much, such as ``3.1`` or ``12,000``."""
    if ratio >= LARGEST_RATIO:
        return f"{ratio:.0e}"
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"
