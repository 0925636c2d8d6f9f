"""From the options of ``aioarray serve`` to a server that runs."""

from __future__ import annotations

import os
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..models.resolve import ModelOptions
from .server import USAGE, ServeOptions, listen, say_line, serve_here
from .workers import serve_many

if TYPE_CHECKING:
    import argparse


LOCAL: Final = ("127.0.0.1", "localhost", "::1")


def _keys(options: argparse.Namespace) -> list[str]:
    """The API keys, without spaces around them. ``ValueError`` where some should be, and none are."""
    given = list(options.api_key)
    text = os.environ.get("AIOARRAY_API_KEYS")
    if text is not None:
        given += text.split(",")
    keys = [key.strip() for key in given if key.strip()]
    if not keys and (given or text is not None):
        raise ValueError("there is no key in AIOARRAY_API_KEYS or --api-key; give one, or neither of them")
    return keys


def serve(options: argparse.Namespace) -> int:
    """Serve until a signal comes; the exit status."""
    batcher = {"max_delay": options.max_delay, "max_queue": options.max_queue, "max_wait": options.max_wait}
    try:
        keys = _keys(options)
        if options.cache_dir is not None:
            Path(options.cache_dir).mkdir(parents=True, exist_ok=True)
        if options.certfile is not None:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(options.certfile, options.keyfile)
    except (ValueError, OSError) as error:
        print(f"aioarray serve: {error}", file=sys.stderr)
        return USAGE
    local = options.host in LOCAL
    if not (local or keys):
        print(
            f"aioarray serve: anybody who reaches {options.host} may use this server; give it keys by --api-key, or "
            "AIOARRAY_API_KEYS",
            file=sys.stderr,
        )
    # A server without keys that is for this machine alone has no other names.
    hosts = options.allowed_host or ([*LOCAL] if local and not keys else [])
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
            "allowed_hosts": hosts,
        },
        certfile=options.certfile,
        keyfile=options.keyfile,
        root_path=options.root_path.rstrip("/"),
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
