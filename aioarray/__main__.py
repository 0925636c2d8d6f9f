"""The command ``aioarray``, which is ``python -m aioarray``.

``aioarray serve MODEL`` starts an inference server; ``aioarray serve --help`` tells the rest.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

import aioarray as aio

from .serving.process.configuration import configure
from .serving.process.settings import ConfigurationError
from .serving.process.usage import serve_parser

if TYPE_CHECKING:
    from collections.abc import Sequence

NEEDED = ("fastapi", "uvicorn", "httptools", "orjson", "prometheus_client")


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line; the exit status."""
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or [""]
    if command == "serve":
        return serve(rest)
    top = argparse.ArgumentParser(prog="aioarray", description="The asyncio-native array library.")
    top.add_argument("--version", action="version", version=f"aioarray {aio.__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="start an inference server; `aioarray serve --help` tells how")
    top.parse_args(arguments)
    return 0


def serve(arguments: Sequence[str]) -> int:
    """``aioarray serve``: the exit status."""
    parser = serve_parser()
    try:
        settings, typed = configure(arguments, os.environ)
    except (ConfigurationError, OSError) as error:
        parser.error(str(error))
    if typed.help:
        parser.print_help()
        return 0
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"aioarray serve: {', '.join(missing)} is missing; install what serving needs: pip install "
            "'aioarray[serving]', or 'aioarray[minilm]'",
            file=sys.stderr,
        )
        return 2
    if any(choice.model == "minilm" for choice in settings.models) and importlib.util.find_spec("tokenizers") is None:
        print(
            "aioarray serve: tokenizers is missing; install what this model needs: pip install 'aioarray[minilm]'",
            file=sys.stderr,
        )
        return 2
    from .serving.process import command

    return command.check(settings) if typed.check else command.serve(settings)


if __name__ == "__main__":
    sys.exit(main())
