"""The rows of a CSV file, grouped and combined, as the series of a chart."""

import math
import statistics
from datetime import date
from enum import Enum
from typing import Literal

from covalt_toolset import get_context, tool
from pydantic import BaseModel, Field

from tools.table import Column, Delimiter, Kind, Table, Value, place, read_table

Groups = dict[str, list[int]]  # The rows of each label.

MOST_POINTS = 2_000
MOST_SERIES = 6


class Combine(str, Enum):
    """How the values of the rows with the same place on the horizontal axis become one value."""

    SUM = "sum"
    MEAN = "mean"
    MEDIAN = "median"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    COUNT = "count"


COMBINE = {
    Combine.SUM: math.fsum,
    Combine.MEAN: statistics.fmean,
    Combine.MEDIAN: statistics.median,
    Combine.MINIMUM: min,
    Combine.MAXIMUM: max,
    Combine.COUNT: len,
}


class ChartRequest(BaseModel):
    """What to draw."""

    file: str = Field(min_length=1, description="Path of the file, such as data/sales.csv")
    x: str = Field(description="The column of the horizontal axis: dates, numbers or texts")
    y: list[str] = Field(
        [], max_length=MOST_SERIES, description="Columns of numbers, one series each; none counts the rows"
    )
    split: str | None = Field(None, description="A column whose values get a series each; y has one column then, or none")
    kind: Literal["auto", "line", "bar"] = Field("auto", description="auto draws bars for texts, and lines otherwise")
    combine: Combine = Field(Combine.SUM, description="How rows with the same x are combined")
    dates_by: Literal["day", "month", "year"] = Field("day", description="How dates on the horizontal axis are grouped")
    limit: int = Field(20, ge=1, le=100, description="How many bars at most; the greatest ones are drawn")
    title: str | None = Field(None, max_length=200, description="A title; one is made if it is left out")
    delimiter: Delimiter = Field("auto", description="What separates the values of a row")


class Series(BaseModel):
    name: str
    values: list[float | None]


class Chart(BaseModel):
    """What was drawn. All series have a value, or null, for each label."""

    title: str
    kind: Literal["line", "bar"]
    x: str = Field(description="The name of the horizontal axis")
    x_kind: Kind
    y: str = Field(description="The name of the vertical axis")
    labels: list[str]
    series: list[Series]
    left_out: int = Field(description="How many labels were left out because of the limit")


@tool(name="Draw Chart", description="Group the rows of a CSV file by one column, and draw lines or bars of other columns")
def chart_csv(chart: ChartRequest) -> Chart:
    table = read_table(place(get_context().workspace, chart.file), chart.delimiter)
    across = table.column(chart.x)
    groups = grouped(across, chart.dates_by)
    if not groups:
        raise ValueError(f"the column {across.name} has no values")
    kind = chart.kind if chart.kind != "auto" else "bar" if across.kind == "text" else "line"
    drawn = split(table, chart, groups) if chart.split else together(table, chart, groups)
    chosen = greatest(drawn, chart.limit) if kind == "bar" else list(range(len(groups)))
    if len(chosen) > MOST_POINTS:
        raise ValueError(f"{len(chosen)} points are too many: group dates by month or year, or choose another column")
    if across.kind != "text":
        chosen.sort()
    labels = list(groups)
    return Chart(
        title=chart.title or title(chart),
        kind=kind,
        x=across.name,
        x_kind=across.kind,
        y=f"{chart.combine.value} of {', '.join(chart.y)}" if chart.y else "number of rows",
        labels=[labels[at] for at in chosen],
        series=[Series(name=it.name, values=[it.values[at] for at in chosen]) for it in drawn],
        left_out=len(groups) - len(chosen),
    )


def title(chart: ChartRequest) -> str:
    columns = [chart.x, chart.split] if chart.split else [chart.x]
    made = f"{' and '.join(chart.y) or 'rows'} by {' and '.join(columns)}"
    return made[0].upper() + made[1:]


def grouped(across: Column, dates_by: str) -> Groups:
    """The rows of each label, in the order of the axis."""
    rows: dict[Value, list[int]] = {}
    for row, value in enumerate(across.values):
        if value is not None:
            rows.setdefault(value, []).append(row)
    groups: Groups = {}
    for value in rows if across.kind == "text" else sorted(rows):
        groups.setdefault(label(value, dates_by), []).extend(rows[value])
    return groups


def label(value: Value, dates_by: str = "day") -> str:
    if isinstance(value, date):
        return value.isoformat()[: {"day": 10, "month": 7, "year": 4}[dates_by]]
    return value if isinstance(value, str) else f"{value:.10g}"


def together(table: Table, chart: ChartRequest, groups: Groups) -> list[Series]:
    """One series for each column of numbers, or one that counts the rows."""
    columns = [numeric(table, name) for name in chart.y] or [None]
    return [series(column.name if column else "rows", groups, column, chart.combine) for column in columns]


def split(table: Table, chart: ChartRequest, groups: Groups) -> list[Series]:
    """One series for each value of a column, in the order of the values."""
    if len(chart.y) > 1:
        raise ValueError("with split, y has one column or none")
    column = numeric(table, chart.y[0]) if chart.y else None
    parts = table.column(chart.split)
    values = sorted(set(parts.present))
    if not 0 < len(values) <= MOST_SERIES:
        raise ValueError(f"the column {parts.name} has {len(values)} different values; a split has 1 to {MOST_SERIES}")
    made = []
    for value in values:
        own = {name: [row for row in rows if parts.values[row] == value] for name, rows in groups.items()}
        made.append(series(label(value), own, column, chart.combine))
    return made


def numeric(table: Table, name: str) -> Column:
    column = table.column(name)
    if column.kind != "number":
        raise ValueError(f"the column {column.name} holds {column.kind}s, and a series needs numbers")
    return column


def series(name: str, groups: Groups, column: Column | None, how: Combine) -> Series:
    return Series(name=name, values=[combined(rows, column, how) for rows in groups.values()])


def combined(rows: list[int], column: Column | None, how: Combine) -> float | None:
    """One value of some rows: of their values in the column, or, without a column, their number."""
    if column is None:
        return float(len(rows))
    present = [value for row in rows if (value := column.values[row]) is not None]
    return float(COMBINE[how](present)) if present else None


def greatest(drawn: list[Series], limit: int) -> list[int]:
    """The places of the greatest values of all series together, the greatest first."""
    totals = [sum(value or 0 for value in values) for values in zip(*(it.values for it in drawn))]
    return sorted(range(len(totals)), key=lambda at: -totals[at])[:limit]
