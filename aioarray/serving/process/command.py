"""From the settings of ``aioarray serve`` to a server that runs, or to what is wrong with them."""

from __future__ import annotations

import dataclasses
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from .loading import ERRORS_OF_MODELS, load_models
from .server import USAGE, listen, say_line, serve_here
from .workers import serve_many

if TYPE_CHECKING:
    from .settings import ServeSettings

PORT_TAKEN: Final = 1
LOCAL: Final = ("127.0.0.1", "localhost", "::1")


def complain(text: object) -> None:
    """Say what is wrong."""
    print(f"aioarray serve: {text}", file=sys.stderr)


def check_files(settings: ServeSettings) -> None:
    """Raises ``OSError`` and ``ValueError`` for what the settings name and is not there, or is something else."""
    if settings.cache_dir is not None:
        Path(settings.cache_dir).mkdir(parents=True, exist_ok=True)
    if settings.certfile is not None:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(settings.certfile, settings.keyfile)
    keys_of(settings)


def keys_of(settings: ServeSettings) -> list[str]:
    """The API keys, without spaces around them. ``ValueError`` where some should be, and none are."""
    keys = [key.strip() for key in settings.api_key if key.strip()]
    if not keys and settings.api_key:
        raise ValueError("there is no key in AIOARRAY_API_KEYS or --api-key; give one, or neither of them")
    return keys


def serve(settings: ServeSettings) -> int:
    """Serve until a signal comes; the exit status."""
    try:
        check_files(settings)
        keys = keys_of(settings)
    except (ValueError, OSError) as error:
        complain(error)
        return USAGE
    local = settings.host in LOCAL
    if not (local or keys):
        complain(
            f"anybody who reaches {settings.host} may use this server; give it keys by --api-key, or AIOARRAY_API_KEYS"
        )
    # A server without keys that is for this machine alone has no other names.
    hosts = settings.allowed_host or (LOCAL if local and not keys else ())
    chosen = dataclasses.replace(settings, api_key=tuple(keys), allowed_host=hosts)
    try:
        listener = listen(settings.host, settings.port)
    except OSError as error:
        complain(f"{settings.host}, port {settings.port}: {error}")
        return PORT_TAKEN
    with listener:
        return (serve_here if settings.workers == 1 else serve_many)(chosen, listener, say_line)


def check(settings: ServeSettings) -> int:
    """Say all that is wrong with the settings, with what they name, and with the port; serve nothing."""
    status = 0
    try:
        check_files(settings)
    except (ValueError, OSError) as error:
        complain(error)
        status = USAGE
    try:
        models = anyio.run(load_models, settings.models)
    except ERRORS_OF_MODELS as error:
        complain(error)
        status = USAGE
    else:
        for model in models:
            say_line(f"{model.name}, version {model.version}")
    try:
        listen(settings.host, settings.port).close()
    except OSError as error:
        complain(f"{settings.host}, port {settings.port}: {error}")
        status = status or PORT_TAKEN
    if not status:
        say_line("nothing is wrong")
    return status
