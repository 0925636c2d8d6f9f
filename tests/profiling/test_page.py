"""The page of a profile in a real browser: bars where they belong, no script error."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from aioarray.profiling import Await, Compile, Copy, Lag, Launch, Phase, Step, Timeline
from aioarray.profiling._page import page

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"), pytest.mark.timeout(200)]

# Appended to the page: for each row, the colours in the middle of each bar and of what is between them.
LOOK = """
<script>
const ratio = window.devicePixelRatio || 1;
const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
const pixel = (time, row) => {
  const place = 4 * (Math.round((row.y + 4) * ratio) * canvas.width + Math.round(x(time) * ratio));
  return Array.from(pixels.slice(place, place + 3)).join(" ");
};
const look = (bar, row) => ({
  begin: bar.begin, end: bar.end, label: bar.label, tip: bar.tip,
  inside: pixel((bar.begin + bar.end) / 2, row), before: pixel(bar.begin - 2, row), after: pixel(bar.end + 2, row),
});
const seen = rows.map((row) => ({ title: row.title, bars: row.bars.map((bar) => look(bar, row)) }));
const result = document.createElement("pre");
result.id = "seen";
result.textContent = JSON.stringify(seen);
document.body.append(result);
</script>
"""


def launch(index: int, name: str, row: int, *phases: Phase, **fields: Any) -> Launch:
    return Launch(
        index=index,
        name=name,
        location=f"/app/{name}.py:{index}",
        thread="MainThread",
        inline=False,
        enqueued=phases[0].begun,
        runnable=None,
        begun=None,
        launched=None,
        ready=phases[-1].ended,
        awaited=None,
        phases=phases,
        row=row,
        **{"state": "finished", "error": None, "parents": (), **fields},
    )


TIMELINE = Timeline(
    seconds=0.1,
    launches=(
        launch(0, "matmul", 0, Phase("worker", 0.005, 0.010), Phase("run", 0.010, 0.030)),
        launch(1, "exp", 1, Phase("inputs", 0.016, 0.030), Phase("run", 0.030, 0.050), parents=(0,)),
        launch(2, "<b>sum</b>", 0, Phase("run", 0.060, 0.070), state="failed", error="INTERNAL: broken"),
    ),
    awaits=(
        Await(
            "await", "exp", 1, "/app/main.py:3", "MainThread", 0.013, 0.051, False, (Step("run", "exp", 1, 0.03, 0.05),)
        ),
    ),
    compiles=(Compile("model", "/app/main.py:4", "compiled", 0.070, 0.072, 0.090, 0),),
    copies=(Copy("to_host", "float32[3]", 12, None, "MainThread", 0.075, 0.080),),
    lags=(Lag("loop on MainThread", "/app/main.py:5 in f", 0.040, 0.055),),
    loops={"loop on MainThread": (0.001,)},
)


def seen(timeline: Timeline, folder: Path, width: int) -> tuple[dict[str, list[dict[str, Any]]], str]:
    """The rows that the page shows, by title, and its elements."""
    assert CHROMIUM is not None
    path = folder / "trace.html"
    path.write_text(page(timeline) + LOOK, encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'user'}",
            f"--window-size={width},900",
            "--virtual-time-budget=2000",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not re.search(r"CONSOLE.*(Uncaught|Error)", done.stderr), done.stderr
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout
    return {row["title"]: row["bars"] for row in json.loads(html.unescape(found[1]))}, done.stdout


@pytest.mark.parametrize("width", [1400, 600])
def test_bars_are_where_they_belong(tmp_path: Path, width: int) -> None:
    rows, text = seen(TIMELINE, tmp_path, width)
    assert {title: [(bar["begin"], bar["end"]) for bar in bars] for title, bars in rows.items()} == {
        "loop on MainThread": [(40, 55)],
        "awaits 1": [(13, 51)],
        "device 1": [(10, 30), (60, 70)],
        "device 2": [(30, 50)],
        "compile 1": [(72, 90)],
        "host copies": [(75, 80)],
        "waiting 1": [(5, 10), (16, 30)],
    }
    grounds = {bar[side] for bars in rows.values() for bar in bars for side in ("before", "after")}
    colours = {title: [bar["inside"] for bar in bars] for title, bars in rows.items()}
    # Two bars that touch or nearly do are told apart by their colours.
    ground = rows["device 2"][0]["before"]
    assert grounds - {colour for found in colours.values() for colour in found} == {ground}
    assert all(colour != ground for found in colours.values() for colour in found)
    assert len({*colours["device 1"], *colours["device 2"], *colours["waiting 1"]}) == 5
    assert rows["device 1"][1]["label"] == "<b>sum</b>"
    assert "INTERNAL: broken" in rows["device 1"][1]["tip"]
    assert "/app/main.py:5 in f" in rows["loop on MainThread"][0]["tip"]
    # Names are text, not elements.
    assert "<b>sum" not in text.partition("</script>")[2]
    assert "exp ran 20.00 ms" in text
    assert "3 launches (2 finished, 1 failed)" in text


def test_a_page_of_nothing(tmp_path: Path) -> None:
    rows, text = seen(Timeline(seconds=0.0), tmp_path, 800)
    assert rows == {}
    assert "nothing was waited for" in text
