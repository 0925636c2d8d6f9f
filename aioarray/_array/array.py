"""``Array``, and the ways to run a definition on Arrays: ``unary``, ``binary``, ``call``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Union, overload

import numpy as np

from .. import _xla
from .._base import dtypes
from .._dispatch.exchange import host_value
from .._dispatch.launch import launch
from .._dispatch.operands import common_device, host_operand
from .._dispatch.programs import Alias, find_program
from .._dispatch.scalars import (
    NUMBERS,
    NUMPY_SCALARS,
    Numbers,
    checked_scalar,
    is_scalar,
    position_dtype,
    scalar_dtypes,
    scalar_operand,
)
from .._engine import engine
from .._graph import array_spec
from .._ops import arithmetic, bitwise, comparison, masking, products
from .._ops import complex as complex_numbers
from .._ops.in_place import in_place
from .._ops.subscripts import getitem, setitem
from . import exchange, host_reads, methods, subscripts
from .at import At
from .other_names import OtherNames, refuse_comparison
from .pickling import forked_result
from .temporaries import TEMPORARY, warn_if_lost
from .tracing import Trace, tracing
from .value import Value

if TYPE_CHECKING:
    from .._base.dtypes import DType, Scalar
    from .._dispatch.launch import FastEntry
    from .._engine import Pending, Program
    from .._graph import Definition, Node
    from .._xla import Buffer, Device

ArrayLike: TypeAlias = Union["Array", np.ndarray, np.generic, bool, int, float, complex, Sequence[Any]]

# Arguments of a definition; None where one is left out.
_Arrays: TypeAlias = tuple[ArrayLike | None, ...]
# The operators: functions of the array, and for binary ones of the other operand.
_Unary: TypeAlias = "Callable[[Array], Array]"
_Binary: TypeAlias = "Callable[[Array, ArrayLike], Array]"
_Divmod: TypeAlias = "Callable[[Array, ArrayLike], tuple[Array, Array]]"

_scheduler = engine.scheduler

# Python numbers are weak operands; NumPy arrays and scalars keep their dtype. Anything else is left to its own class.
_NUMPY = (np.ndarray, np.generic)
_OPERANDS = (*NUMBERS, *_NUMPY)


def _unary_operator(definition: Definition[Node]) -> _Unary:
    fast = definition.fast  # the way onto it stands here as in `unary`, whose call would be 3 % of the operator's time

    def operator(self: Array) -> Array:
        entry: FastEntry | None = fast.get(self._spec)
        buffer = self._buffer
        if entry is not None and buffer is not None and _scheduler.open:
            return Array(entry.spec, launch(entry, (buffer,)))
        return _general(definition, (self,))  # type: ignore[no-any-return]

    return operator


def _binary_operator(definition: Definition[Node]) -> _Binary:
    fast = definition.fast

    def operator(self: Array, other: ArrayLike) -> Array:
        if type(other) is Array:
            entry: FastEntry | None = fast.get((self._spec, other._spec))
            if entry is not None and _scheduler.open:
                buffer1 = self._buffer
                buffer2 = other._buffer
                if buffer1 is not None and buffer2 is not None:
                    return Array(entry.spec, launch(entry, (buffer1, buffer2)))
            return _general(definition, (self, other))  # type: ignore[no-any-return]
        kind = type(other)
        if (kind is float or kind is int) and other and _scheduler.open:
            number = _numbers.get((self._spec, kind, other))
            if number is not None:
                return binary(definition, self, number)
        if isinstance(other, (Array, *_OPERANDS)):
            return binary(definition, self, other)
        return NotImplemented  # type: ignore[no-any-return]

    return operator


def _equality_operator(definition: Definition[Node], sign: str) -> _Binary:
    compare = _binary_operator(definition)

    def operator(self: Array, other: ArrayLike) -> Array:
        if type(other) is list or type(other) is tuple:
            refuse_comparison(definition.name, sign, other)
        return compare(self, other)

    return operator


def _reflected_operator(definition: Definition[Node]) -> _Binary:
    def operator(self: Array, other: ArrayLike) -> Array:
        kind = type(other)
        if (kind is float or kind is int) and other and _scheduler.open:
            number = _numbers.get((self._spec, kind, other))
            if number is not None:
                return binary(definition, number, self)
        if isinstance(other, _OPERANDS):
            return binary(definition, other, self)
        return NotImplemented  # type: ignore[no-any-return]

    return operator


def _power(self: Array, other: ArrayLike, modulo: ArrayLike | None = None) -> Array:
    if modulo is not None:
        return methods.modular_power(self, other, modulo)
    if arithmetic.is_product(self._spec.dtype, other):
        return call(arithmetic.integer_power, (self,), other)
    return _general_power(self, other)


def _in_place_operator(definition: Definition[Node]) -> _Binary:
    operation = in_place(definition)

    def operator(self: Array, other: ArrayLike) -> Array:
        if not isinstance(other, (Array, *_OPERANDS)):
            return NotImplemented  # type: ignore[no-any-return]
        self._update(lambda: binary(operation, self, other))
        return self

    return operator


def _power_in_place(self: Array, other: ArrayLike) -> Array:
    if arithmetic.is_product(self._spec.dtype, other) and self.dtype != dtypes.bool_:
        self._update(lambda: _power(self, other))
        return self
    return _general_power_in_place(self, other)


_general_power = _binary_operator(arithmetic.pow)
_general_power_in_place = _in_place_operator(arithmetic.pow)


class Array(Value, OtherNames):
    """A multi-dimensional array on a device, whose value may still be being computed.

    Its shape, dtype and device are known at once. ``await array`` gives the array itself, ready; an error of the
    computation is raised there, or wherever the value is read. Made by functions, not by calling the class.

    ``asyncio.gather``, ``wait_for`` and ``ensure_future`` take Arrays; ``create_task`` takes coroutines alone, and
    ``asyncio.wait`` takes tasks, as ``ensure_future(array)`` gives one.

    >>> x = aio.asarray([1.0, 2.0, 3.0])
    >>> x.shape, str(x.dtype), str(x.device)
    ((3,), 'float32', 'cpu:0')
    """

    __slots__ = ("__weakref__",)

    # == is elementwise, but asyncio.gather, for one, keeps awaitables in a dict: so the hash is of identity.
    __hash__: ClassVar[Callable[[Array], int]] = object.__hash__
    # NumPy's operators leave mixed operations to ours.
    __array_priority__ = 1000

    # Copies

    def to_device(self, device: Device | str, /, *, stream: None = None) -> Array:
        """The value on ``device``; the array itself if it is there already."""
        target = _xla.find_device(device) if isinstance(device, str) else device
        if stream is not None:
            raise ValueError("to_device: stream must be None; XLA orders transfers itself")
        if target == self.device:
            return self
        self.block_until_ready()
        spec = self._spec.on(target)
        return Array(spec, _xla.copy_to_device(self._buffer, spec, target))

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self._host_value("pickling"),)

    # Indexing

    def __iter__(self) -> Iterator[Array]:
        if not self._spec.shape:
            raise TypeError("iteration over an array of no dimensions")
        return (self[i] for i in range(self._spec.shape[0]))

    def __getitem__(self, index: Any, /) -> Array:
        kind = type(index)
        shape = self._spec.shape
        if kind is int and shape and -shape[0] <= index < shape[0]:
            position = _position(index % shape[0], self._spec.device)
            return call(getitem, (self, position), _FIRST_AXIS)
        if kind is slice and shape:
            return call(getitem, (self,), (subscripts.slice_entry(index),))
        static, arrays = self._parsed(index)
        return call(getitem, (self, *arrays), static)

    def _parsed(self, index: Any) -> tuple[Any, list[Any]]:
        static, arrays = subscripts.parse(self._spec.shape, index, Array)
        return static, [_position(x, self._spec.device) if type(x) is int else x for x in arrays]

    def __setitem__(self, index: Any, value: ArrayLike, /) -> None:
        if getrefcount(self) == TEMPORARY:
            warn_if_lost(index)
        self._update(lambda: self.at[index].set(value))

    @property
    def at(self) -> At[Array]:
        """Functional updates: ``x.at[index].set(value)`` gives an updated array and leaves ``x`` as it is.

        >>> x = aio.zeros(3)
        >>> x.at[1].set(5.0), x
        (Array([0., 5., 0.], dtype=float32), Array([0., 0., 0.], dtype=float32))
        """
        return At(self)

    def _run(self, definition: Definition[Node], *static: Any, others: tuple[ArrayLike | None, ...] = ()) -> Array:
        return call(definition, (self, *others), *static)

    def _from_host(self, value: np.ndarray) -> Array:
        return from_host(value, self.device)

    def _updated(self, index: Any, mode: str, value: ArrayLike) -> Array:
        if is_scalar(value):
            value = _scalar(value, self.dtype, self._spec.device)
        if subscripts.selects_without_reading(self._spec.shape, index, value):
            return call(masking.setmask, (self, value, index), mode)
        static, arrays = self._parsed(index)
        return call(setitem, (self, value, *arrays), static, mode)

    # What other libraries call

    __dlpack__ = exchange.dlpack
    __dlpack_device__ = exchange.dlpack_device
    __array_namespace__ = exchange.array_namespace

    # Reading the value on the host

    __bool__ = host_reads.to_bool
    __int__ = host_reads.to_int
    __float__ = host_reads.to_float
    __complex__ = host_reads.to_complex
    __index__ = host_reads.to_index
    __array__ = host_reads.to_numpy
    __contains__ = host_reads.contains
    __trunc__ = host_reads.trunc
    __floor__ = host_reads.floor
    __ceil__ = host_reads.ceil
    item = host_reads.item
    tolist = host_reads.tolist
    tobytes = methods.tobytes

    # By these names on the stack `formatting` knows that the interpreter itself asks.

    def __repr__(self) -> str:
        return host_reads.representation(self)

    def __str__(self) -> str:
        return host_reads.text(self)

    def __format__(self, specification: str, /) -> str:
        return host_reads.formatted(self, specification)

    # Functions as methods: in a file of their own, named here one by one, so that editors and type checkers see them.

    sum = methods.sum
    prod = methods.prod
    mean = methods.mean
    var = methods.var
    std = methods.std
    max = methods.max
    min = methods.min
    argmax = methods.argmax
    argmin = methods.argmin
    any = methods.any
    all = methods.all
    cumsum = methods.cumsum
    cumprod = methods.cumprod
    argsort = methods.argsort
    take = methods.take
    repeat = methods.repeat
    nonzero = methods.nonzero
    searchsorted = methods.searchsorted
    diagonal = methods.diagonal
    trace = methods.trace
    dot = methods.dot
    clip = methods.clip
    round = methods.round
    conj = methods.conj
    conjugate = methods.conjugate
    copy = methods.copy
    reshape = methods.reshape
    ravel = methods.ravel
    flatten = methods.flatten
    transpose = methods.transpose
    swapaxes = methods.swapaxes
    squeeze = methods.squeeze
    astype = methods.astype
    view = methods.view

    __round__ = methods.rounded

    @property
    def T(self) -> Array:
        """The transpose: axes in reverse order."""
        return methods.transpose(self)

    @property
    def mT(self) -> Array:
        """The transpose of the last two axes. ``ValueError`` below two dimensions."""
        return methods.matrix_transpose(self)

    @property
    def real(self) -> Array:
        """The real parts, as ``aio.real``."""
        return self._run(complex_numbers.real)

    @property
    def imag(self) -> Array:
        """The imaginary parts, as ``aio.imag``."""
        return self._run(complex_numbers.imag)

    # Operators

    __neg__: ClassVar[_Unary] = _unary_operator(arithmetic.negative)
    __pos__: ClassVar[_Unary] = _unary_operator(arithmetic.positive)
    __abs__: ClassVar[_Unary] = _unary_operator(arithmetic.abs)
    __invert__: ClassVar[_Unary] = _unary_operator(bitwise.bitwise_invert)
    __eq__: ClassVar[_Binary] = _equality_operator(comparison.equal, "==")  # type: ignore[assignment]
    __ne__: ClassVar[_Binary] = _equality_operator(comparison.not_equal, "!=")  # type: ignore[assignment]
    __lt__: ClassVar[_Binary] = _binary_operator(comparison.less)
    __le__: ClassVar[_Binary] = _binary_operator(comparison.less_equal)
    __gt__: ClassVar[_Binary] = _binary_operator(comparison.greater)
    __ge__: ClassVar[_Binary] = _binary_operator(comparison.greater_equal)
    __add__: ClassVar[_Binary] = _binary_operator(arithmetic.add)
    __radd__: ClassVar[_Binary] = _reflected_operator(arithmetic.add)
    __iadd__: ClassVar[_Binary] = _in_place_operator(arithmetic.add)
    __sub__: ClassVar[_Binary] = _binary_operator(arithmetic.subtract)
    __rsub__: ClassVar[_Binary] = _reflected_operator(arithmetic.subtract)
    __isub__: ClassVar[_Binary] = _in_place_operator(arithmetic.subtract)
    __mul__: ClassVar[_Binary] = _binary_operator(arithmetic.multiply)
    __rmul__: ClassVar[_Binary] = _reflected_operator(arithmetic.multiply)
    __imul__: ClassVar[_Binary] = _in_place_operator(arithmetic.multiply)
    __truediv__: ClassVar[_Binary] = _binary_operator(arithmetic.divide)
    __rtruediv__: ClassVar[_Binary] = _reflected_operator(arithmetic.divide)
    __itruediv__: ClassVar[_Binary] = _in_place_operator(arithmetic.divide)
    __floordiv__: ClassVar[_Binary] = _binary_operator(arithmetic.floor_divide)
    __rfloordiv__: ClassVar[_Binary] = _reflected_operator(arithmetic.floor_divide)
    __ifloordiv__: ClassVar[_Binary] = _in_place_operator(arithmetic.floor_divide)
    __mod__: ClassVar[_Binary] = _binary_operator(arithmetic.remainder)
    __rmod__: ClassVar[_Binary] = _reflected_operator(arithmetic.remainder)
    __imod__: ClassVar[_Binary] = _in_place_operator(arithmetic.remainder)
    __divmod__: ClassVar[_Divmod] = _binary_operator(arithmetic.divmod)  # type: ignore[arg-type,assignment]
    __rdivmod__: ClassVar[_Divmod] = _reflected_operator(arithmetic.divmod)  # type: ignore[arg-type,assignment]
    __pow__ = _power
    __rpow__: ClassVar[_Binary] = _reflected_operator(arithmetic.pow)
    __ipow__ = _power_in_place
    __matmul__: ClassVar[_Binary] = _binary_operator(products.matmul)
    __rmatmul__: ClassVar[_Binary] = _reflected_operator(products.matmul)
    __imatmul__: ClassVar[_Binary] = _in_place_operator(products.matmul)
    __and__: ClassVar[_Binary] = _binary_operator(bitwise.bitwise_and)
    __rand__: ClassVar[_Binary] = _reflected_operator(bitwise.bitwise_and)
    __iand__: ClassVar[_Binary] = _in_place_operator(bitwise.bitwise_and)
    __or__: ClassVar[_Binary] = _binary_operator(bitwise.bitwise_or)
    __ror__: ClassVar[_Binary] = _reflected_operator(bitwise.bitwise_or)
    __ior__: ClassVar[_Binary] = _in_place_operator(bitwise.bitwise_or)
    __xor__: ClassVar[_Binary] = _binary_operator(bitwise.bitwise_xor)
    __rxor__: ClassVar[_Binary] = _reflected_operator(bitwise.bitwise_xor)
    __ixor__: ClassVar[_Binary] = _in_place_operator(bitwise.bitwise_xor)
    __lshift__: ClassVar[_Binary] = _binary_operator(bitwise.bitwise_left_shift)
    __rlshift__: ClassVar[_Binary] = _reflected_operator(bitwise.bitwise_left_shift)
    __ilshift__: ClassVar[_Binary] = _in_place_operator(bitwise.bitwise_left_shift)
    __rshift__: ClassVar[_Binary] = _binary_operator(bitwise.bitwise_right_shift)
    __rrshift__: ClassVar[_Binary] = _reflected_operator(bitwise.bitwise_right_shift)
    __irshift__: ClassVar[_Binary] = _in_place_operator(bitwise.bitwise_right_shift)


# Running definitions

# Python numbers that were operands or indices lately. Owned by this module.
_numbers: Numbers[Array] = Numbers(Array)

_FIRST_AXIS = (("dynamic", 0),)  # the static part of ``x[i]`` with an int i


def unary(definition: Definition[Any], x: ArrayLike, static: tuple[Any, ...] = ()) -> Array:
    """``definition`` of one array, as one launch; on the fast path (see ``launch``) if it may, as the next two."""
    if type(x) is Array:
        entry: FastEntry | None = definition.fast.get((x._spec, static) if static else x._spec)
        if entry is not None and _scheduler.open:
            buffer = x._buffer
            if buffer is not None:
                return Array(entry.spec, launch(entry, (buffer,)))
    return _general(definition, (x,), static)  # type: ignore[no-any-return]


def binary(definition: Definition[Any], x1: ArrayLike, x2: ArrayLike, static: tuple[Any, ...] = ()) -> Array:
    """``definition`` of two arrays, as one launch."""
    if type(x1) is Array and type(x2) is Array:
        key = x1._spec, x2._spec
        entry: FastEntry | None = definition.fast.get((key, static) if static else key)
        if entry is not None and _scheduler.open:
            buffer1 = x1._buffer
            buffer2 = x2._buffer
            if buffer1 is not None and buffer2 is not None:
                return Array(entry.spec, launch(entry, (buffer1, buffer2)))
        return _general(definition, (x1, x2), static)  # type: ignore[no-any-return]
    return _with_number(definition, x1, x2, static)


def _several(definition: Definition[Any], arrays: _Arrays, static: tuple[Any, ...]) -> Array:
    key: Any = tuple([x._spec for x in arrays if type(x) is Array])
    if len(key) != len(arrays):
        return _mixed(definition, arrays, static)
    entry: FastEntry | None = definition.fast.get((key, static) if static else key)
    if entry is not None and _scheduler.open:
        buffers = [x._buffer for x in arrays if x._buffer is not None]  # type: ignore[union-attr]
        if len(buffers) == len(arrays):
            return Array(entry.spec, launch(entry, buffers))
    return _general(definition, arrays, static)  # type: ignore[no-any-return]


def _mixed(definition: Definition[Any], arrays: _Arrays, static: tuple[Any, ...]) -> Array:
    """``call`` with numbers, host arrays, and places that are left out."""
    operands: Any = None  # Arrays, or None where one is left out
    if _scheduler.open:
        # Converted once, also where the rest does not serve: a host array is copied.
        arrays = tuple([_of_numpy(definition, x) if isinstance(x, _NUMPY) else x for x in arrays])
        operands = _numbers.among([x._spec for x in arrays if type(x) is Array], arrays)
    if operands is None:
        return _general(definition, arrays, static)  # type: ignore[no-any-return]
    key: Any = tuple([None if x is None else x._spec for x in operands])
    entry: FastEntry | None = definition.fast.get((key, static) if static else key)
    if entry is not None:
        present = [x for x in operands if x is not None]
        buffers = [x._buffer for x in present if x._buffer is not None]
        if len(buffers) == len(present):
            return Array(entry.spec, launch(entry, buffers))
    return _general(definition, tuple(operands), static)  # type: ignore[no-any-return]


def _of_numpy(definition: Definition[Any], value: Any) -> Array:
    """A host array or NumPy's scalar as an operand; scalars are kept, as numbers are."""
    return _numbers.strong(value) if type(value) in NUMPY_SCALARS else as_array(definition.name, value)


def _with_number(definition: Definition[Any], x1: ArrayLike, x2: ArrayLike, static: tuple[Any, ...]) -> Array:
    """``binary`` where one of the operands is no Array: most often a Python number."""
    array, other = (x1, x2) if type(x1) is Array else (x2, x1)
    try:
        operand: Array | None = None
        if type(array) is Array and _scheduler.open:
            if type(other) in NUMBERS:
                operand = _numbers.beside(array._spec, other)  # type: ignore[arg-type]
            elif isinstance(other, _NUMPY):
                operand = _of_numpy(definition, other)
        if operand is None:
            return _mixed(definition, (x1, x2), static)
        first, second = (array, operand) if array is x1 else (operand, array)
        return binary(definition, first, second, static)
    except OverflowError:
        if definition.out_of_range is None or (type(x1) is int) is (type(x2) is int):
            raise
        floats = [definition.out_of_range(x) if type(x) is int else x for x in (x1, x2)]
        return _general(definition, tuple(floats), static)  # type: ignore[no-any-return]


@overload
def call(definition: Definition[Node], arrays: _Arrays, *static: Any, device: Device | None = None) -> Array: ...
@overload
def call(
    definition: Definition[tuple[Node, Node]], arrays: _Arrays, *static: Any, device: Device | None = None
) -> tuple[Array, Array]: ...
@overload
def call(
    definition: Definition[tuple[Node, ...]], arrays: _Arrays, *static: Any, device: Device | None = None
) -> tuple[Array, ...]: ...
@overload
def call(definition: Definition[Any], arrays: _Arrays, *static: Any, device: Device | None = None) -> Any: ...
def call(definition: Definition[Any], arrays: _Arrays, *static: Any, device: Device | None = None) -> Any:
    """``definition`` of any number of arrays (None where one is left out) and static arguments, as one launch.

    Static arguments are hashable; they and the specs of the arrays are the program's key. Python numbers take the dtype
    that promotion gives them; anything else is made an Array. Gives an Array, or a tuple where the body gives one.
    """
    count = 0 if device is not None else len(arrays)
    if count == 1:
        return unary(definition, arrays[0], static)  # type: ignore[arg-type]
    if count == 2:
        return binary(definition, arrays[0], arrays[1], static)  # type: ignore[arg-type]
    if count:
        return _several(definition, arrays, static)
    return _general(definition, arrays, static, device)


def _general(
    definition: Definition[Any], arrays: _Arrays, static: tuple[Any, ...] = (), device: Device | None = None
) -> Any:
    """``call`` where the fast path does not serve: in a trace, without a program as yet, or with pending operands."""
    trace = tracing.recording or _trace_of(arrays)
    if trace is not None:
        if device is not None and device != trace.device:
            raise ValueError(f"{definition.name}: device {device} inside {trace.name!r}, which runs on {trace.device}")
        return trace.call(definition, arrays, static)
    operands = _as_operands(definition.name, arrays)
    program = find_program(definition, tuple([None if x is None else x._spec for x in operands]), static, device)
    present = [x for x in operands if x is not None]
    if isinstance(program, Alias):
        source = present[program.index]
        source._settle(definition.name)
        return source.__copy__()
    return run(program, present)


def _trace_of(arrays: _Arrays) -> Trace[Array] | None:
    """The trace that one of the arrays is kept from; there is none on this thread."""
    for x in arrays:
        if type(x) is not Array and isinstance(x, Array):
            return x._trace
    return None


def _as_operands(function: str, arrays: _Arrays) -> list[Array | None]:
    """Every argument as an Array; Python numbers in the dtype they take beside the others."""
    operands: list[Any] = [x if x is None or is_scalar(x) else as_array(function, x) for x in arrays]
    scalars = [x for x in arrays if is_scalar(x)]
    if not scalars:
        return operands
    specs = [x._spec for x in operands if isinstance(x, Array)]
    found = iter(scalar_dtypes(function, scalars, [spec.dtype for spec in specs]))
    device = common_device(function, specs)
    return [Array(*scalar_operand(x, next(found), device), True) if is_scalar(x) else x for x in operands]


def run(program: Program, arrays: Sequence[Array]) -> Any:
    """Enqueue ``program`` on ``arrays``; give its result, or a tuple of them."""
    results = enqueue(program, [x._operand(program.name) for x in arrays])
    return results[0] if program.single else results


def enqueue(program: Program, operands: list[Buffer | Pending]) -> tuple[Array, ...]:
    """Launch ``program`` on ``operands``, now or later; give all its results."""
    return tuple(map(Array, program.out_specs, _scheduler.enqueue(program, operands)))


# From host values

CONSTANT_BYTES = 1 << 16  # host values up to this size in a traced function are written into its program


def as_array(function: str, x: ArrayLike) -> Array:
    """``x`` as an Array; an independent copy of a host array. ``TypeError`` for what is no array of numbers."""
    if isinstance(x, Array):
        return x
    if is_scalar(x):
        return _scalar(x, dtypes.default_for_rank(dtypes.scalar_rank(x)), None, weak=False)
    return from_host(host_value(function, x))


def from_host(value: np.ndarray, device: Device | None = None, copy: bool = True) -> Array:
    """A host array as an Array, with its dtype; later changes of ``value`` are not seen unless ``copy`` is False."""
    recording = tracing.recording
    if recording is not None and value.nbytes <= CONSTANT_BYTES and device in (None, recording.device):
        return recording.constant(value)  # type: ignore[no-any-return]
    return Array(*host_operand(value, device, copy), True)


def restore(value: np.ndarray) -> Array:
    """An Array that was pickled; in a forked child, one whose use raises ``ForkedProcessError``."""
    if _xla.is_forked():
        return Array(array_spec(value.shape, value.dtype, _xla.inherited_device()), forked_result())
    return from_host(value)


def _scalar(value: Scalar, dtype: DType, device: Device | None, weak: bool = True) -> Array:
    recording = tracing.recording
    if recording is not None:
        return recording.constant(np.asarray(checked_scalar(value, dtype)).astype(dtype), weak)  # type: ignore[no-any-return]
    return Array(*scalar_operand(value, dtype, device, weak), True)


def _position(index: int, device: Device | None) -> Array:
    """An index that is known to be in range, as an operand."""
    if _scheduler.open:
        return _numbers.position(index, device)
    return _scalar(index, position_dtype(index), device, weak=False)
