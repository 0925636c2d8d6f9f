"""Names that other libraries have: absent, and the error says what to write."""

from __future__ import annotations

import asyncio
import inspect
from operator import attrgetter

import numpy as np
import pytest

import aioarray as aio
from aioarray._array.other_names import Elsewhere, OtherNames
from aioarray._base import other_names

METHODS = sorted(name for name, value in vars(OtherNames).items() if isinstance(value, Elsewhere))
FUNCTIONS = sorted(other_names._HERE)
NOT_HERE = sorted(other_names._NOT_HERE)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_absent_and_says_what_to_write(name: str) -> None:
    x = aio.ones(3)
    with pytest.raises(AttributeError, match=f"'Array' object has no attribute '{name}': .+"):
        getattr(x, name)
    assert not hasattr(x, name)
    assert not hasattr(aio.Array, name)
    assert getattr(x, name, None) is None
    assert name not in dir(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_another_name_is_here(name: str) -> None:
    there = other_names._HERE[name]
    with pytest.raises(AttributeError, match=f"write aio.{there}$"):
        getattr(aio, name)
    assert attrgetter(there)(aio) is not None
    assert not hasattr(aio, name)
    assert name not in dir(aio)


@pytest.mark.parametrize("name", NOT_HERE)
def test_a_function_that_is_not_here(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}': .+"):
        getattr(aio, name)


def test_any_other_name_is_as_for_every_module() -> None:
    with pytest.raises(AttributeError, match=r"^module 'aioarray' has no attribute 'nonsense'$"):
        getattr(aio, "nonsense")  # noqa: B009
    with pytest.raises(AttributeError, match=r"^'Array' object has no attribute 'nonsense'"):
        getattr(aio.ones(3), "nonsense")  # noqa: B009


def test_every_method_of_numpy_is_here_or_told() -> None:
    array = np.zeros((1, 1))
    public = {name for name in dir(array) if not name.startswith("_")}
    x = aio.zeros((1, 1))
    told = {name for name in public if not hasattr(x, name)}
    assert told <= set(METHODS) | {"getfield", "setfield", "newbyteorder", "ptp", "tostring", "dumps", "device"}


def test_no_attribute_is_slower_to_get() -> None:
    assert not hasattr(aio.Array, "__getattr__")
    assert "__getattribute__" not in {name for base in aio.Array.__mro__[:-1] for name in vars(base)}
    members = {name for name, _ in inspect.getmembers(aio.ones((3, 3)))}
    assert not members & set(METHODS)


# asyncio


def test_what_asyncio_takes_and_what_it_says_otherwise() -> None:
    async def main() -> None:
        x = aio.ones(3) + 1
        first, second = await aio.to_host(await asyncio.gather(x, x + 1))
        assert (first[0], second[0]) == (2.0, 3.0)
        assert await asyncio.wait_for(x, 60) is x
        done, _ = await asyncio.wait([asyncio.ensure_future(x)])
        assert len(done) == 1
        with pytest.raises(AttributeError, match=r"asyncio\.ensure_future\(x\).*as_completed"):
            await asyncio.wait([x])  # type: ignore[type-var]

    asyncio.run(main())


# Messages


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x[x > 0], r"x\[mask\].*aio\.where\(mask, x, other\).*aio\.nonzero\(mask, size=n"),
        (lambda x: x.at[x > 0].set(aio.ones(3)), r"x\[mask\].*aio\.where"),
        (lambda x: aio.nonzero(x), r"nonzero.*size="),
        (lambda x: aio.unique(x), r"unique.*size="),
        (lambda x: 1 if x.sum() > 0 else 0, r"bool\(array\).*aio\.where"),
    ],
)
def test_what_has_no_value_inside_jit_names_what_works(function, words: str) -> None:
    with pytest.raises(aio.errors.TracedValueError, match=words) as caught:
        aio.jit(function)(aio.ones(3))
    assert "numpy.asarray" not in str(caught.value)


def test_what_the_message_on_masks_names_works() -> None:
    @aio.jit
    def f(x: aio.Array) -> tuple[aio.Array, aio.Array]:
        mask = x > 1
        return aio.where(mask, x, 0), x[aio.nonzero(mask, size=2, fill_value=0)]

    first, second = f(aio.asarray([1.0, 2.0, 3.0]))
    assert (first.tolist(), second.tolist()) == ([0.0, 2.0, 3.0], [2.0, 3.0])


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "//", "%", "**"])
def test_in_place_names_its_own_operator(sign: str) -> None:
    namespace = {"x": aio.ones(3, dtype="int32")}
    with pytest.raises(TypeError, match=rf"in place.*`x = x \{sign[0]}"):
        exec(f"x {sign}= 2.5", namespace)


def test_the_truth_of_several_elements() -> None:
    with pytest.raises(TypeError, match=r"aio\.any\(x\) or aio\.all\(x\)"):
        bool(aio.ones(3))
