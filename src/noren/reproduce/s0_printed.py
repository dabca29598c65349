"""The numbers that the paper prints, from the TOML file beside this module."""

from __future__ import annotations

from noren.tables import table_of

_SAID = table_of("noren.reproduce.s0_printed")
TABLE_3: dict[str, tuple[float, bool]] = {team: tuple(said) for team, said in _SAID["table_3"].items()}
TABLE_4: dict[int, int | None] = dict.fromkeys(range(7)) | {
    first + at: needed for first, all_needed in _SAID["table_4"] for at, needed in enumerate(all_needed)
}
"""How many of so many named customers must be right; ``None`` where no number is enough."""
KINDS: dict[str, tuple[int, int]] = {kind: tuple(said) for kind, said in _SAID["kinds"].items()}
LIMIT: float = _SAID["limit"]
BEYOND: tuple[str, ...] = tuple(_SAID["beyond"])
COLUMNS: dict[int, tuple[str, ...]] = {int(number): tuple(names) for number, names in _SAID["columns"].items()}


def _read(text: str) -> dict[str, tuple[float | None, ...]]:
    """Return the numbers of each line; a dash is none."""
    lines = [line.split() for line in text.splitlines()]
    return {name: tuple(None if said == "-" else float(said) for said in numbers) for name, *numbers in lines}


_PRINTED = {int(number): _read(text) for number, text in _SAID["tables"].items()}
TABLES = {number: {team: said for team, said in lines.items() if team != "r"} for number, lines in _PRINTED.items()}
"""Tables 6 to 10, by team."""
CORRELATIONS = {
    column: said for number, lines in _PRINTED.items() for column, said in zip(COLUMNS[number], lines["r"], strict=True)
}
"""The last line of each: Pearson's correlation with U."""
