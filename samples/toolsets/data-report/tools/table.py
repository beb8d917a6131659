"""CSV files as columns of values. A column has one kind, which all its values fit: numbers, dates or texts."""

import csv
import io
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

Kind = Literal["number", "date", "text"]
Delimiter = Literal["auto", "comma", "semicolon", "tab"]
Value = float | date | str

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t"}
MISSING = {"", "na", "n/a", "nan", "null", "none", "-"}
MOST_ROWS = 200_000


@dataclass(frozen=True)
class Column:
    """One column: its values in the order of the rows, with None for each that is missing."""

    name: str
    kind: Kind
    values: list[Value | None]

    @property
    def present(self) -> list[Value]:
        return [value for value in self.values if value is not None]


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    rows: int

    def column(self, name: str) -> Column:
        """The column of this name. A name that differs only in case is taken too, because models write such names."""
        for same in (lambda it: it == name, lambda it: it.casefold() == name.strip().casefold()):
            for column in self.columns:
                if same(column.name):
                    return column
        raise ValueError(f"there is no column {name!r}; there are {', '.join(it.name for it in self.columns)}")


def place(workspace: Path, file: str) -> Path:
    """The place of a file of the session. `/data.csv` and `data.csv` are the same file, as in Pegboard's API."""
    found = workspace / file.lstrip("/")
    if not found.is_file():
        there = sorted(str(it.relative_to(workspace)) for it in workspace.rglob("*.csv"))[:20]
        raise ValueError(f"there is no file {file!r}; CSV files of this session: {', '.join(there) or 'none'}")
    return found


def read_table(path: Path, delimiter: Delimiter = "auto") -> Table:
    """Reads a CSV file whose first row has the names of the columns."""
    text = decoded(path.read_bytes())
    separator = DELIMITERS.get(delimiter) or guessed(text)
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if any(cell.strip() for cell in row)]
    if len(rows) < 2:
        raise ValueError(f"{path.name} needs a row with the names of columns, and at least one row with values")
    if len(rows) > MOST_ROWS:
        raise ValueError(f"{path.name} has {len(rows) - 1} rows; {MOST_ROWS - 1} are allowed")
    names = named(rows[0])
    return Table([typed(name, [cell(row, at) for row in rows[1:]]) for at, name in enumerate(names)], len(rows) - 1)


def decoded(content: bytes) -> str:
    """The text of a file. What is not UTF-8 comes from a spreadsheet on Windows, most likely."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def guessed(text: str) -> str:
    """The separator that is the most frequent one in the first line."""
    first = text.partition("\n")[0]
    return max(DELIMITERS.values(), key=first.count)


def named(header: list[str]) -> list[str]:
    """The names of the columns: no name is empty, and none occurs twice."""
    names: list[str] = []
    for number, cell in enumerate(header, 1):
        name = wanted = cell.strip() or f"column {number}"
        again = 2
        while name in names:
            name, again = f"{wanted} ({again})", again + 1
        names.append(name)
    return names


def cell(row: list[str], at: int) -> str | None:
    value = row[at].strip() if at < len(row) else ""
    return None if value.casefold() in MISSING else value


def typed(name: str, cells: list[str | None]) -> Column:
    """The column with the most precise kind that all its values fit."""
    for kind, read in (("number", number), ("date", day)):
        values = [None if each is None else read(each) for each in cells]
        fits = all(value is not None for value, each in zip(values, cells) if each is not None)
        if fits and any(value is not None for value in values):
            return Column(name, kind, values)
    return Column(name, "text", list(cells))


def number(text: str) -> float | None:
    """A number as spreadsheets write it: `1,200.50`, `12%`, `$5`. A comma before three digits separates thousands."""
    plain = text.removeprefix("$").removeprefix("€").removesuffix("%").strip()
    if plain.count(",") == 1 and "." not in plain and len(plain) - plain.index(",") != 4:
        plain = plain.replace(",", ".")
    try:
        value = float(plain.replace(",", ""))
    except ValueError:
        return None
    # Infinities are no JSON, and an identifier of twenty digits is no quantity.
    return value if abs(value) < 1e18 else None


def day(text: str) -> date | None:
    """A date, or the date of a time, as ISO 8601 writes it."""
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None
