"""The array API standard, revision 2025.12, as a table: every name is there, takes what it should, refuses the rest.

https://data-apis.org/array-api/2025.12/
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aioarray as aio

# Element-wise functions: the signature, the kinds of dtypes that the standard asks for, and those taken besides; all
# others raise TypeError. b: bool, i: signed, u: unsigned, f: real, c: complex.
ELEMENTWISE = """
    abs(x, /)                       iufc  b
    acos(x, /)                      fc    biu
    acosh(x, /)                     fc    biu
    add(x1, x2, /)                  iufc  b
    asin(x, /)                      fc    biu
    asinh(x, /)                     fc    biu
    atan(x, /)                      fc    biu
    atan2(x1, x2, /)                f     biu
    atanh(x, /)                     fc    biu
    bitwise_and(x1, x2, /)          biu
    bitwise_left_shift(x1, x2, /)   iu
    bitwise_invert(x, /)            biu
    bitwise_or(x1, x2, /)           biu
    bitwise_right_shift(x1, x2, /)  iu
    bitwise_xor(x1, x2, /)          biu
    ceil(x, /)                      iuf
    conj(x, /)                      iufc
    copysign(x1, x2, /)             f     biu
    cos(x, /)                       fc    biu
    cosh(x, /)                      fc    biu
    divide(x1, x2, /)               iufc  b
    equal(x1, x2, /)                biufc
    exp(x, /)                       fc    biu
    expm1(x, /)                     fc    biu
    floor(x, /)                     iuf
    floor_divide(x1, x2, /)         iuf
    greater(x1, x2, /)              iuf   bc
    greater_equal(x1, x2, /)        iuf   bc
    hypot(x1, x2, /)                f     biu
    imag(x, /)                      c     iuf
    isfinite(x, /)                  iufc  b
    isinf(x, /)                     iufc  b
    isnan(x, /)                     iufc  b
    less(x1, x2, /)                 iuf   bc
    less_equal(x1, x2, /)           iuf   bc
    log(x, /)                       fc    biu
    log1p(x, /)                     fc    biu
    log2(x, /)                      fc    biu
    log10(x, /)                     fc    biu
    logaddexp(x1, x2, /)            f     biu
    logical_and(x1, x2, /)          b     iufc
    logical_not(x, /)               b     iufc
    logical_or(x1, x2, /)           b     iufc
    logical_xor(x1, x2, /)          b     iufc
    maximum(x1, x2, /)              iuf   bc
    minimum(x1, x2, /)              iuf   bc
    multiply(x1, x2, /)             iufc  b
    negative(x, /)                  iufc
    nextafter(x1, x2, /)            f     biu
    not_equal(x1, x2, /)            biufc
    positive(x, /)                  iufc
    pow(x1, x2, /)                  iufc
    real(x, /)                      iufc
    reciprocal(x, /)                fc    biu
    remainder(x1, x2, /)            iuf
    round(x, /)                     iufc
    sign(x, /)                      iufc
    signbit(x, /)                   f     biu
    sin(x, /)                       fc    biu
    sinh(x, /)                      fc    biu
    square(x, /)                    iufc
    sqrt(x, /)                      fc    biu
    subtract(x1, x2, /)             iufc
    tan(x, /)                       fc    biu
    tanh(x, /)                      fc    biu
    trunc(x, /)                     iuf
"""

# The other functions.
MAIN = """
    arange(start, /, stop=None, step=1, *, dtype=None, device=None)
    asarray(obj, /, *, dtype=None, device=None, copy=None)
    empty(shape, *, dtype=None, device=None)
    empty_like(x, /, *, dtype=None, device=None)
    eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
    from_dlpack(x, /, *, device=None, copy=None)
    full(shape, fill_value, *, dtype=None, device=None)
    full_like(x, /, fill_value, *, dtype=None, device=None)
    linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
    meshgrid(*arrays, indexing='xy')
    ones(shape, *, dtype=None, device=None)
    ones_like(x, /, *, dtype=None, device=None)
    tril(x, /, *, k=0)
    triu(x, /, *, k=0)
    zeros(shape, *, dtype=None, device=None)
    zeros_like(x, /, *, dtype=None, device=None)
    astype(x, dtype, /, *, copy=True, device=None)
    can_cast(from_, to, /)
    finfo(type, /)
    iinfo(type, /)
    isdtype(dtype, kind)
    result_type(*arrays_and_dtypes)
    take(x, indices, /, *, axis=None)
    take_along_axis(x, indices, /, *, axis=-1)
    __array_namespace_info__()
    matmul(x1, x2, /)
    matrix_transpose(x, /)
    tensordot(x1, x2, /, *, axes=2)
    vecdot(x1, x2, /, *, axis=-1)
    broadcast_arrays(*arrays)
    broadcast_shapes(*shapes)
    broadcast_to(x, /, shape)
    concat(arrays, /, *, axis=0)
    expand_dims(x, /, axis)
    flip(x, /, *, axis=None)
    moveaxis(x, source, destination, /)
    permute_dims(x, /, axes)
    repeat(x, repeats, /, *, axis=None)
    reshape(x, /, shape, *, copy=None)
    roll(x, /, shift, *, axis=None)
    squeeze(x, /, axis)
    stack(arrays, /, *, axis=0)
    tile(x, repetitions, /)
    unstack(x, /, *, axis=0)
    argmax(x, /, *, axis=None, keepdims=False)
    argmin(x, /, *, axis=None, keepdims=False)
    count_nonzero(x, /, *, axis=None, keepdims=False)
    nonzero(x, /)
    searchsorted(x1, x2, /, *, side='left', sorter=None)
    where(condition, x1, x2, /)
    isin(x1, x2, /, *, invert=False)
    unique_all(x, /)
    unique_counts(x, /)
    unique_inverse(x, /)
    unique_values(x, /)
    argsort(x, /, *, axis=-1, descending=False, stable=True)
    sort(x, /, *, axis=-1, descending=False, stable=True)
    cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
    cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
    max(x, /, *, axis=None, keepdims=False)
    mean(x, /, *, axis=None, keepdims=False)
    min(x, /, *, axis=None, keepdims=False)
    prod(x, /, *, axis=None, dtype=None, keepdims=False)
    std(x, /, *, axis=None, correction=0.0, keepdims=False)
    sum(x, /, *, axis=None, dtype=None, keepdims=False)
    var(x, /, *, axis=None, correction=0.0, keepdims=False)
    all(x, /, *, axis=None, keepdims=False)
    any(x, /, *, axis=None, keepdims=False)
    diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
    clip(x, /, min=None, max=None)
"""
LINALG = """
    cholesky(x, /, *, upper=False)
    cross(x1, x2, /, *, axis=-1)
    det(x, /)
    diagonal(x, /, *, offset=0)
    eig(x, /)
    eigh(x, /)
    eigvalsh(x, /)
    eigvals(x, /)
    inv(x, /)
    matmul(x1, x2, /)
    matrix_norm(x, /, *, keepdims=False, ord='fro')
    matrix_power(x, n, /)
    matrix_rank(x, /, *, rtol=None)
    matrix_transpose(x, /)
    outer(x1, x2, /)
    pinv(x, /, *, rtol=None)
    qr(x, /, *, mode='reduced')
    slogdet(x, /)
    solve(x1, x2, /)
    svd(x, /, *, full_matrices=True)
    svdvals(x, /)
    tensordot(x1, x2, /, *, axes=2)
    trace(x, /, *, offset=0, dtype=None)
    vecdot(x1, x2, /, *, axis=-1)
    vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""
FFT = """
    fft(x, /, *, n=None, axis=-1, norm='backward')
    ifft(x, /, *, n=None, axis=-1, norm='backward')
    fftn(x, /, *, s=None, axes=None, norm='backward')
    ifftn(x, /, *, s=None, axes=None, norm='backward')
    rfft(x, /, *, n=None, axis=-1, norm='backward')
    irfft(x, /, *, n=None, axis=-1, norm='backward')
    rfftn(x, /, *, s=None, axes=None, norm='backward')
    irfftn(x, /, *, s=None, axes=None, norm='backward')
    hfft(x, /, *, n=None, axis=-1, norm='backward')
    ihfft(x, /, *, n=None, axis=-1, norm='backward')
    fftfreq(n, /, *, d=1.0, dtype=None, device=None)
    rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
    fftshift(x, /, *, axes=None)
    ifftshift(x, /, *, axes=None)
"""

INFO = """
    capabilities()
    default_device()
    default_dtypes(*, device=None)
    devices()
    dtypes(*, device=None, kind=None)
"""

METHODS = """
    __array_namespace__(*, api_version=None)
    __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
    __dlpack_device__()
    __getitem__(key, /)
    __setitem__(key, value, /)
    to_device(device, /, *, stream=None)
"""
ATTRIBUTES = {"T", "device", "dtype", "mT", "ndim", "shape", "size"}
CONVERSIONS = {"bool", "complex", "float", "index", "int"}
UNARY = {"abs": "abs", "invert": "bitwise_invert", "neg": "negative", "pos": "positive"}
# Operators that come three times: plain, reflected, in place.
ARITHMETIC = {
    "add": "add",
    "and": "bitwise_and",
    "floordiv": "floor_divide",
    "lshift": "bitwise_left_shift",
    "matmul": "matmul",
    "mod": "remainder",
    "mul": "multiply",
    "or": "bitwise_or",
    "pow": "pow",
    "rshift": "bitwise_right_shift",
    "sub": "subtract",
    "truediv": "divide",
    "xor": "bitwise_xor",
}
COMPARISONS = {
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "ne": "not_equal",
}

KINDS = {"b": "bool", "i": "int32", "u": "uint8", "f": "float32", "c": "complex64"}
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
MORE_DTYPES = (
    *("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz"),
    *("float8_e5m2fnuz", "int4", "uint4"),
)
CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


def signatures(table: str) -> dict[str, inspect.Signature]:
    """Name -> signature of each line, ``name(parameters)`` and perhaps more."""
    found: dict[str, inspect.Signature] = {}
    for line in table.split("\n"):
        if line.strip():
            text = line.strip()[: line.strip().rindex(")") + 1]
            scope: dict[str, Any] = {}
            exec(f"def {text}: pass", scope)
            name = text.partition("(")[0]
            found[name] = inspect.signature(scope[name])
    return found


def kinds(line: str) -> tuple[str, str, str]:
    """Name, kinds asked for, and kinds taken besides."""
    text, _, rest = line.strip().rpartition(")")
    asked, *more = rest.split()
    return text.partition("(")[0], asked, "".join(more)


ELEMENTWISE_KINDS = [kinds(line) for line in ELEMENTWISE.split("\n") if line.strip()]
FUNCTIONS = {
    prefix + name: (getattr(module, name, None), signature)
    for prefix, module, table in (
        ("", aio, ELEMENTWISE + MAIN),
        ("linalg.", aio.linalg, LINALG),
        ("fft.", aio.fft, FFT),
        ("info.", aio.__array_namespace_info__(), INFO),
        ("Array.", aio.zeros(1), METHODS),
    )
    for name, signature in signatures(table).items()
}


def accepts(ours: inspect.Signature, theirs: inspect.Signature) -> str:
    """What is missing in ``ours`` for every call that ``theirs`` allows to mean the same; empty if nothing is."""
    P = inspect.Parameter
    mine = list(ours.parameters.values())
    by_name = ours.parameters
    for position, wanted in enumerate(theirs.parameters.values()):
        if wanted.kind is P.VAR_POSITIONAL:
            if not any(p.kind is P.VAR_POSITIONAL for p in mine):
                return f"takes no *{wanted.name}"
            continue
        if wanted.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD):
            if position >= len(mine) or mine[position].kind not in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD):
                return f"takes no {wanted.name} at position {position}"
            found = mine[position]
            if wanted.kind is P.POSITIONAL_OR_KEYWORD and (
                found.name != wanted.name or found.kind is P.POSITIONAL_ONLY
            ):
                return f"takes no {wanted.name} by name"
        elif wanted.name not in by_name or by_name[wanted.name].kind is P.POSITIONAL_ONLY:
            return f"takes no keyword {wanted.name}"
        else:
            found = by_name[wanted.name]
        if wanted.default is not P.empty and found.default != wanted.default:
            return f"{wanted.name} is by default {found.default!r}, not {wanted.default!r}"
    more = [p for p in mine if p.name not in theirs.parameters and p.default is P.empty]
    needed = [p.name for p in more if p.kind is P.KEYWORD_ONLY]
    return f"needs {needed} besides" if needed else ""


def test_the_revision_is_named() -> None:
    assert aio.__array_api_version__ == "2025.12"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures(name: str) -> None:
    function, signature = FUNCTIONS[name]
    assert function is not None, f"{name} is missing"
    assert accepts(inspect.signature(function), signature) == ""


@pytest.mark.parametrize(
    ("ours", "missing"),
    [
        ("f(x, /, *, axis=None)", ""),
        ("f(x, /, axis=None, *, more=1)", ""),
        ("f(x, /)", "takes no keyword axis"),
        ("f(x, /, *, axis=0)", "axis is by default 0, not None"),
        ("f(*, x, axis=None)", "takes no x at position 0"),
        ("f(x, /, *, axis=None, more)", "needs ['more'] besides"),
    ],
)
def test_the_comparison_of_signatures_itself(ours: str, missing: str) -> None:
    (mine,), (wanted,) = signatures(ours).values(), signatures("f(x, /, *, axis=None)").values()
    assert accepts(mine, wanted) == missing


@pytest.mark.parametrize("name", [*(f"linalg.{n}" for n in signatures(LINALG)), *(f"fft.{n}" for n in signatures(FFT))])
def test_extensions_list_their_names(name: str) -> None:
    module, _, function = name.partition(".")
    assert function in getattr(aio, module).__all__


@pytest.mark.parametrize("name", {**signatures(ELEMENTWISE), **signatures(MAIN)})
def test_names_are_listed(name: str) -> None:
    assert name in aio.__all__
    assert name in dir(aio)


@pytest.mark.parametrize(("name", "asked", "more"), ELEMENTWISE_KINDS, ids=[row[0] for row in ELEMENTWISE_KINDS])
def test_kinds_of_dtypes(name: str, asked: str, more: str) -> None:
    function = getattr(aio, name)
    count = len(signatures(ELEMENTWISE)[name].parameters)
    for kind, dtype in KINDS.items():
        operands = [aio.ShapeDtype((3,), dtype)] * count
        if kind in asked + more:
            assert aio.eval_shape(function, *operands).shape == (3,)
        else:
            with pytest.raises(TypeError, match=name):
                aio.eval_shape(function, *operands)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    assert np.dtype(getattr(aio, dtype)) == np.dtype(dtype)
    assert aio.zeros(1, dtype=getattr(aio, dtype)).dtype == getattr(aio, dtype)
    assert dtype in aio.__array_namespace_info__().dtypes()


@pytest.mark.parametrize("dtype", MORE_DTYPES)
def test_dtypes_beyond_the_standard(dtype: str) -> None:
    ours = np.dtype(getattr(aio, dtype))
    assert ours == np.dtype(getattr(ml_dtypes, dtype, dtype))
    assert (aio.ones(2, dtype=dtype) + aio.ones(2, dtype=dtype)).tolist() == [2, 2]


def test_constants() -> None:
    for name, value in CONSTANTS.items():
        found = getattr(aio, name)
        assert found == value or (found != found and name == "nan")


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_attributes(name: str) -> None:
    assert isinstance(inspect.getattr_static(aio.Array, name), property)


@pytest.mark.parametrize("name", sorted(CONVERSIONS))
def test_conversions(name: str) -> None:
    value = {"bool": True, "complex": 2j, "float": 2.5, "index": 3, "int": 3}[name]
    assert getattr(aio.asarray(value), f"__{name}__")() == value


@pytest.mark.parametrize(("name", "function"), UNARY.items())
def test_unary_operators(name: str, function: str) -> None:
    x = aio.asarray([1, -2, 3])
    assert getattr(x, f"__{name}__")().tolist() == getattr(aio, function)(x).tolist()


@pytest.mark.parametrize(("name", "function"), (ARITHMETIC | COMPARISONS).items())
def test_binary_operators(name: str, function: str) -> None:
    x, y = aio.asarray([[4, 5], [6, 7]]), aio.asarray([[1, 2], [2, 1]])
    if name == "truediv":
        x, y = aio.astype(x, aio.float32), aio.astype(y, aio.float32)
    wanted = getattr(aio, function)(x, y).tolist()
    assert getattr(x, f"__{name}__")(y).tolist() == wanted
    if name in ARITHMETIC:
        z = x.__copy__()
        assert getattr(z, f"__i{name}__")(y) is z
        assert z.tolist() == wanted
        assert getattr(aio.Array, f"__r{name}__") is not None
        if name != "matmul":
            assert getattr(y, f"__r{name}__")(4).tolist() == getattr(aio, function)(4, y).tolist()
