"""The command ``aioarray``, which is ``python -m aioarray``.

``aioarray serve MODEL`` starts an inference server; ``aioarray serve --help`` tells the rest.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from typing import TYPE_CHECKING

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Sequence

NEEDED = ("fastapi", "uvicorn", "httptools", "orjson", "prometheus_client")

MODEL_HELP = """minilm (sentence embeddings); an ONNX file, or a folder of them as NAME/VERSION/model.onnx; a file
written by aio.export.save or jax.export; or MODULE:ATTRIBUTE of an aio.serving.Model, of a function without
parameters that makes one or several, or of a function of arrays with --input for each"""


def parser() -> argparse.ArgumentParser:
    """What the command line looks like."""
    top = argparse.ArgumentParser(prog="aioarray", description="The asyncio-native array library.")
    top.add_argument("--version", action="version", version=f"aioarray {aio.__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="start an inference server", description="Start an inference server.")
    add = serve.add_argument
    add("model", metavar="MODEL", help=MODEL_HELP)
    add("--host", default="127.0.0.1", help="address to listen at (default: %(default)s, this machine alone)")
    add("--port", type=int, default=8000, help="port to listen at; 0 takes a free one (default: %(default)s)")
    add("--workers", type=int, default=1, metavar="N", help="processes that share the address (default: %(default)s)")
    add(
        "--input",
        action="append",
        default=[],
        metavar="NAME:DTYPE:SHAPE",
        help="an argument of the function, for one example, as in x:float32:3,4",
    )
    add(
        "--buckets",
        action="append",
        default=[],
        metavar="SIZES",
        help="sizes that are compiled: of batches, as in 1,8,32, or of a named length, as in tokens=16,32,64",
    )
    add("--max-delay", type=float, metavar="SECONDS", help="how long a batch may wait for more requests")
    add("--max-queue", type=int, metavar="ROWS", help="how many rows may wait before requests are turned away")
    add("--max-wait", type=float, metavar="SECONDS", help="how long they may wait, by what batches take")
    add("--timeout", type=float, default=30.0, metavar="SECONDS", help="of a request (default: %(default)s)")
    add("--max-body", type=int, default=64 << 20, metavar="BYTES", help="of a request (default: %(default)s)")
    add("--max-concurrency", type=int, default=1024, metavar="N", help="requests at once (default: %(default)s)")
    add("--max-connections", type=int, default=4096, metavar="N", help="connections at once (default: %(default)s)")
    add(
        "--head-timeout",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="for a request's head (default: %(default)s)",
    )
    add(
        "--api-key",
        action="append",
        default=[],
        metavar="KEY",
        help="a key that clients have to send; better in the "
        "environment variable AIOARRAY_API_KEYS, where other users do not see it, with commas between several",
    )
    add(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name that requests may be sent to; by default any, and for a server of this machine alone that has no "
        "keys its local ones",
    )
    add("--certfile", metavar="FILE", help="serve HTTPS with the certificate in this PEM file")
    add("--keyfile", metavar="FILE", help="... whose private key is in this one")
    add("--root-path", default="", metavar="PATH", help="what a proxy in front takes off addresses, as in /models")
    add("--cache-dir", metavar="FOLDER", help="keep compiled programs there for the next start")
    add(
        "--grace",
        type=int,
        default=30,
        metavar="SECONDS",
        help="for accepted requests after SIGTERM (default: %(default)s)",
    )
    add("--log-level", default="warning", choices=["debug", "info", "warning", "error"], help="(default: %(default)s)")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line; the exit status."""
    top = parser()
    options = top.parse_args(arguments)
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(
            f"aioarray serve: {', '.join(missing)} is missing; install what serving needs: pip install "
            "'aioarray[serving]', or 'aioarray[minilm]'",
            file=sys.stderr,
        )
        return 2
    for name in ("workers", "max_connections"):
        if getattr(options, name) < 1:
            top.error(f"--{name.replace('_', '-')} is {getattr(options, name)}; it must be at least 1")
    if options.keyfile is not None and options.certfile is None:
        top.error("--keyfile needs --certfile")
    if not 0 <= options.port <= 65535:
        top.error(f"--port is {options.port}; it must be from 0 to 65535")
    if options.model == "minilm" and importlib.util.find_spec("tokenizers") is None:
        print(
            "aioarray serve: tokenizers is missing; install what this model needs: pip install 'aioarray[minilm]'",
            file=sys.stderr,
        )
        return 2
    from .serving.process.command import serve

    return serve(options)


if __name__ == "__main__":
    sys.exit(main())
