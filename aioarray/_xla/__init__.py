"""The gateway to jaxlib: nothing else in aioarray imports it.

===============  ==================================================================================
``version``      the supported range
``bindings``     the import, guarded, and every difference between versions
``client``       the PJRT client and its `Device` objects
``buffers``      host arrays to device Buffers and back, errors in place of values
``dlpack``       Buffers out of what other libraries export, and exports that nobody may write into
``executable``   StableHLO text to `Executable`, cost, serialised programs, result handlers
``artifacts``    programs whose shapes are known only when they are compiled
``custom_calls`` LAPACK for ``stablehlo.custom_call``
``ending``       the end of the interpreter
``reuse``        memory for large host arrays, used again
``streams``      execution stream ids
``trees``        nested containers
``errors``       jaxlib's exceptions to (status code, message)
===============  ==================================================================================

Importing it loads jaxlib's extension module, if that is of a supported version, and starts nothing.
"""

from .artifacts import DYNAMIC
from .bindings import Buffer, LoadedExecutable, ResultHandler, SpecLike, installed_version
from .buffers import (
    can_alias,
    collect_garbage,
    copy_to_device,
    delete,
    empty_aligned,
    error_buffer,
    is_ready,
    nbytes,
    put,
    put_scalar,
    to_numpy,
    unsafe_pointer,
    wait,
    wait_all,
)
from .client import (
    Device,
    begin_end,
    client_exists,
    default_device,
    devices,
    find_device,
    get_client,
    inherited_device,
    is_forked,
    stop_daemon_thread,
)
from .custom_calls import register_lapack
from .dlpack import can_export_read_only, from_dlpack, to_dlpack
from .ending import end
from .errors import ForeignError, translate
from .executable import Cost, Executable, Memory, compile, default_options, deserialize, result_handlers
from .freeing import LARGE, freeing
from .reuse import host_memory
from .streams import get_stream, set_stream
from .version import check_version

__all__ = [
    "DYNAMIC",
    "LARGE",
    "Buffer",
    "Cost",
    "Device",
    "Executable",
    "ForeignError",
    "LoadedExecutable",
    "Memory",
    "ResultHandler",
    "SpecLike",
    "begin_end",
    "can_alias",
    "can_export_read_only",
    "check_version",
    "client_exists",
    "collect_garbage",
    "compile",
    "copy_to_device",
    "default_device",
    "default_options",
    "delete",
    "deserialize",
    "devices",
    "empty_aligned",
    "end",
    "error_buffer",
    "find_device",
    "freeing",
    "from_dlpack",
    "get_client",
    "get_stream",
    "host_memory",
    "inherited_device",
    "installed_version",
    "is_forked",
    "is_ready",
    "nbytes",
    "put",
    "put_scalar",
    "register_lapack",
    "result_handlers",
    "set_stream",
    "stop_daemon_thread",
    "to_dlpack",
    "to_numpy",
    "translate",
    "unsafe_pointer",
    "wait",
    "wait_all",
]
