"""The one import of jaxlib, and every difference between its versions.

``_jax``, ``xla_client`` and ``_lapack`` are jaxlib's modules when a supported version is installed. Otherwise
they are placeholders whose every call raises IncompatibleVersionError: ``import aioarray`` always works.

jaxlib's objects have no published types: the aliases below name what an ``Any`` is.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias

import numpy as np

from .._base.errors import DeletedArrayError, IncompatibleVersionError
from .version import check_version, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Buffer: TypeAlias = Any
"""jaxlib ``ArrayImpl``: memory on one device, finished or not, or an error; can be weakly referenced."""
LoadedExecutable: TypeAlias = Any
"""jaxlib ``LoadedExecutable``."""
ResultHandler: TypeAlias = Any
"""jaxlib ``ResultHandler``: makes a Buffer out of one output of an execution."""
Sharding: TypeAlias = Any
"""jaxlib ``SingleDeviceSharding``."""

_LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"


class SpecLike(Protocol):
    """What jaxlib asks of an abstract value; ``weak_type`` must be False or True, not missing."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def weak_type(self) -> bool: ...


class Unavailable:
    """Stands for a module of jaxlib that cannot be used, and for all that is in it."""

    def __init__(self, error: IncompatibleVersionError) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Unavailable:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise IncompatibleVersionError(str(self._error), name="jaxlib") from None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Have XLA leave out INFO messages from stderr, as `jax` does, unless the user has set another level.

    XLA looks at the variable once, when its library is loaded.
    """
    if _LOG_LEVEL in os.environ:
        yield
        return
    os.environ[_LOG_LEVEL] = "1"
    try:
        yield
    finally:
        os.environ.pop(_LOG_LEVEL, None)


_jax: Any
xla_client: Any
_lapack: Any
installed_version: str | None
"""The version of jaxlib that is installed; None if there is none."""
try:
    from jaxlib.version import __version__ as installed_version
except ImportError:
    installed_version = None
try:
    check_version(installed_version)
except IncompatibleVersionError as error:
    _jax = xla_client = _lapack = Unavailable(error)
    available = False
else:
    with _quiet():
        from jaxlib import _jax, xla_client  # type: ignore[attr-defined,no-redef,unused-ignore]
        from jaxlib.cpu import _lapack  # type: ignore[attr-defined,no-redef,unused-ignore]

    available = True


def require() -> None:
    """Raise IncompatibleVersionError if jaxlib cannot be used."""
    check_version(installed_version)


# Exceptions that jaxlib raises for failed device work, failed compiles and misuse of buffers.
ForeignError: tuple[type[Exception], ...] = (_jax.JaxRuntimeError,) if available else ()


def make_sharding(device: Any) -> Sharding:
    """A sharding that places an array on one jaxlib device."""
    if hasattr(_jax.SingleDeviceSharding, "_to_xla_hlo_sharding"):
        return _jax.SingleDeviceSharding(device)
    return _completed_sharding(device)


def _completed_sharding(device: Any) -> Sharding:
    # 0.10.2 asks its C++ SingleDeviceSharding for members that only the subclass in `jax` defined.
    class CompletedSharding(_jax.SingleDeviceSharding):  # type: ignore[misc]
        memory_kind = None

        def _to_xla_hlo_sharding(self, dimensions: int) -> Any:
            return xla_client.HloSharding.replicate()

    return CompletedSharding(device)


def make_result_handler(spec: SpecLike, sharding: Sharding) -> ResultHandler:
    """A handler that makes Buffers with ``spec`` as their abstract value."""
    try:
        # 0.10.2 has the argument `_skip_checks`. Without it the handler is made all the same, but each
        # result then fails, because it asks for `ArrayImpl._check_and_rearrange`, which `jax` defined.
        return _jax.array_result_handler(spec, sharding, True, True)
    except TypeError:
        return _jax.array_result_handler(spec, sharding, True)


def export_dlpack(buffer: Buffer, max_version: tuple[int, int] | None, copied: bool) -> Any:
    """A DLPack capsule of a Buffer."""
    if dlpack_version is not None:
        return _jax.buffer_to_dlpack_managed_tensor(buffer, None, max_version, copied)
    # 0.10.2 makes unversioned capsules only; a consumer must accept those whatever it asked for.
    return _jax.buffer_to_dlpack_managed_tensor(buffer, None)


# The version of DLPack that jaxlib reads and writes; None of 0.10.2, which knows unversioned capsules only.
dlpack_version: tuple[int, int] | None = getattr(_jax, "dlpack_version", None) if available else None


def is_buffer(x: object) -> bool:
    """Whether ``x`` is a jaxlib array, as JAX's are."""
    return available and isinstance(x, _jax.ArrayImpl)


def host_view(buffer: Buffer, dtype: np.dtype[Any]) -> tuple[np.ndarray[Any, Any], bool]:
    """The value of a Buffer as a NumPy array, and whether it is a copy; waits; raises a failed Buffer's error.

    NumPy's own dtypes go by the buffer protocol, which shares the memory. It lacks those of ml_dtypes, and gives a
    0-dimensional object array, without an error, for any Buffer that it refuses; so errors are looked for first. The
    other way, jaxlib's, looks for `jax` at every call, and imports it where it is installed, which takes half a second.
    """
    if dtype.isbuiltin == 1:
        buffer.block_until_ready()
        array = np.asarray(buffer)
        if array.dtype is dtype or array.dtype == dtype:
            return array, False
    view: tuple[np.ndarray[Any, Any], bool] = buffer._single_device_array_to_np_array_did_copy()
    return view


# Up to 0.11, jaxlib takes the address of a deleted Buffer in is_ready() and when it copies it to a device: the
# process ends. There, asking and deleting exclude each other. The lock is reentrant because a garbage
# collection inside it may run a finalizer that deletes another Buffer. Held by any thread, never while waiting.
_deleting = threading.RLock()

# Whether `delete` stops nobody else.
DELETES_ALONE = not available or parse(str(installed_version)) >= (0, 12)

if not DELETES_ALONE:

    def is_ready(buffer: Buffer) -> bool:
        """Whether a Buffer is finished, with a value or an error; True for a deleted one."""
        with _deleting:
            return bool(buffer.is_deleted() or buffer.is_ready())

    def delete(buffer: Buffer) -> None:
        """Give up the memory."""
        with _deleting:
            buffer.delete()

    def copy_to_device(buffer: Buffer, device_list: Any, sharding: Sharding) -> Buffer:
        """A copy of a Buffer; raises DeletedArrayError."""
        with _deleting:
            return _copy_existing(buffer, device_list, sharding)

else:

    def is_ready(buffer: Buffer) -> bool:
        """Whether a Buffer is finished, with a value or an error; True for a deleted one."""
        try:
            return bool(buffer.is_ready())
        except ForeignError:
            if buffer.is_deleted():
                return True
            raise

    def delete(buffer: Buffer) -> None:
        """Give up the memory."""
        buffer.delete()

    def copy_to_device(buffer: Buffer, device_list: Any, sharding: Sharding) -> Buffer:
        """A copy of a Buffer; raises DeletedArrayError."""
        return _copy_existing(buffer, device_list, sharding)


def _copy_existing(buffer: Buffer, device_list: Any, sharding: Sharding) -> Buffer:
    if buffer.is_deleted():
        raise DeletedArrayError("the Buffer to copy has been deleted or donated: copy it before that")
    semantics = _jax.ArrayCopySemantics.ALWAYS_COPY
    copies = _jax.batched_copy_array_to_devices_with_sharding([buffer], [device_list], [sharding], [semantics])
    return copies[0]


def lapack_targets() -> dict[str, Any]:
    """LAPACK's custom calls, ready to be called: name to function pointer. First time: some 0.4 s."""
    _lapack.initialize()
    targets: dict[str, Any] = _lapack.registrations()
    return targets


def block_all(buffers: Sequence[Buffer]) -> None:
    """Wait, without the GIL, for every Buffer; raises the error of one that failed."""
    _jax.batched_block_until_ready(buffers)
