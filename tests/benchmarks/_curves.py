"""How the cost of one operation grows with their number, as a picture with logarithmic axes."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from ._text import quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDTH, HEIGHT = 960, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 330, 14, 44
COLOURS = ("#2563eb", "#14915f", "#9333ea", "#be3455", "#0891b2", "#e08a1e", "#6b7280", "#a16207")
Points = list[tuple[float, float]]


def series(result: Mapping[str, Any]) -> dict[str, Points]:
    """The points of each curve, by its name."""
    found: dict[str, Points] = {}
    for benchmark in result["benchmarks"]:
        for row in benchmark["rows"]:
            if row["x"] is None or not row["curve"]:
                continue
            for name, figure in row["figures"].items():
                label = f"{name}: {row['curve']}" + (f", {benchmark['loop']}" if benchmark["loop"] else "")
                found.setdefault(label, []).append((row["x"], figure["median"]))
    return {name: sorted(points) for name, points in found.items() if len(points) > 1}


def figure(result: Mapping[str, Any]) -> str:
    """The picture, or nothing where no curve was measured."""
    curves = series(result)
    values = [value for points in curves.values() for _, value in points if value > 0]
    if not values:
        return ""
    counts = [count for points in curves.values() for count, _ in points]
    left, right = math.log10(min(counts)), math.log10(max(counts))
    low, high = math.floor(math.log10(min(values))), math.floor(math.log10(max(values))) + 1

    def x(count: float) -> float:
        return LEFT + (math.log10(count) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        "<h2>What one launch or one await costs when there are many of them</h2>",
        '<p class="dim">Flat is right: each step of the scheduler takes the same time however many are pending.</p>',
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="dim" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_tick(power)}</text>')
    for power in range(math.ceil(left), math.floor(right) + 1):
        at = x(10.0**power)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(
            f'<text class="dim" x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10**power:,}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="dim" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">pending launches or awaits</text>'
    )
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        dashes = ' stroke-dasharray="5 4"' if number >= len(COLOURS) else ""
        path = " ".join(f"{x(count):.1f},{y(value):.1f}" for count, value in points if value > 0)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts += [
            f'<circle cx="{x(count):.1f}" cy="{y(value):.1f}" r="3" fill="{colour}">'
            f"<title>{escape(name)}, {count:,.0f}: {quantity(value, 's')}</title></circle>"
            for count, value in points
            if value > 0
        ]
        top = TOP + 8 + number * 18
        parts.append(f'<rect x="{WIDTH - RIGHT + 16}" y="{top - 5}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 36}" y="{top + 1}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"])


def _tick(power: int) -> str:
    number, _, unit = quantity(10.0**power, "s").partition(" ")
    return f"{float(number):g} {unit}"
