"""The command line."""

from __future__ import annotations

import pytest

import aioarray as aio
from aioarray.__main__ import main, parser


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    options = parser().parse_args(["serve", "minilm", "--buckets", "1,2", "--buckets", "3"])
    assert (options.host, options.port, options.buckets) == ("127.0.0.1", 8000, ["1,2", "3"])
    for arguments in ([], ["serve"], ["nothing"], ["serve", "minilm", "--workers", "0"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert aio.__version__ in capsys.readouterr().out
