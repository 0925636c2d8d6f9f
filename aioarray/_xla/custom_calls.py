"""Registering the targets of ``stablehlo.custom_call`` that jaxlib brings along."""

from __future__ import annotations

import threading

from .bindings import lapack_targets, require, xla_client


class _Registered:
    """Whether it was done in this process. Written under ``lock``."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lapack = False


_registered = _Registered()


def register_lapack() -> None:
    """Make the custom calls ``lapack_*_ffi`` known to XLA, before a program with one is compiled or loaded.

    Takes some 0.4 s at the first call, when jaxlib imports ``scipy.linalg``, whose LAPACK it uses: not for
    the thread of an event loop. Any other thread; a second call does nothing, and it does not matter if `jax`
    has registered the same targets.
    """
    require()
    with _registered.lock:
        if _registered.lapack:
            return
        for name, target in lapack_targets().items():
            version = 1 if name.endswith("_ffi") else 0
            xla_client.register_custom_call_target(name, target, platform="cpu", api_version=version)
        _registered.lapack = True
