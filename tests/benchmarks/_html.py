"""Results as one page that needs nothing else: what was reached, bars for each row, and curves of growing cost."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from . import _curves
from ._text import describe, quantity, reached_value, targets

if TYPE_CHECKING:
    from collections.abc import Mapping

COLOURS = {
    "aioarray": "#2563eb",
    "jax": "#e08a1e",
    "jax in the loop": "#e08a1e",
    "jax to thread": "#b45309",
    "numpy": "#6b7280",
    "torch": "#be3455",
    "limit": "#14915f",
    "bare": "#14915f",
}
STYLE = """
:root { color-scheme: light dark; --text: #1c2330; --dim: #5d6778; --back: #ffffff; --line: #d8dde6; --good: #14804a;
  --bad: #c02626; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ef; --dim: #9aa5b6; --back: #14181f; --line: #323a47;
  --good: #4cc38a; --bad: #ff7b72; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
summary { cursor: pointer; font-weight: 600; }
h1 { margin-bottom: 0; } h2 { margin: 2.5rem 0 .3rem; font-size: 1.15rem; }
p { margin: .3rem 0; } .dim { color: var(--dim); } .good { color: var(--good); } .bad { color: var(--bad); }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.tile { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .9rem; min-width: 8rem; }
.tile b { display: block; font-size: 1.5rem; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem .9rem .15rem 0; font-weight: normal; }
th { color: var(--dim); border-bottom: 1px solid var(--line); }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
svg .dim { fill: var(--dim); } svg .good { fill: var(--good); } svg .bad { fill: var(--bad); }
svg line { stroke: var(--line); } svg .whisker { stroke: var(--text); opacity: .55; }
.key span { display: inline-block; margin-right: 1rem; } .key i { display: inline-block; width: .8em; height: .8em;
  border-radius: 2px; margin-right: .35em; }
"""

WIDTH = 960
LABEL = 235
BARS = 340
BAR, GAP = 13, 9


def page(result: Mapping[str, Any]) -> str:
    """The page."""
    machine, versions = result["machine"], result["versions"]
    judged = targets(result)
    missed = [(name, target) for name, target in judged if not target["reached"]]
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>aioarray: benchmarks</title><style>{STYLE}</style></head><body>",
        "<h1>aioarray: benchmarks</h1>",
        f'<p class="dim">{escape(str(result["started"]))}{", a quick run: the sizes are small" * result["quick"]}<br>',
        f"{escape(str(machine['processor']))}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB, "
        f"{escape(str(machine['system']))}<br>",
        escape(", ".join(f"{name} {version}" for name, version in versions.items())),
        "</p>",
        _tiles(result, len(judged), len(missed)),
        _missed(missed),
        '<p class="dim">Bars are medians, the lines at their ends go from the 10th to the 90th percentile; shorter is '
        "better. The contenders took turns, and a ratio is the median over the rounds of ours divided by theirs.</p>",
        _curves.figure(result),
        *map(_section, result["benchmarks"]),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _tiles(result: Mapping[str, Any], judged: int, missed: int) -> str:
    tiles = [(f"{judged - missed} of {judged}", "targets reached")]
    for benchmark in result["benchmarks"]:
        loop = f" on {benchmark['loop']}" if benchmark["loop"] else ""
        tiles += [
            (f"{mean['value']:.2f}", f"of {mean['against']}: {benchmark['title']}{loop}, geometric mean")
            for mean in benchmark["means"]
        ]
    cells = [f'<div class="tile"><b>{escape(value)}</b>{escape(text)}</div>' for value, text in tiles]
    return f'<div class="tiles">{"".join(cells)}</div>'


def _missed(missed: list[tuple[str, Mapping[str, Any]]]) -> str:
    if not missed:
        return ""
    rows = [
        f'<tr><td>{escape(name)}</td><td class="bad">{escape(reached_value(target))}</td>'
        f"<td>at most {escape(describe(target))}{', missed by less than the spread' * target['close']}</td></tr>"
        for name, target in missed
    ]
    head = "<tr><th>what</th><th>is</th><th>wanted</th></tr>"
    return f"<details><summary>Not reached: {len(missed)}</summary><table>{head}{''.join(rows)}</table></details>"


def _section(benchmark: Mapping[str, Any]) -> str:
    loop = f" on {benchmark['loop']}" if benchmark["loop"] else ""
    names = list(dict.fromkeys(name for row in benchmark["rows"] for name in row["figures"]))
    key = "".join(
        f'<span><i style="background:{COLOURS.get(name, "#888")}"></i>{escape(name)}</span>' for name in names
    )
    parts = [f"<h2>{escape(benchmark['title'] + loop)}</h2>", f'<p class="key">{key}</p>', _bars(benchmark["rows"])]
    notes = [f"{row['name']}: {row['note']}" for row in benchmark["rows"] if row["note"]]
    if benchmark["missing"]:
        notes.append(f"not compared with {', '.join(benchmark['missing'])}, which could not be had")
    if benchmark["error"]:
        notes.append(benchmark["error"])
    parts += [f'<p class="dim">{escape(note)}</p>' for note in dict.fromkeys(notes)]
    return "\n".join(parts)


def _bars(rows: list[Mapping[str, Any]]) -> str:
    height = sum(max(1, len(row["figures"])) * BAR + GAP for row in rows)
    parts = [f'<svg viewBox="0 0 {WIDTH} {height}" role="img">']
    y = 0
    for row in rows:
        parts += _row(row, y)
        y += max(1, len(row["figures"])) * BAR + GAP
    return "\n".join([*parts, "</svg>"])


def _row(row: Mapping[str, Any], y: int) -> list[str]:
    figures = row["figures"]
    largest = max((figure["median"] for figure in figures.values()), default=0.0) or 1.0
    middle = y + max(1, len(figures)) * BAR / 2 + 4
    verdicts = [target["reached"] for target in row["targets"] if target["reached"] is not None]
    mark, kind = ("✗", "bad") if False in verdicts else ("✓", "good") if verdicts else ("", "dim")
    parts = [f'<text x="{LABEL - 10}" y="{middle}" text-anchor="end">{escape(row["name"])}</text>']
    for number, (name, figure) in enumerate(figures.items()):
        top = y + number * BAR
        low, length, high = (
            min(BARS * 1.15, BARS * max(0.0, figure[key]) / largest) for key in ("p10", "median", "p90")
        )
        value = quantity(figure["median"], row["unit"])
        ratio = row["ratios"].get(name)
        beside = "" if ratio is None else f"  ratio {ratio['median']:.2f}"
        parts += [
            f'<rect x="{LABEL}" y="{top}" width="{max(length, 1):.1f}" height="{BAR - 2}" rx="2" '
            f'fill="{COLOURS.get(name, "#888")}"><title>{escape(f"{name}: {value}{beside}")}</title></rect>',
            f'<line class="whisker" x1="{LABEL + low:.1f}" x2="{LABEL + high:.1f}" y1="{top + BAR / 2 - 1}" '
            f'y2="{top + BAR / 2 - 1}"/>',
            f'<text class="dim" x="{LABEL + max(length, high) + 6:.1f}" y="{top + BAR - 3}">{escape(value)}'
            f"{escape(beside)}</text>",
        ]
    wanted = "; ".join("≤ " + describe(target) for target in row["targets"] if target["reached"] is not None)
    if wanted:
        parts.append(f'<text class="{kind}" x="{WIDTH}" y="{middle}" text-anchor="end">{mark} {escape(wanted)}</text>')
    return parts
