"""The benchmarks work, and what they measure is what they say: counts of launches decide, no timing does."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.benchmarks import _html, _markdown, _measure, _operations, _text
from tests.benchmarks._gate import Gate
from tests.benchmarks._model import Benchmark, Metric, Row, Settings, Target, repeated
from tests.benchmarks._partner import Partner
from tests.benchmarks._suite import SUITE, choose
from tests.benchmarks.eager_chain import chain

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "benchmarks"
QUICK = Settings(quick=True)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str, str]:
    """(JSON, page, standard output) of a quick run of one row, without anything to compare with."""
    folder = tmp_path_factory.mktemp("run")
    done = run(
        *("eager_small/a + b", "--here", "--quick", "--without", "jax,numpy,torch"),
        *("--json", str(folder / "r.json"), "--html", str(folder / "r.html")),
    )
    assert done.returncode == 0, done.stderr
    return (
        json.loads((folder / "r.json").read_text(encoding="utf-8")),
        (folder / "r.html").read_text(encoding="utf-8"),
        done.stdout,
    )


def test_a_quick_run_gives_figures_and_says_what_was_missing(quick_run: tuple[dict[str, Any], str, str]) -> None:
    result, _, printed = quick_run
    assert result["format"] == 1
    assert result["quick"] is True
    assert {"processor", "cores", "memory", "system"} == set(result["machine"])
    assert {"python", "aioarray", "jaxlib", "numpy"} <= set(result["versions"])
    (benchmark,) = result["benchmarks"]
    assert (benchmark["name"], benchmark["error"], benchmark["missing"]) == ("eager_small", "", ["jax", "torch"])
    (row,) = benchmark["rows"]
    assert set(row["figures"]) == {"aioarray", "limit"}
    for figure in row["figures"].values():
        assert figure["samples"] == 3
        assert 0 < figure["p10"] <= figure["median"] <= figure["p90"]
    assert set(row["ratios"]) == {"limit"}
    # The target beside JAX cannot be judged; it is neither reached nor missed.
    assert {target["against"]: target["reached"] is None for target in row["targets"]} == {"jax": True, "limit": False}
    assert "not compared with jax, torch: not available" in printed


def test_the_page_needs_nothing_else(quick_run: tuple[dict[str, Any], str, str]) -> None:
    _, page, _ = quick_run
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(|<script", page)
    assert page.count("<svg") == page.count("</svg>") >= 1
    assert "a + b" in page


def test_reports_can_be_made_of_a_file(quick_run: tuple[dict[str, Any], str, str], tmp_path: Path) -> None:
    result, page, _ = quick_run
    file = tmp_path / "r.json"
    file.write_text(json.dumps(result), encoding="utf-8")
    done = run("--from", str(file), "--markdown", "--html", str(tmp_path / "again.html"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == _markdown.section(result)
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_the_readme_has_the_table_of_the_last_run() -> None:
    result = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert _markdown.updated(readme, result) == readme, (
        "make it: python -m tests.benchmarks --from ... --update README.md"
    )
    measured = {benchmark["name"] for benchmark in result["benchmarks"]}
    assert measured >= {entry.name for entry in SUITE if entry.by_default}
    assert not result["quick"]


def test_a_table_has_its_place_between_two_marks(quick_run: tuple[dict[str, Any], str, str]) -> None:
    result, _, _ = quick_run
    text = f"a\n{_markdown.BEGIN}old\n{_markdown.END}b\n"
    assert _markdown.updated(text, result) == f"a\n{_markdown.BEGIN}{_markdown.section(result)}{_markdown.END}b\n"
    with pytest.raises(ValueError, match="end of benchmarks"):
        _markdown.updated("nothing here", result)


def figures(name: str, group: str, ours: float, theirs: float, limit: float) -> dict[str, Any]:
    """The result of a row with one target beside JAX."""
    ratio = ours / theirs
    target = {"against": "jax", "limit": limit, "unit": "s", "value": ratio, "reached": ratio <= limit, "close": False}
    return {
        **{"name": name, "group": group, "unit": "s", "neutral": False, "note": "", "targets": [target]},
        "figures": {"aioarray": {"median": ours}, "jax": {"median": theirs}},
        "ratios": {"jax": {"median": ratio}},
    }


def test_rows_of_a_group_share_a_line_of_the_table() -> None:
    benchmark = {
        **{"name": "copies", "title": "Copies", "loop": "", "means": []},
        "rows": [
            figures("there, 1 KB", "there", 1e-3, 2e-3, 1.0),
            figures("back, 1 KB", "back", 1e-3, 4e-3, 1.0),
            figures("there, 1 MB", "there", 3.0, 2.0, 1.0),
            figures("back, 1 MB", "back", 3e-3, 1.0, 1.0),
        ],
    }
    machine = {"processor": "P", "cores": 2, "system": "S"}
    text = _markdown.section({"machine": machine, "versions": {"python": "3"}, "benchmarks": [benchmark]})
    assert text.splitlines()[4:] == [
        "| **Copies: 1 KB / 1 MB** | | | | |",
        "| there | 1.00 ms / 3.00 s | 2.00 ms / 2.00 s | 0.50 / 1.50 | ≤ 1 of jax, **missed** by 1 MB |",
        "| back | 1.00 ms / 3.00 ms | 4.00 ms / 1.00 s | 0.25 / < 0.01 | ≤ 1 of jax |",
    ]


def test_rows_with_a_mean_are_summed_up() -> None:
    mean = {"against": "jax", "limit": 1.0, "unit": "", "value": 0.87, "reached": True, "close": False}
    rows = [figures("sin", "sin", 1.0, 2.0, 1.0), figures("cos", "cos", 3.0, 2.0, 1.25)]
    machine = {"processor": "P", "cores": 2, "system": "S"}
    benchmark = {"name": "x", "title": "Operations", "loop": "", "means": [mean], "rows": rows}
    text = _markdown.section({"machine": machine, "versions": {"python": "3"}, "benchmarks": [benchmark]})
    assert text.splitlines()[5:] == [
        "| 2 operations, geometric mean beside jax | | | 0.87 (0.50 to 1.50) | ≤ 1 of jax |",
        "| each of them | | | | sin ≤ 1 of jax; cos ≤ 1.25 of jax **missed** |",
    ]


def test_names_with_wildcards_and_rows() -> None:
    assert [choice.entry.name for choice in choose(["eager_*"])] == ["eager_small", "eager_large", "eager_chain"]
    (choice,) = choose(["numerics/so*"])
    assert (choice.entry.name, choice.rows) == ("numerics", "so*")
    assert {choice.entry.name for choice in choose([])} == {entry.name for entry in SUITE if entry.by_default}
    with pytest.raises(LookupError, match="no benchmark is called 'sort'"):
        choose(["sort"])


def test_every_benchmark_has_a_file_that_declares_it() -> None:
    for entry in SUITE:
        source = (FOLDER / f"{entry.name}.py").read_text(encoding="utf-8")
        assert "\nBENCHMARK = Benchmark(" in source


def test_a_contender_that_fails_takes_nothing_else_away(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []

    def numbered(name: str) -> Any:
        def sample() -> float:
            turns.append(name)
            return float(len(turns))

        return sample

    def failing() -> float:
        raise ArithmeticError("no luck")

    def rows(settings: Settings) -> Iterator[Row]:
        contenders = {"aioarray": numbered("aioarray"), "jax": numbered("jax"), "torch": failing}
        yield Row("row", contenders, {"": Metric("s", (Target(1.0, "jax"), Target(0.5)))}, rounds=2)
        raise LookupError("the next row cannot be set up")

    module = type(sys)("tests.benchmarks.invented")
    module.BENCHMARK = Benchmark("Invented", rows, beside=("jax",))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    result = _measure.measure("invented", "*", "", QUICK)
    (row,) = result["rows"]
    assert row["errors"] == {"torch": "ArithmeticError: no luck"}
    assert set(row["figures"]) == {"aioarray", "jax"}
    # A round to warm up and two that count; who goes first in one goes last in the next.
    assert turns == ["aioarray", "jax", "jax", "aioarray", "aioarray", "jax"]
    assert row["figures"]["aioarray"]["median"] == 4.5  # the 4th and the 5th sample
    assert row["ratios"]["jax"]["median"] == pytest.approx((4 / 3 + 5 / 6) / 2, rel=1e-3)
    assert [target["reached"] for target in row["targets"]] == [False, False]
    assert "the next row cannot be set up" in result["error"]
    assert "MISSED (within the spread) <= 1 of jax" in _text.table(result)


def test_coroutine_functions_run_on_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = []

    async def sample() -> dict[str, float]:
        loops.append(asyncio.get_running_loop())
        return {"one": 1.0, "two": 2.0}

    module = type(sys)("tests.benchmarks.invented")
    module.BENCHMARK = Benchmark(  # type: ignore[attr-defined]
        "Invented",
        lambda settings: iter([Row("row", {"aioarray": sample}, {"one": Metric(), "two": Metric("B")}, rounds=1)]),
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    result = _measure.measure("invented", "*", "asyncio", QUICK)
    assert [(row["name"], row["figures"]["aioarray"]["median"]) for row in result["rows"]] == [
        ("row, one", 1.0),
        ("row, two", 2.0),
    ]
    assert len(set(loops)) == 1  # an Array's awaiters are not moved between loops


def test_repeated_counts_its_calls() -> None:
    calls = []
    sample = repeated(lambda: calls.append(None), seconds=1e-4)
    sample()
    warm = len(calls)
    assert sample() > 0
    count = len(calls) - warm
    sample()
    assert len(calls) == warm + 2 * count


@pytest.mark.parametrize("name", _operations.FUNCTIONS)
def test_each_operation_that_is_measured_is_one_launch(name: str) -> None:
    a, b = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), np.full((4, 4), 2, np.float32)
    call = _operations.ours(*map(aio.asarray, (a, b, a > 0)))[name]
    call().block_until_ready()  # compiles
    before, compiles = aio.stats()["enqueued"], aio.stats()["compiles"]
    result = call()
    assert aio.stats()["enqueued"] - before == 1
    assert aio.stats()["compiles"] == compiles
    # And what the limit runs is the same computation.
    other = _operations.FUNCTIONS[name](*map(aio.asarray, (a, b, a > 0)))
    np.testing.assert_array_equal(np.asarray(result), np.asarray(other))


def test_the_chain_has_30_operations() -> None:
    x, y = aio.asarray(np.full((4, 4), 0.5, np.float32)), aio.asarray(np.eye(4, dtype=np.float32))
    chain(aio, x, y).block_until_ready()
    before = aio.stats()["enqueued"]
    chain(aio, x, y).block_until_ready()
    assert aio.stats()["enqueued"] - before == 30


def test_a_gate_holds_what_depends_on_it() -> None:
    with Gate() as gate:
        result = gate.array + 1
        assert not result.is_ready()
        assert (aio.ones(4) + 1).block_until_ready().is_ready()  # and nothing else
        assert not gate.array.is_ready()
    np.testing.assert_array_equal(np.asarray(result), np.full(4, 2, np.float32))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(1.5, "s", "1.50 s"), (2.34e-3, "s", "2.34 ms"), (45.6e-6, "s", "45.6 µs"), (3e-9, "s", "3.00 ns")],
)
def test_quantities_are_readable(value: float, unit: str, text: str) -> None:
    assert _text.quantity(value, unit) == text


def test_what_moved_between_two_runs_is_listed(quick_run: tuple[dict[str, Any], str, str]) -> None:
    result, _, _ = quick_run
    later = json.loads(json.dumps(result))
    (row,) = later["benchmarks"][0]["rows"]
    row["ratios"]["limit"]["median"] = 2 * result["benchmarks"][0]["rows"][0]["ratios"]["limit"]["median"]
    assert _markdown.movements(result, result) == ""
    (line,) = _markdown.movements(result, later).splitlines()
    assert line.startswith("- eager_small: a + b: ")
    assert line.endswith(" of limit")


def test_curves_are_drawn() -> None:
    def row(count: int) -> dict[str, Any]:
        figures = {"aioarray": {"median": 1e-5, "p10": 1e-5, "p90": 1e-5, "samples": 1}}
        return {"name": f"{count}", "unit": "s", "figures": figures, "x": count, "curve": "enqueue"}

    result = {"benchmarks": [{"loop": "asyncio", "rows": [row(count) for count in (10, 1000, 100_000)]}]}
    picture = _html._curves.figure(result)
    assert picture.count("<polyline") == 1
    assert picture.count("<circle") == 3
    assert "100,000" in picture


def test_another_library_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    done = run(
        *("eager_large/a + b", "--here", "--quick", "--without", "jax,torch"),
        *("--json", str(tmp_path / "r.json")),
    )
    assert done.returncode == 0, done.stderr
    (benchmark,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["benchmarks"]
    (row,) = benchmark["rows"]
    assert set(row["figures"]) == {"aioarray", "numpy"}
    assert set(row["ratios"]) == {"numpy"}
    assert row["errors"] == {}


def test_a_partner_gives_samples_and_says_what_fails() -> None:
    partner = Partner("numpy", "eager_large", "", QUICK)
    try:
        contenders = partner.contenders(Row("a + b", {}))
        assert list(contenders) == ["numpy"]
        assert contenders["numpy"]() > 0
        with pytest.raises(RuntimeError, match="KeyError: 'torch'"):
            partner._ask(sample="torch")
        assert contenders["numpy"]() > 0
        with pytest.raises(RuntimeError, match="numpy has no row 'no such row'"):
            partner.contenders(Row("no such row", {}))
        partner._process.kill()
        partner._process.wait()
        with pytest.raises(RuntimeError, match="process ended with -9"):
            contenders["numpy"]()
    finally:
        partner.close()
