"""The guarded import: with a jaxlib of another version, or none, only the first use fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jaxlib.version
import pytest

from aioarray._xla import bindings
from tests._xla.programs import run_python

if TYPE_CHECKING:
    from pathlib import Path

USE = """
from aioarray import _xla, errors
from aioarray._xla import buffers, executable, streams, trees
assert not _xla.client_exists()
uses = [
    _xla.get_client,
    _xla.default_device,
    _xla.devices,
    _xla.register_lapack,
    lambda: _xla.set_stream(1),
    lambda: trees.flatten([1]),
    lambda: _xla.compile(b"", None),
]
for use in uses:
    try:
        use()
    except errors.IncompatibleVersionError as error:
        assert EXPECTED in str(error), error
    else:
        raise SystemExit("nothing was raised")
assert _xla.ForeignError == ()
"""


def test_an_unsupported_version_fails_at_first_use(tmp_path: Path) -> None:
    package = tmp_path / "jaxlib"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text("__version__ = '0.9.1'\n")
    run_python(USE.replace("EXPECTED", "'jaxlib 0.9.1 is installed'"), path=tmp_path)


def test_a_missing_jaxlib_fails_at_first_use(tmp_path: Path) -> None:
    package = tmp_path / "jaxlib"
    package.mkdir()
    (package / "__init__.py").write_text("raise ModuleNotFoundError('No module named jaxlib')\n")
    run_python(USE.replace("EXPECTED", "'jaxlib is not installed'"), path=tmp_path)


def test_the_installed_version_is_known() -> None:
    assert bindings.available
    assert bindings.installed_version == jaxlib.version.__version__


def test_the_placeholder_can_be_looked_at_but_not_called() -> None:
    error = bindings.IncompatibleVersionError("needs another jaxlib")
    placeholder = bindings.Unavailable(error)
    assert placeholder.pytree.PyTreeRegistry is placeholder
    with pytest.raises(bindings.IncompatibleVersionError, match="needs another jaxlib"):
        placeholder.pytree.PyTreeRegistry()
    with pytest.raises(AttributeError):
        placeholder.__wrapped__


def test_importing_starts_no_thread_and_leaves_the_environment_and_stderr_alone() -> None:
    result = run_python(
        "import os, threading\n"
        "before = dict(os.environ)\n"
        "import numpy\n"
        "def threads():\n"
        "    return len(os.listdir('/proc/self/task')) if os.path.exists('/proc/self/task') else 1\n"
        "count = threads()\n"
        "from aioarray import _xla\n"
        "assert not _xla.client_exists()\n"
        "assert threads() == count, (threads(), count)\n"
        "assert dict(os.environ) == before\n"
        "_xla.get_client()\n"
        "assert dict(os.environ) == before\n"
        "assert _xla.client_exists()\n"
    )
    assert result.stdout == result.stderr == ""


def test_the_log_level_of_the_user_is_kept() -> None:
    result = run_python(
        "import os\nfrom aioarray import _xla\n_xla.get_client()\nprint(os.environ['TF_CPP_MIN_LOG_LEVEL'])",
        TF_CPP_MIN_LOG_LEVEL="0",
    )
    assert result.stdout == "0\n"
    assert "device count" in result.stderr
