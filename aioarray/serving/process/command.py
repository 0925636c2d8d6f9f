"""From the options of ``aioarray serve`` to a server that runs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ..models.resolve import ModelOptions
from .server import ServeOptions, listen, say_line, serve_here
from .workers import serve_many

if TYPE_CHECKING:
    import argparse


def serve(options: argparse.Namespace) -> int:
    """Serve until a signal comes; the exit status."""
    batcher = {"max_delay": options.max_delay, "max_queue": options.max_queue, "max_wait": options.max_wait}
    keys = [*options.api_key, *filter(None, os.environ.get("AIOARRAY_API_KEYS", "").split(","))]
    chosen = ServeOptions(
        model=options.model,
        models=ModelOptions(
            tuple(options.input),
            tuple(options.buckets),
            {name: value for name, value in batcher.items() if value is not None},
        ),
        host=options.host,
        port=options.port,
        workers=options.workers,
        grace=options.grace,
        cache_dir=options.cache_dir,
        app={
            "timeout": options.timeout,
            "max_body": options.max_body,
            "max_concurrency": options.max_concurrency,
            "api_keys": keys,
        },
        max_connections=options.max_connections,
        head_seconds=options.head_timeout,
        log_level=options.log_level,
    )
    try:
        listener = listen(options.host, options.port)
    except OSError as error:
        print(f"aioarray serve: {options.host}, port {options.port}: {error}", file=sys.stderr)
        return 1
    with listener:
        return (serve_here if options.workers == 1 else serve_many)(chosen, listener, say_line)
