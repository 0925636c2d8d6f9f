"""What pytest loads of aioarray at its start: options, a marker and fixtures, and none of the library itself.

Nothing else happens until a marker, an option or the configuration file asks for it; then `aioarray.testing.plugin` is
loaded, and with it aioarray. This module is a package of its own since importing `aioarray.anything` would import all
of `aioarray` into every test session of the environment, and before a coverage tool could see it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PLUGIN = "aioarray.testing.plugin"

# name -> its help text; each is an argument of the marker, `--aioarray-NAME`, and `aioarray_NAME` in the configuration.
SETTINGS = {
    "sync_reads": "allow, warn, raise: what a synchronous read in an event loop does",
    "max_compiles": "how many programs a test may compile; what its fixtures compile is not counted",
    "leaks": "allow, warn, error: for work, errors, device memory and waiting threads that a test leaves",
    "unawaited": "allow, warn, error: for results that were neither awaited nor read nor passed on",
    "held_locks": "allow, warn, raise: for an await of an Array under a threading.Lock",
    "max_loop_lag": "how long, in milliseconds, a test may hold up its event loop",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("aioarray", "checks of code that uses aioarray")
    group.addoption(
        "--aioarray",
        action="store_true",
        help="check every test as @pytest.mark.aioarray without arguments does: sync_reads=raise, leaks=error, "
        "unawaited=error, held_locks=raise",
    )
    for name, text in SETTINGS.items():
        group.addoption(f"--aioarray-{name.replace('_', '-')}", dest=f"aioarray_{name}", default=None, help=text)
        parser.addini(f"aioarray_{name}", text, default="")
    group.addoption(
        "--aioarray-durations",
        type=int,
        metavar="N",
        default=None,
        help="report the N slowest launches, compiles and synchronous reads; 0 for all",
    )
    parser.addini("aioarray_leak_bytes", "device memory that a test may leave in use (1048576)", default="1048576")
    parser.addini("aioarray_leak_grace", "seconds that work may still take after a test (1)", default="1")


def pytest_configure(config: pytest.Config) -> None:
    arguments = ", ".join(f"{name}=..." for name in SETTINGS)
    config.addinivalue_line(
        "markers",
        f"aioarray({arguments}): check what the test does with Arrays; without arguments as the option --aioarray does",
    )
    names = [f"aioarray_{name}" for name in ("durations", *SETTINGS)]
    if (
        config.getoption("aioarray")
        or any(config.getoption(name) is not None for name in names)
        or any(config.getini(name) for name in names[1:])
    ):
        _load(config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(item.get_closest_marker("aioarray") for item in items):
        _load(config)


def _load(config: pytest.Config) -> None:
    if not config.pluginmanager.has_plugin(PLUGIN):
        config.pluginmanager.register(importlib.import_module(PLUGIN).Plugin(config), PLUGIN)


@pytest.fixture
def device_gate() -> Iterator[Any]:
    """A gate of `aioarray.testing.hold()`: Arrays enqueued in the test stay pending until `device_gate.release()`."""
    yield from importlib.import_module(PLUGIN).device_gate()


@pytest.fixture
def fault_injector() -> Iterator[Any]:
    """`fault_injector(error, match=..., nth=...)` makes operations fail until the test ends."""
    yield from importlib.import_module(PLUGIN).fault_injector()


@pytest.fixture
def compile_counter() -> Iterator[Any]:
    """Counts the programs that are compiled in the test: `compile_counter.count`, `.programs`, `.reset()`."""
    yield from importlib.import_module(PLUGIN).compile_counter()
