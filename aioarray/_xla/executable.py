"""Compiling StableHLO text, and the compiled program.

The hot path is ``executable.execute(buffers).consume_with_handlers(handlers, False)``: two methods of jaxlib.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from . import bindings, modules
from .artifacts import DYNAMIC, refine
from .bindings import LoadedExecutable, ResultHandler, SpecLike, xla_client
from .client import Device, get_client

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OptionValue: TypeAlias = str | bool | int | float

# NaN propagates and arithmetic is that of IEEE 754, whatever XLA_FLAGS says: the array API demands it.
# Subnormal numbers of float32, float64 and bfloat16 are zero all the same, on XLA's threads and on the
# caller's; no option changes that.
DEFAULT_OPTIONS: Mapping[str, OptionValue] = MappingProxyType(
    {"xla_cpu_enable_fast_math": False, "xla_cpu_enable_fast_min_max": False}
)

# The CPU compiler hands large reductions, with the element-wise operations before them, to a library (YNNPACK) whose
# 8-bit integers saturate and whose conversions to them round. Programs that make such integers by arithmetic keep to
# XLA's own reductions; products of matrices are as fast as before.
_XLA_REDUCTIONS: Mapping[str, OptionValue] = MappingProxyType(
    {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
)
_MAKES_BYTES = re.compile(
    rb"stablehlo\.(?:abs|add|convert|divide|multiply|negate|power|remainder|subtract)\b.*i8>(?: loc\(.*)?$",
    re.MULTILINE,
)


class Cost(NamedTuple):
    """What XLA expects one run of a program to take; 0.0 where it does not say."""

    flops: float
    bytes_accessed: float
    transcendentals: float


class Memory(NamedTuple):
    """Bytes that one run of a program holds."""

    arguments: int
    outputs: int
    temporaries: int
    aliased: int


class Executable:
    """A compiled program on one device.

    ``execute`` is jaxlib's bound ``execute_sharded``: it takes a sequence of Buffers, enqueues the
    computation, which may run to its end inside the call, without the GIL, and gives results whose
    ``consume_with_handlers(handlers, False)`` is the list of output Buffers. Any thread.
    """

    __slots__ = ("__weakref__", "_executable", "cost", "device", "execute")

    def __init__(self, executable: LoadedExecutable, device: Device) -> None:
        self._executable = executable
        self.device: Device = device
        self.execute: LoadedExecutable = executable.execute_sharded
        self.cost: Cost = _cost(executable)

    def memory(self) -> Memory:
        """The memory one run takes."""
        stats = self._executable.get_compiled_memory_stats()
        return Memory(
            int(stats.argument_size_in_bytes),
            int(stats.output_size_in_bytes),
            int(stats.temp_size_in_bytes),
            int(stats.alias_size_in_bytes),
        )

    def serialize(self) -> bytes:
        """The program as bytes that `deserialize` takes, on the same version of jaxlib and a like machine."""
        return bytes(self._executable.serialize())

    @property
    def size_in_bytes(self) -> int:
        """The size of the machine code, or 0 where XLA does not know it."""
        return max(0, int(self._executable.size_of_generated_code_in_bytes()))

    def hlo_text(self) -> str:
        """The optimised program, in XLA's text form."""
        return "\n".join(module.to_string() for module in self._executable.hlo_modules())


def default_options(text: bytes) -> dict[str, OptionValue]:
    """The options that the module ``text`` is compiled with unless others are given."""
    # Most programs have no such dtype, which takes no regular expression to see.
    narrow = b"i8>" in text and _MAKES_BYTES.search(text)
    return {**DEFAULT_OPTIONS, **_XLA_REDUCTIONS} if narrow else dict(DEFAULT_OPTIONS)


def compile(text: bytes, device: Device, *, options: Mapping[str, OptionValue] | None = None) -> Executable:
    """Compile a StableHLO module in MLIR's text form; holds the calling thread, and the GIL only while it parses.

    If its first line has DYNAMIC, shapes inside it are derived from those of main's arguments first.

    ``options`` are XLA's debug options by name ("xla_cpu_enable_fast_math": True), of the option's own type,
    over those of `default_options`. Raises a ForeignError on a wrong program, name or type.
    """
    client = get_client()
    chosen = _compile_options(device, {**default_options(text), **(options or {})})
    if DYNAMIC.encode() in text.partition(b"\n")[0]:
        text = refine(text)
    return Executable(client.compile_and_load(modules.parse(text), device._device_list, chosen), device)


def deserialize(data: bytes, device: Device) -> Executable:
    """The Executable that `Executable.serialize` made ``data`` of. Raises a ForeignError on other bytes.

    This runs machine code out of ``data``: it must come from where nobody else can write.
    """
    client = get_client()
    options = _compile_options(device, DEFAULT_OPTIONS)
    return Executable(client.deserialize_executable(data, device._device_list, options), device)


def result_handlers(specs: Sequence[SpecLike], device: Device) -> list[ResultHandler]:
    """What ``consume_with_handlers`` takes to make Buffers of the outputs with these specs."""
    return [bindings.make_result_handler(spec, device._sharding) for spec in specs]


def _compile_options(device: Device, options: Mapping[str, OptionValue]) -> Any:
    compile_options = xla_client.CompileOptions()
    compile_options.num_replicas = 1
    compile_options.num_partitions = 1
    # Without it the program runs on the first device, whatever the DeviceList says.
    compile_options.device_assignment = device._assignment
    compile_options.env_option_overrides = list(options.items())
    return compile_options


def _cost(executable: LoadedExecutable) -> Cost:
    try:
        analysis = executable.cost_analysis()
    except bindings.ForeignError:
        # Backends without a cost model raise UNIMPLEMENTED.
        analysis = {}
    return Cost(
        float(analysis.get("flops", 0.0)),
        float(analysis.get("bytes accessed", 0.0)),
        float(analysis.get("transcendentals", 0.0)),
    )
