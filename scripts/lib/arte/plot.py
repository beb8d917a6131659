"""The plots of a run as one SVG: outcomes, the right mail, and histograms of steps, tokens, latency and citations."""

import math
from html import escape

WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 34, 40
COLUMNS = 3
STYLE = """
  svg { background: #fff; font: 12px system-ui, sans-serif } text { fill: #222 }
  .title { font-weight: 600; font-size: 13px }
  .axis { stroke: #777 } .grid { stroke: #ddd } .bar { fill: #3267a8 } .right { fill: #2e7d4f } .wrong { fill: #b3412e }
  .other { fill: #8a8a8a }
  @media (prefers-color-scheme: dark) { svg { background: #16181d } text { fill: #e6e6e6 } .axis { stroke: #999 }
    .grid { stroke: #333 } .bar { fill: #7aa7e0 } .right { fill: #63b98a } .wrong { fill: #e08070 }
    .other { fill: #a0a0a0 } }
"""


def svg(told: dict, rows: list[dict], title: str) -> str:
    answered = [it for it in rows if not it["error"]]
    outcomes = [("right", told["right"], "right"), ("wrong", told["wrong"], "wrong"),
                ("not known", told["dont_know"], "other"), ("errors", told["errors"], "other")]
    way = [(name, 100 * (told[key] or 0), "bar") for name, key in
           (("found", "found"), ("read", "read"), ("cited", "cited_right"), ("right", "accuracy"))]

    def values(name: str) -> list[float]:
        return [it[name] for it in answered if it[name] is not None]

    tokens = [(it["input_tokens"] or 0) + (it["output_tokens"] or 0) for it in answered if it["input_tokens"] is not None]
    panels = [
        bars("Outcomes (questions)", outcomes),
        bars("The right mail, and the right answer (%)", way, top=100),
        bars("Steps of a turn (questions)", counted(values("steps"))),
        bars("Tokens of a turn, in and out (questions)", binned(tokens)),
        bars("Latency in seconds (questions)", binned(values("seconds"))),
        bars("Citations of an answer (questions)", counted([len(it["cited"]) for it in answered])),
    ]
    height = 40 + HEIGHT * math.ceil(len(panels) / COLUMNS)
    placed = "\n".join(
        f'<g transform="translate({WIDTH * (number % COLUMNS)},{40 + HEIGHT * (number // COLUMNS)})">{panel}</g>'
        for number, panel in enumerate(panels)
    )
    width = WIDTH * COLUMNS
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<text class="title" x="16" y="26">{escape(title)}</text>\n{placed}\n</svg>\n'
    )


def bars(title: str, entries: list[tuple[str, float, str]], top: float | None = None) -> str:
    """A bar for each (label, value, class)."""
    parts = [f'<text class="title" x="{LEFT}" y="20">{escape(title)}</text>']
    if not entries:
        return parts[0] + f'<text x="{LEFT}" y="{HEIGHT // 2}">no data</text>'
    inner_width, inner_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    highest = top or nice_top(max(value for _, value, _ in entries))
    for tick in ticks(highest):
        y = TOP + inner_height * (1 - tick / highest)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    step = inner_width / len(entries)
    for number, (label, value, kind) in enumerate(entries):
        x, bar = LEFT + step * (number + 0.15), inner_height * min(value / highest, 1)
        parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{TOP + inner_height - bar:.1f}" width="{0.7 * step:.1f}" '
                     f'height="{bar:.1f}"><title>{escape(label)}: {value:g}</title></rect>')
        # More labels than these would lie over each other.
        if number % math.ceil(len(entries) / 9) == 0:
            parts.append(f'<text x="{LEFT + step * (number + 0.5):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
                         f"{escape(label)}</text>")
    axis = TOP + inner_height
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{axis}" y2="{axis}"/>')
    return "".join(parts)


def counted(values: list[int]) -> list[tuple[str, float, str]]:
    """A bar for each whole number from the smallest to the largest."""
    if not values:
        return []
    return [(str(it), values.count(it), "bar") for it in range(min(values), max(values) + 1)]


def binned(values: list[float], bins: int = 8) -> list[tuple[str, float, str]]:
    """A bar for each of some ranges, labelled with its lower end."""
    if not values:
        return []
    width = nice_top(max(max(values) / bins, 1e-9))
    counts = [0] * (int(max(values) // width) + 1)
    for value in values:
        counts[int(value // width)] += 1
    return [(short(number * width), count, "bar") for number, count in enumerate(counts)]


def short(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:.3g}"


def nice_top(value: float) -> float:
    """The next number of the form 1, 2 or 5 times a power of ten."""
    if value <= 0:
        return 1
    power = 10 ** math.floor(math.log10(value))
    return next(it * power for it in (1, 2, 5, 10) if value <= it * power * (1 + 1e-9))


def ticks(highest: float) -> list[float]:
    pieces = 4 if highest >= 4 else max(int(highest), 1)
    return [highest * it / pieces for it in range(pieces + 1)]
