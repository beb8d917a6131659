"""Statistics of every column of a CSV file."""

import statistics
from collections import Counter
from collections.abc import Callable
from typing import Annotated

from covalt_toolset import get_context, tool
from pydantic import BaseModel, Field

from tools.table import Column, Delimiter, Kind, place, read_table

BARS = 10


class Bar(BaseModel):
    """How often a value, or a range of values, occurs."""

    label: str
    count: int


class Numbers(BaseModel):
    """How the numbers of a column spread."""

    minimum: float
    quartile_1: float
    median: float
    mean: float
    quartile_3: float
    maximum: float
    deviation: float = Field(description="Standard deviation of the sample")


class Described(BaseModel):
    """One column."""

    name: str
    kind: Kind
    missing: int
    distinct: int
    numbers: Numbers | None = None
    first: str | None = Field(None, description="The earliest date")
    last: str | None = Field(None, description="The latest date")
    bars: list[Bar] = Field(description="A histogram of numbers and dates, or the most frequent texts")


class Description(BaseModel):
    """A whole file."""

    file: str
    rows: int
    columns: list[Described]


@tool(name="Describe CSV", description="Tell what a CSV file holds: the kind, gaps and distribution of every column")
def describe_csv(
    file: Annotated[str, Field(min_length=1, description="Path of the file, such as data/sales.csv")],
    columns: Annotated[list[str], Field(max_length=100, description="Which columns; none means all")] = [],
    delimiter: Annotated[Delimiter, Field(description="What separates the values of a row")] = "auto",
) -> Description:
    table = read_table(place(get_context().workspace, file), delimiter)
    wanted = [table.column(name) for name in columns] or table.columns
    return Description(file=file, rows=table.rows, columns=[described(column) for column in wanted])


def described(column: Column) -> Described:
    present = column.present
    summary = Described(
        name=column.name,
        kind=column.kind,
        missing=len(column.values) - len(present),
        distinct=len(set(present)),
        bars=[],
    )
    if not present:
        return summary
    if column.kind == "number":
        summary.numbers = spread(present)
        summary.bars = histogram(present, rounded)
    elif column.kind == "date":
        summary.first, summary.last = min(present).isoformat(), max(present).isoformat()
        days = [it.toordinal() for it in present]
        summary.bars = histogram(days, lambda it: type(present[0]).fromordinal(int(it)).isoformat())
    else:
        summary.bars = [Bar(label=value, count=count) for value, count in Counter(present).most_common(BARS)]
    return summary


def spread(values: list[float]) -> Numbers:
    alone = len(values) == 1
    low, middle, high = values * 3 if alone else statistics.quantiles(values, n=4, method="inclusive")
    return Numbers(
        minimum=min(values),
        quartile_1=low,
        median=middle,
        mean=statistics.fmean(values),
        quartile_3=high,
        maximum=max(values),
        deviation=0 if alone else statistics.stdev(values),
    )


def rounded(value: float) -> str:
    return f"{float(f'{value:.4g}'):,.10g}"


def histogram(values: list[float], told: Callable[[float], str]) -> list[Bar]:
    """Ranges of equal width, and how many values each has."""
    low, high = min(values), max(values)
    if low == high:
        return [Bar(label=told(low), count=len(values))]
    width = (high - low) / BARS
    counts = Counter(min(int((value - low) / width), BARS - 1) for value in values)
    edges = [low + width * at for at in range(BARS)] + [high]
    return [Bar(label=f"{told(edges[at])} to {told(edges[at + 1])}", count=counts[at]) for at in range(BARS)]
