"""The dtypes that XLA knows, their kinds, and how they promote.

A dtype is a ``numpy.dtype``; those beyond NumPy's own (bfloat16, float8, int4) come from ``ml_dtypes``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from . import config

DType: TypeAlias = np.dtype
Scalar: TypeAlias = bool | int | float | complex

bool_ = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{n}") for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{n}") for n in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{n}") for n in (16, 32, 64))
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
bfloat16 = np.dtype(ml_dtypes.bfloat16)
int4, uint4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
float8_e4m3fn = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e5m2 = np.dtype(ml_dtypes.float8_e5m2)
float8_e4m3b11fnuz = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fnuz = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2fnuz = np.dtype(ml_dtypes.float8_e5m2fnuz)
float4_e2m1fn = np.dtype(ml_dtypes.float4_e2m1fn)
float8_e8m0fnu = np.dtype(ml_dtypes.float8_e8m0fnu)

# dtype -> its name in MLIR's textual types (LangRef, "Builtin Dialect").
MLIR_NAMES: dict[DType, str] = {
    bool_: "i1",
    int4: "i4",
    int8: "i8",
    int16: "i16",
    int32: "i32",
    int64: "i64",
    uint4: "ui4",
    uint8: "ui8",
    uint16: "ui16",
    uint32: "ui32",
    uint64: "ui64",
    float8_e4m3fn: "f8E4M3FN",
    float8_e5m2: "f8E5M2",
    float8_e4m3b11fnuz: "f8E4M3B11FNUZ",
    float8_e4m3fnuz: "f8E4M3FNUZ",
    float8_e5m2fnuz: "f8E5M2FNUZ",
    bfloat16: "bf16",
    float16: "f16",
    float32: "f32",
    float64: "f64",
    complex64: "complex<f32>",
    complex128: "complex<f64>",
    float4_e2m1fn: "f4E2M1FN",
    float8_e8m0fnu: "f8E8M0FNU",
}

# What files hold weights and scales in: they are moved about and converted, and nothing is computed with them. int2 and
# uint2 are not among them: XLA aborts the process where it joins them.
STORAGE: frozenset[DType] = frozenset({float4_e2m1fn, float8_e8m0fnu})

SIGNED: frozenset[DType] = frozenset({int4, int8, int16, int32, int64})
UNSIGNED: frozenset[DType] = frozenset({uint4, uint8, uint16, uint32, uint64})
INTEGRAL: frozenset[DType] = SIGNED | UNSIGNED
REAL_FLOATING: frozenset[DType] = frozenset(
    {
        float8_e4m3fn,
        float8_e5m2,
        float8_e4m3b11fnuz,
        float8_e4m3fnuz,
        float8_e5m2fnuz,
        bfloat16,
        float16,
        float32,
        float64,
    }
)
COMPLEX: frozenset[DType] = frozenset({complex64, complex128})
FLOATING: frozenset[DType] = REAL_FLOATING | COMPLEX
REAL: frozenset[DType] = INTEGRAL | REAL_FLOATING
NUMERIC: frozenset[DType] = REAL | COMPLEX
BOOLEAN: frozenset[DType] = frozenset({bool_})
INTEGRAL_OR_BOOLEAN: frozenset[DType] = INTEGRAL | BOOLEAN
REAL_OR_BOOLEAN: frozenset[DType] = REAL | BOOLEAN
ALL: frozenset[DType] = NUMERIC | BOOLEAN

# The names of the standard's dtype categories, for messages.
CATEGORY_NAMES: dict[frozenset[DType], str] = {
    BOOLEAN: "boolean",
    INTEGRAL: "integer",
    INTEGRAL_OR_BOOLEAN: "integer or boolean",
    REAL_FLOATING: "real floating-point",
    COMPLEX: "complex floating-point",
    FLOATING: "floating-point",
    REAL: "real numeric",
    REAL_OR_BOOLEAN: "real numeric or boolean",
    NUMERIC: "numeric",
    ALL: "any",
}


# Those that are named by NumPy's class for their scalars, as `aio.int32` is: looked up in a third of the time.
_OF_TYPES: dict[type, DType] = {dtype.type: dtype for dtype in MLIR_NAMES}


def as_dtype(dtype: object) -> DType:
    """``dtype`` as one of the known dtypes; ``TypeError`` where XLA has no such type."""
    if isinstance(dtype, type):
        known = _OF_TYPES.get(dtype)
        if known is not None:
            return known
    try:
        result = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(f"{dtype!r} is not a dtype; use one of {_names()}") from None
    if not result.isnative:
        result = result.newbyteorder("=")
    if result not in MLIR_NAMES:
        raise TypeError(f"dtype {result} is not supported on devices; use one of {_names()}")
    return result  # type: ignore[no-any-return]


def _names() -> str:
    return ", ".join(sorted(d.name for d in MLIR_NAMES))


def scalar_rank(value: Scalar) -> int:
    """0 for bool, 1 for int, 2 for float, 3 for complex: how much a Python scalar asks of a dtype."""
    if isinstance(value, (bool, np.bool_)):
        return 0
    if isinstance(value, (int, np.integer)):
        return 1
    if isinstance(value, (float, np.floating)):
        return 2
    return 3


def dtype_rank(dtype: DType) -> int:
    """The same ranks for dtypes."""
    if dtype == bool_:
        return 0
    if dtype in INTEGRAL:
        return 1
    return 3 if dtype in COMPLEX else 2


def default_for_rank(rank: int) -> DType:
    """The default dtype of Python scalars of that rank."""
    defaults = config.current()
    return (bool_, defaults.integral, defaults.real, defaults.complex)[rank]


def widest_for_rank(rank: int) -> DType:
    """The dtype that has all digits of Python scalars of that rank; integers have them in the default dtype or not at
    all.
    """
    return (bool_, config.current().integral, float64, complex128)[rank]


# The integers that a real number is needed for in another dtype than the default one, which has not got their digits.
_WIDE_INTEGERS: dict[DType, DType] = {int64: float64, uint64: float64}


def real_for(dtype: DType) -> DType:
    """What ``dtype`` becomes where a real number is needed (division, means, functions of reals, beside a float).

    float64 for int64 and uint64, as in NumPy; the default real dtype for narrower integers and booleans. Floating-point
    dtypes stay.
    """
    if dtype in FLOATING:
        return dtype
    return _WIDE_INTEGERS.get(dtype) or config.current().real


def weak_dtype(rank: int, other: DType) -> DType:
    """What a Python scalar of ``rank`` becomes beside an array of dtype ``other`` (standard, "Mixing arrays with
    Python scalars"; where that leaves it open, what real numbers of that dtype are)."""
    if rank <= dtype_rank(other):
        return other
    if rank == 1:
        return config.current().integral
    return real_for(other) if rank == 2 else complex_of(real_for(other))


@lru_cache(maxsize=1024)
def promote(a: DType, b: DType) -> DType:
    """The dtype both fit in, as NumPy promotes; ``TypeError`` where there is none (float8 with another)."""
    if a == b:
        return a
    try:
        result = np.promote_types(a, b)
    except TypeError:
        raise TypeError(f"dtypes {a.name} and {b.name} do not promote; cast one with astype()") from None
    if result not in MLIR_NAMES:
        raise TypeError(f"dtypes {a.name} and {b.name} do not promote; cast one with astype()")
    return result


def real_of(dtype: DType) -> DType:
    """The dtype of the real part of ``dtype``."""
    if dtype == complex64:
        return float32
    return float64 if dtype == complex128 else dtype


def complex_of(dtype: DType) -> DType:
    """The complex dtype whose parts hold ``dtype``."""
    if dtype in COMPLEX:
        return dtype
    return complex128 if dtype == float64 else complex64


def iinfo(dtype: DType) -> Any:
    """Bounds of an integer dtype, also of those that NumPy does not know."""
    return ml_dtypes.iinfo(dtype)
