"""Methods that other libraries' arrays have: asking for one raises an ``AttributeError`` that names what to write.

Each is a descriptor and not a case of ``__getattr__``, which would make every attribute of an Array slower to get. For
``hasattr``, ``getattr`` with a default and ``dir`` there are no such attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn


class Elsewhere:
    """An attribute that is not there, and what to write for it."""

    def __init__(self, advice: str) -> None:
        self._advice = advice
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}: {self._advice}")


def refuse_comparison(function: str, sign: str, other: object) -> NoReturn:
    """``x == [1, 2]``: refused as by the other operators; Python would take NotImplemented for "not equal"."""
    raise TypeError(
        f"{function}: an Array {sign} a {type(other).__name__} is neither elementwise nor one answer; write "
        f"x {sign} aio.asarray(...), aio.array_equal(x, ...) or x.tolist() {sign} [...]"
    )


_CONSTANT = "values of Arrays do not change"
_ON_HOST = "await x.to_host() gives a numpy.ndarray; numpy.asarray(x) the same, synchronously"
_WAITED = "asyncio.wait takes tasks and futures: asyncio.wait([asyncio.ensure_future(x)]), asyncio.gather(x, y) or "
_GRADIENT = "there is no automatic differentiation"


class OtherNames:
    """The part of ``Array`` that is not there."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not isinstance(vars(OtherNames).get(name), Elsewhere)]

    if not TYPE_CHECKING:
        # NumPy
        sort = Elsewhere(f"{_CONSTANT}; write x = aio.sort(x)")
        partition = Elsewhere(f"{_CONSTANT}; write x = aio.partition(x, kth)")
        argpartition = Elsewhere("write aio.argpartition(x, kth)")
        fill = Elsewhere(f"{_CONSTANT}; write x = aio.full_like(x, value), or x[...] = value")
        put = Elsewhere(f"{_CONSTANT}; write x = x.ravel().at[indices].set(values)")
        resize = Elsewhere(f"{_CONSTANT}; write aio.reshape(x, shape), or aio.pad(x, widths)")
        itemset = Elsewhere(f"{_CONSTANT}; write x[index] = value, or x = x.at[index].set(value)")
        setflags = Elsewhere(f"{_CONSTANT}; await x.to_host() and copy that for memory of your own")
        compress = Elsewhere("write aio.compress(condition, x), or x[mask]")
        choose = Elsewhere("write aio.choose(x, choices)")
        tofile = Elsewhere("write (await x.to_host()).tofile(file), or await aio.io.save_safetensors(...)")
        dump = Elsewhere("write pickle.dump(x, file)")
        byteswap = Elsewhere("write (await x.to_host()).byteswap()")
        ctypes = Elsewhere(_ON_HOST)
        data = Elsewhere(_ON_HOST)
        strides = Elsewhere(f"an Array has no memory layout; {_ON_HOST}")
        flags = Elsewhere(f"an Array has no memory layout; {_ON_HOST}")
        base = Elsewhere("an Array is no view of another one")
        flat = Elsewhere("write x.ravel()")
        # PyTorch, TensorFlow, JAX
        numpy = Elsewhere(_ON_HOST)
        cpu = Elsewhere(f'write x.to_device("cpu"); {_ON_HOST}')
        cuda = Elsewhere('write x.to_device("cuda:0")')
        to = Elsewhere("write x.to_device(device), or x.astype(dtype)")
        type = Elsewhere("write x.astype(dtype)")
        float = Elsewhere('write x.astype("float32")')
        double = Elsewhere('write x.astype("float64")')
        half = Elsewhere('write x.astype("float16")')
        long = Elsewhere('write x.astype("int64")')
        detach = Elsewhere(f"{_GRADIENT}, and nothing to detach")
        backward = Elsewhere(_GRADIENT)
        requires_grad = Elsewhere(_GRADIENT)
        grad = Elsewhere(_GRADIENT)
        clone = Elsewhere("write x.copy()")
        contiguous = Elsewhere("an Array has no memory layout; leave it out")
        dim = Elsewhere("write x.ndim")
        numel = Elsewhere("write x.size")
        permute = Elsewhere("write aio.permute_dims(x, axes)")
        unsqueeze = Elsewhere("write aio.expand_dims(x, axis=axis), or x[None]")
        expand = Elsewhere("write aio.broadcast_to(x, shape)")
        masked_fill = Elsewhere("write aio.where(mask, value, x)")
        scatter = Elsewhere("write x.at[indices].set(values)")
        gather = Elsewhere("write aio.take_along_axis(x, indices, axis)")
        # Futures
        add_done_callback = Elsewhere(f"{_WAITED}aio.as_completed([x, y])")
        result = Elsewhere("await x; or x.block_until_ready() outside of loops")
        done = Elsewhere("write x.is_ready()")
        cancel = Elsewhere("work whose results nobody holds is not launched: drop the Array")
