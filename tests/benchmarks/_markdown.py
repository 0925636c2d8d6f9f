"""Results for the README, and what moved between two runs for the changelog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._text import describe, quantity, targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# A ratio is said to have moved if it did so by more than this factor.
MOVED = 1.15
# The event loop whose figures are shown; the others are in the JSON and on the page.
LOOP = "asyncio"
# So many rows that missed a target are named; more are counted.
NAMED = 6
# Between these lines of a file, the section is replaced.
BEGIN, END = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->\n"


def updated(text: str, result: Mapping[str, Any]) -> str:
    """``text`` with the section of ``result`` between its two marks. ``ValueError`` if it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"no {BEGIN.strip()} ... {END.strip()} in the text")
    return before + begin + section(result) + end + after


def section(result: Mapping[str, Any]) -> str:
    """The README's section: what it was measured on, and a table."""
    machine, versions = result["machine"], result["versions"]
    judged = targets(result)
    reached = sum(target["reached"] for _, target in judged)
    software = ", ".join(f"{name} {version.partition(' ')[0]}" for name, version in versions.items())
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {software}; {LOOP}. Medians; a ratio "
        "is the median over rounds in which the contenders took turns. "
        f"{reached} of {len(judged)} targets were reached.",
        "",
        "| | aioarray | JAX | ratio | wanted |",
        "|---|---|---|---|---|",
    ]
    notes: list[str] = []
    for benchmark in result["benchmarks"]:
        if benchmark["loop"] not in ("", LOOP):
            continue
        lines += _lines(benchmark)
        notes += [f"{row['name']}: {row['note']}." for row in benchmark["rows"] if row["note"] and _lost(row)]
    return "\n".join([*lines, *(["", *dict.fromkeys(notes)] if notes else [])]) + "\n"


def _lines(benchmark: Mapping[str, Any]) -> list[str]:
    """A heading and a line for each group of rows; where there are means, those and one line for all rows."""
    title, rows = benchmark["title"], [row for row in benchmark["rows"] if not row["neutral"] and _ours(row)]
    if benchmark["means"]:
        means = [_mean(mean, rows) for mean in benchmark["means"]]
        return [_heading(title), *means, f"| each of them | | | | {_wanted({row['name']: row for row in rows})} |"]
    groups: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        label = row["name"].removeprefix(row["group"]).removeprefix(", ")
        groups.setdefault(row["group"], {})[label] = row
    labels = {group: " / ".join(members) for group, members in groups.items()}
    if len(set(labels.values())) == 1:  # once for all of them
        title, labels = _labelled(title, next(iter(labels.values()))), dict.fromkeys(groups, "")
    return [_heading(title), *(_line(_labelled(group, labels[group]), groups[group]) for group in groups)]


def _heading(title: str) -> str:
    return f"| **{title}** | | | | |"


def _labelled(name: str, labels: str) -> str:
    return f"{name}: {labels}" if labels else name


def _ours(row: Mapping[str, Any]) -> Any:
    return row["figures"].get("aioarray")


def _mean(mean: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    ratios = [row["ratios"][mean["against"]]["median"] for row in rows if mean["against"] in row["ratios"]]
    return (
        f"| {len(ratios)} operations, geometric mean beside {mean['against']} | | | {mean['value']:.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}) | {_mark(mean, not mean['reached'])} |"
    )


def _line(name: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The line of ``rows``, by what each is called within their group."""
    ours = [quantity(_ours(row)["median"], row["unit"]) for row in rows.values()]
    theirs, ratios = [], []
    for row in rows.values():
        against = next((other for other in ("jax", "jax to thread") if other in row["figures"]), None)
        theirs.append(quantity(row["figures"][against]["median"], row["unit"]) if against else "")
        ratios.append(_ratio(row["ratios"][against]["median"]) if against in row["ratios"] else "")
    cells = (" / ".join(values) if any(values) else "" for values in (ours, theirs, ratios))
    return f"| {name.replace('|', ' ')} | {' | '.join(cells)} | {_wanted(rows)} |"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else "< 0.01"


def _wanted(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """What the rows, by their labels, have to reach, and which of them did not."""
    judged: dict[str, dict[str, Mapping[str, Any]]] = {}
    for label, row in rows.items():
        for target in row["targets"]:
            if target["reached"] is not None:
                judged.setdefault(describe(target), {})[label] = target
    return "; ".join(_judgement(targets_of, len(rows)) for targets_of in judged.values())


def _judgement(targets_of: Mapping[str, Mapping[str, Any]], count: int) -> str:
    """What one target says of those of ``count`` rows that have it."""
    lost = [label for label, target in targets_of.items() if not target["reached"]]
    part = _mark(next(iter(targets_of.values())), len(lost) == len(targets_of))
    if len(targets_of) < count:
        part = f"{_enumerated(list(targets_of), count)} {part}"
    return f"{part}, **missed** by {_enumerated(lost, count)}" if 0 < len(lost) < len(targets_of) else part


def _enumerated(labels: Sequence[str], count: int) -> str:
    return ", ".join(labels) if len(labels) <= NAMED else f"{len(labels)} of {count}"


def _mark(target: Mapping[str, Any], lost: bool) -> str:
    return f"≤ {describe(target)}{' **missed**' if lost else ''}"


def _lost(row: Mapping[str, Any]) -> bool:
    return any(target["reached"] is False for target in row["targets"])


def movements(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """A line for each figure that moved between the runs: its ratio to JAX or, without one, its value."""
    before, after = dict(_figures(old)), dict(_figures(new))
    lines = []
    for name, (value, unit) in after.items():
        was = before.get(name, (value, unit))[0]
        if min(was, value) > 0 and max(was, value) / min(was, value) > MOVED:
            lines.append(f"- {name}: {_shown(was, unit)} → {_shown(value, unit)}")
    return "".join(f"{line}\n" for line in lines)


def _shown(value: float, unit: str) -> str:
    return f"{value:.2f} of {unit[3:]}" if unit.startswith("of ") else quantity(value, unit)


def _figures(result: Mapping[str, Any]) -> Iterator[tuple[str, tuple[float, str]]]:
    for benchmark in result["benchmarks"]:
        where = " ".join(filter(None, (benchmark["name"], benchmark["loop"])))
        for row in benchmark["rows"]:
            for against, ratio in row["ratios"].items():
                yield f"{where}: {row['name']}", (ratio["median"], f"of {against}")
                break
            else:
                if row["figures"].get("aioarray"):
                    yield f"{where}: {row['name']}", (row["figures"]["aioarray"]["median"], row["unit"])
