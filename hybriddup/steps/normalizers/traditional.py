"""Traditional to simplified Chinese, character by character, from the table in ``traditional.txt``."""

from __future__ import annotations

from functools import cache

from hybriddup.steps.normalizers.tables import table_lines

TABLE_FILE = "traditional.txt"


@cache
def simplified_characters() -> dict[str, str]:
    """Return the simplified character of each traditional one; no value is a key, so twice is the same as once.

    Characters that belong to simplified text as well (著, 乾, 后 ...) are not among the keys, even where
    traditional text uses them in another sense: what is right for one text would be wrong for the other.
    """
    return {line[0]: line[1] for line in table_lines(TABLE_FILE)}
