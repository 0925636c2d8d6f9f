"""``aio.jit`` on methods: whose object is static by position or name, mutable or frozen, bound or passed by hand."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import aioarray as aio

X = np.asarray([1.0, 2.0], np.float32)
STATIC = [{"static_argnums": 0}, {"static_argnums": (0,)}, {"static_argnums": -2}, {"static_argnames": "self"}, {}]


def value(x: Any) -> list[float]:
    return aio.asarray(x).tolist()  # type: ignore[no-any-return]


def classes(options: dict[str, Any]) -> list[Any]:
    """Classes of each kind of object, made with ``k`` and the weights ``w``, whose method ``f`` uses both."""

    def f(self: Any, x: Any) -> Any:
        return x * self.w + (self.k if self.k > 1 else -1)  # a branch takes a Python number

    class Plain:
        def __init__(self, k: int, w: Any) -> None:
            self.k, self.w = k, w

    class Slots:
        __slots__ = ("k", "w")

        def __init__(self, k: int, w: Any) -> None:
            self.k, self.w = k, w

    class Unhashable(Plain):
        __hash__ = None  # type: ignore[assignment]

    @dataclass
    class Mutable:
        k: int
        w: Any

    @dataclass(frozen=True)
    class Frozen:
        k: int
        w: Any

    @dataclass(slots=True)
    class SlotsToo:
        k: int
        w: Any

    class Fields(NamedTuple):
        k: int
        w: Any

    class Tuple(Fields):
        pass

    made: list[Any] = [Plain, Slots, Unhashable]
    if options:  # otherwise a tree is an argument like any other, whose numbers are traced
        made += [Mutable, Frozen, SlotsToo, Tuple]
    for cls in made:
        cls.f = aio.jit(f, **options)
        cls.f.__set_name__(cls, "f")
    return made


@pytest.mark.parametrize("options", STATIC, ids=str)
def test_the_object_of_a_method_arrives_whole(options: dict[str, Any]) -> None:
    for cls in classes(options):
        one, two = cls(1, aio.asarray(10.0)), cls(2, aio.asarray(100.0))
        for _ in range(2):
            assert value(one.f(X)) == [9.0, 19.0], cls
            assert value(two.f(X)) == [102.0, 202.0], cls
            assert value(cls.f(one, X)) == [9.0, 19.0], cls
            assert value(cls.f(two, x=X)) == [102.0, 202.0], cls
        assert value(aio.jit(one.f)(X)) == [9.0, 19.0], cls
        assert value(aio.jit(lambda x, two=two: two.f(x))(X)) == [102.0, 202.0], cls


@pytest.mark.parametrize("options", STATIC, ids=str)
def test_what_changes_in_the_object_is_seen(options: dict[str, Any]) -> None:
    for cls in classes(options):
        if cls.__name__ in ("Frozen", "Tuple"):
            continue
        item = cls(1, aio.asarray(10.0))
        assert value(item.f(X)) == [9.0, 19.0], cls
        item.k = 5
        assert value(item.f(X)) == [15.0, 25.0], cls
        item.w = aio.asarray(0.0)
        assert value(item.f(X)) == [5.0, 5.0], cls
        assert value(cls.f(item, X)) == [5.0, 5.0], cls


def test_objects_of_equal_state_share_a_program() -> None:
    for cls in classes({"static_argnums": 0}):
        for w in (1.0, 2.0, 3.0):
            cls(2, aio.asarray(w)).f(X)
        assert len(cls.f.programs) == 1, cls


def test_other_static_arguments_of_methods() -> None:
    class Scaled:
        k = 3

        @functools.partial(aio.jit, static_argnums=(0, 2), static_argnames="sign")
        def f(self, x: Any, power: int, *, sign: str = "+") -> Any:
            scaled = x**power * self.k
            return scaled if sign == "+" else -scaled

        @functools.partial(aio.jit, static_argnums=2)
        def g(self, x: Any, power: int) -> Any:
            return x**power * self.k

    item = Scaled()
    assert value(item.f(X, 2)) == [3.0, 12.0]
    assert value(item.f(X, power=1)) == [3.0, 6.0]
    assert value(item.f(X, 2, sign="-")) == [-3.0, -12.0]
    assert value(Scaled.f(item, X, 2)) == [3.0, 12.0]
    assert value(item.g(X, 2)) == value(Scaled.g(item, X, 2)) == [3.0, 12.0]
    item.k = 1
    assert value(item.f(X, 2)) == value(item.g(X, 2)) == [1.0, 4.0]


def test_methods_are_inherited() -> None:
    class Base:
        k = 1

        @functools.partial(aio.jit, static_argnums=0)
        def f(self, x: Any) -> Any:
            return x * getattr(self, "k", 1000)

    class Derived(Base):
        k = 2

    class Extended(Base):
        k = 3

        @functools.partial(aio.jit, static_argnums=0)
        def f(self, x: Any) -> Any:
            return super().f(x) + 1

    assert value(Base().f(X)) == [1.0, 2.0]
    assert value(Derived().f(X)) == value(Base.f(Derived(), X)) == [2.0, 4.0]
    assert value(Extended().f(X)) == [4.0, 7.0]


@pytest.mark.parametrize("options", [{}, {"static_argnums": 0}], ids=str)
def test_class_and_static_methods(options: dict[str, Any]) -> None:
    class Base:
        k = 1

        @classmethod
        @functools.partial(aio.jit, **options)
        def of_class(cls, x: Any) -> Any:
            return x * cls.k

        @staticmethod
        @aio.jit
        def outer(x: Any) -> Any:
            return x + 1

        @aio.jit
        @staticmethod
        def inner(x: Any) -> Any:
            return x + 2

    class Derived(Base):
        k = 2

    for owner in (Base, Base(), Derived, Derived()):
        assert value(owner.of_class(X)) == [owner.k, 2.0 * owner.k]
        assert value(owner.outer(X)) == [2.0, 3.0]
        assert value(owner.inner(X)) == [3.0, 4.0]
    with pytest.raises(TypeError, match="@classmethod above"):
        aio.jit(classmethod(lambda cls, x: x))  # type: ignore[call-overload]


@pytest.mark.asyncio
async def test_methods_compile_ahead() -> None:
    for cls in classes({"static_argnums": 0}):
        item = cls(2, aio.asarray(10.0))
        bound = await item.f.compile(aio.ShapeDtype((2,), "float32"))
        by_hand = await cls.f.compile(item, aio.ShapeDtype((2,), "float32"))
        for compiled in (bound, by_hand):
            arguments = (X,) if compiled is bound else (item, X)
            assert (await compiled(*arguments).to_host()).tolist() == [12.0, 22.0]
