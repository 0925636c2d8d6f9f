"""Results as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def quantity(value: float, unit: str) -> str:
    """A value with three digits and a readable unit."""
    for scale, name in SCALES.get(unit, ()):
        if abs(value) >= scale or name == SCALES[unit][-1][1]:
            return f"{significant(value / scale)} {name}"
    return f"{significant(value)} {unit}".rstrip()


def significant(value: float) -> str:
    """Three significant digits, without an exponent where that is readable."""
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.2e}"
    digits = max(0, 2 - len(str(int(abs(value)))) + (1 if abs(value) >= 1 else 0))
    return f"{value:.{digits if abs(value) >= 1 else 3}f}"


def table(benchmark: Mapping[str, Any]) -> str:
    """Everything that was measured: median (p10-p90) of each contender, ratios, targets."""
    loop = f" [{benchmark['loop']}]" if benchmark["loop"] else ""
    lines = [f"\n{benchmark['title']}{loop}  ({benchmark['name']}, {benchmark['seconds']} s)"]
    width = max((len(row["name"]) for row in benchmark["rows"]), default=0)
    for row in benchmark["rows"]:
        cells = []
        for name, figure in row["figures"].items():
            median, low, high = (quantity(figure[key], row["unit"]) for key in ("median", "p10", "p90"))
            ratio = row["ratios"].get(name)
            beside = "" if ratio is None else f" ratio {ratio['median']:.2f} ({ratio['p10']:.2f}-{ratio['p90']:.2f})"
            cells.append(f"{name} {median} ({low}-{high}){beside}")
        lines.append(f"  {row['name']:{width}}  {'; '.join(cells)}{_verdicts(row['targets'])}")
        lines += [f"  {'':{width}}  {name}: {error}" for name, error in row["errors"].items()]
    for mean in benchmark["means"]:
        lines.append(f"  geometric mean of the ratios to {mean['against']}: {mean['value']:.2f}{_verdicts([mean])}")
    if benchmark["missing"]:
        lines.append(f"  not compared with {', '.join(benchmark['missing'])}: not available")
    if benchmark["error"]:
        lines.append(f"  ERROR {benchmark['error']}")
    return "\n".join(lines)


def _verdicts(targets: list[Mapping[str, Any]]) -> str:
    missed = [target for target in targets if target["reached"] is False]
    return "".join(f"  MISSED{_close(target)} <= {describe(target)}" for target in missed)


def _close(target: Mapping[str, Any]) -> str:
    return " (within the spread)" if target["close"] else ""


def describe(target: Mapping[str, Any]) -> str:
    """The limit of a target in words."""
    return f"{target['limit']:g} of {target['against']}" if target["against"] else _value(target, target["limit"])


def reached_value(target: Mapping[str, Any]) -> str:
    """What it is instead."""
    return _value(target, target["value"])


def _value(target: Mapping[str, Any], value: float) -> str:
    return significant(value) if target["against"] or not target["unit"] else quantity(value, target["unit"])


def targets(result: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every target that could be judged, with the name of its row."""
    found = []
    for benchmark in result["benchmarks"]:
        where = " ".join(filter(None, (benchmark["name"], benchmark["loop"])))
        found += [(f"{where}: {row['name']}", target) for row in benchmark["rows"] for target in row["targets"]]
        found += [(f"{where}: geometric mean", mean) for mean in benchmark["means"]]
    return [(name, target) for name, target in found if target["reached"] is not None]


def summary(result: Mapping[str, Any]) -> str:
    """The machine, the versions, and which targets were missed."""
    machine, versions = result["machine"], result["versions"]
    judged = targets(result)
    missed = [(name, target) for name, target in judged if not target["reached"]]
    lines = [
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory'] / 1e9:.0f} GB, {machine['system']}",
        ", ".join(f"{name} {version}" for name, version in versions.items()),
    ]
    if result["not installed"]:
        lines.append(f"not installed: {', '.join(sorted(set(result['not installed'])))}")
    lines.append(f"{len(judged) - len(missed)} of {len(judged)} targets reached")
    lines += [
        f"  missed: {name}: {reached_value(target)}, wanted {describe(target)}{_close(target)}"
        for name, target in missed
    ]
    return "\n".join(lines)


__all__ = ["describe", "quantity", "reached_value", "significant", "summary", "table", "targets"]
