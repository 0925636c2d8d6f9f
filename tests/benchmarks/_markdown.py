"""Results for the README, and what moved between two runs for the changelog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._text import describe, quantity, targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A ratio is said to have moved if it did so by more than this factor.
MOVED = 1.15
# The event loop whose figures are shown; the others are in the JSON and on the page.
LOOP = "asyncio"
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
        lines.append(f"| **{benchmark['title']}** | | | | |")
        lines += _lines(benchmark)
        notes += [f"{row['name']}: {row['note']}." for row in benchmark["rows"] if row["note"] and _lost(row)]
    return "\n".join([*lines, *(["", *dict.fromkeys(notes)] if notes else [])]) + "\n"


def _lines(benchmark: Mapping[str, Any]) -> Iterator[str]:
    for mean in benchmark["means"]:
        ratios = [row["ratios"][mean["against"]]["median"] for row in benchmark["rows"] if row["ratios"]]
        yield (
            f"| geometric mean of {len(ratios)} operations, beside {mean['against']} | | | {mean['value']:.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}) | {_wanted(mean)} |"
        )
    for row in benchmark["rows"]:
        # Where there is a mean, only what it hides.
        if not row["neutral"] and row["figures"].get("aioarray") and (not benchmark["means"] or _lost(row)):
            yield _line(row)


def _lost(row: Mapping[str, Any]) -> bool:
    return any(target["reached"] is False for target in row["targets"])


def _line(row: Mapping[str, Any]) -> str:
    against = next((name for name in ("jax", "jax to thread") if name in row["figures"]), None)
    theirs = quantity(row["figures"][against]["median"], row["unit"]) if against else ""
    ratio = f"{row['ratios'][against]['median']:.2f}" if against in row["ratios"] else ""
    wanted = "; ".join(_wanted(target) for target in row["targets"] if target["reached"] is not None)
    ours = quantity(row["figures"]["aioarray"]["median"], row["unit"])
    return f"| {row['name'].replace('|', ' ')} | {ours} | {theirs} | {ratio} | {wanted} |"


def _wanted(target: Mapping[str, Any]) -> str:
    return f"≤ {describe(target)}{'' if target['reached'] else ' **missed**'}"


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
