"""LAPACK's routines as operations: custom calls into what jaxlib brings along, on stacks of column-major matrices.

Reference: LAPACK Users' Guide, third edition (1999). ``info``, int32 for each matrix, is 0 where the routine succeeded.
Nothing here handles matrices or stacks without elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _xla
from .._base import dtypes
from .._graph import ArraySpec, Emitter, Node, Op, Specs, array_spec, results

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._base.dtypes import DType

# dtype -> the letter that LAPACK's names begin with.
_LETTERS = {dtypes.float32: "s", dtypes.float64: "d", dtypes.complex64: "c", dtypes.complex128: "z"}
DTYPES = frozenset(_LETTERS)

Attributes = tuple[tuple[str, str], ...]


def _layout(spec: ArraySpec, matrix: bool) -> str:
    # Dimensions from the fastest to the slowest; of a matrix, its rows are the fastest.
    order = list(range(spec.ndim - 1, -1, -1))
    if matrix:
        order[:2] = order[1::-1]
    return f"dense<{order}> : tensor<{spec.ndim}xindex>" if order else "dense<> : tensor<0xindex>"


def _lower(emitter: Emitter, node: Node, operands: tuple[str, ...]) -> str:
    # Here because lowering runs on a compile worker: the first call loads LAPACK, which takes long.
    _xla.register_lapack()
    inputs = tuple(child.spec for child in node.inputs)
    outputs = node.specs if isinstance(node.specs, tuple) else (node.specs,)
    letter = _LETTERS[inputs[0].dtype]
    stack = inputs[0].ndim - 2
    attributes = ", ".join(f"{name} = {ord(value)} : ui8" for name, value in node.params["attributes"])
    return emitter.op(
        "stablehlo.custom_call",
        operands,
        inputs,
        node.specs,
        {
            "call_target_name": f'"lapack_{letter}{node.params["routine"]}_ffi"',
            "api_version": "4 : i32",
            "backend_config": f"{{{attributes}}}",
            "operand_layouts": f"[{', '.join(_layout(spec, spec.ndim == stack + 2) for spec in inputs)}]",
            "result_layouts": f"[{', '.join(_layout(spec, spec.ndim == stack + 2) for spec in outputs)}]",
        },
    )


def _op(routine: str, outputs: Callable[..., Specs]) -> Op:
    def infer(*operands: ArraySpec, routine: str, attributes: Attributes) -> Specs:
        return outputs(*operands)

    return Op(routine, infer, _lower, bounded=False, may_fail=True)


def _info(x: ArraySpec) -> ArraySpec:
    return array_spec(x.shape[:-2], dtypes.int32)


def _vector(x: ArraySpec, dtype: DType) -> ArraySpec:
    return array_spec((*x.shape[:-2], min(x.shape[-2:])), dtype)


def _potrf(x: ArraySpec) -> Specs:
    return x, _info(x)


def _getrf(x: ArraySpec) -> Specs:
    return x, _vector(x, dtypes.int32), _info(x)


def _geqrf(x: ArraySpec) -> Specs:
    return x, _vector(x, x.dtype)


def _syevd(x: ArraySpec) -> Specs:
    return x, _vector(x, dtypes.real_of(x.dtype)), _info(x)


def _geev(x: ArraySpec) -> Specs:
    vectors = array_spec(x.shape, dtypes.complex_of(x.dtype))
    values = _vector(x, x.dtype)
    count = 1 if x.dtype in dtypes.COMPLEX else 2
    return (*(values,) * count, vectors, vectors, _info(x))


_POTRF = _op("potrf", _potrf)
_GETRF = _op("getrf", _getrf)
_TRSM = _op("trsm", lambda a, b: b)
_GEQRF = _op("geqrf", _geqrf)
_ORGQR = _op("orgqr", lambda x, tau: x)
_SYEVD = _op("syevd", _syevd)
_GEEV = _op("geev", _geev)


def _gesdd_op(square: bool) -> Op:
    def outputs(x: ArraySpec) -> Specs:
        *stack, rows, columns = x.shape
        u, v = (rows, columns) if square else (min(rows, columns),) * 2
        return (
            x,
            _vector(x, dtypes.real_of(x.dtype)),
            x.with_shape((*stack, rows, u)),
            x.with_shape((*stack, v, columns)),
            _info(x),
        )

    return _op("gesdd", outputs)


_GESDD, _GESDD_SQUARE = _gesdd_op(False), _gesdd_op(True)


def _routine(name: str, x: Node) -> str:
    # Orthogonal and symmetric become unitary and Hermitian in the names for complex dtypes.
    if x.dtype in dtypes.COMPLEX:
        return name.replace("orgqr", "ungqr").replace("syevd", "heevd")
    return name


def _call(op: Op, *operands: Node, **attributes: str) -> Node:
    return op(*operands, routine=_routine(op.name, operands[0]), attributes=tuple(attributes.items()))


def potrf(x: Node, upper: bool) -> tuple[Node, Node]:
    """Cholesky factor of Hermitian positive definite matrices, of which it reads and writes one triangle; and info."""
    factor, info = results(_call(_POTRF, x, uplo="U" if upper else "L"))
    return factor, info


def getrf(x: Node) -> tuple[Node, Node, Node]:
    """L and U in one, the rows (counted from 1) that each step exchanged, and info, positive if U is singular."""
    lu, pivots, info = results(_call(_GETRF, x))
    return lu, pivots, info


def trsm(a: Node, b: Node, *, upper: bool, unit_diagonal: bool) -> Node:
    """The solution of ``a x = b`` for a triangle of a."""
    diagonal = "U" if unit_diagonal else "N"
    return _call(_TRSM, a, b, side="L", uplo="U" if upper else "L", trans_x="N", diag=diagonal)


def geqrf(x: Node) -> tuple[Node, Node]:
    """R, with the reflectors that make Q below its diagonal, and their factors."""
    packed, factors = results(_call(_GEQRF, x))
    return packed, factors


def orgqr(packed: Node, factors: Node) -> Node:
    """Q of what ``geqrf`` gives."""
    return _call(_ORGQR, packed, factors)


def syevd(x: Node, upper: bool, vectors: bool) -> tuple[Node, Node, Node]:
    """Eigenvectors (if asked for) and eigenvalues, in ascending order, of Hermitian matrices; and info."""
    found, values, info = results(_call(_SYEVD, x, mode="V" if vectors else "N", uplo="U" if upper else "L"))
    return found, values, info


def geev(x: Node, vectors: bool) -> tuple[tuple[Node, ...], Node, Node]:
    """Eigenvalues (complex, or real and imaginary parts), right eigenvectors (if asked for) and info."""
    *values, _, right, info = results(_call(_GEEV, x, compute_left="N", compute_right="V" if vectors else "N"))
    return tuple(values), right, info


def gesdd(x: Node, full: bool, vectors: bool) -> tuple[Node, Node, Node, Node]:
    """U, the singular values in descending order, V conjugate transposed, and info."""
    mode = "N" if not vectors else "A" if full else "S"
    _, s, u, vh, info = results(_call(_GESDD_SQUARE if full or not vectors else _GESDD, x, mode=mode))
    return u, s, vh, info
