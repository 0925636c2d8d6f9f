"""Which locks are seen to be held where a coroutine awaits, without anything of the program being run for that."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from aioarray.testing._locks import held_lock

if TYPE_CHECKING:
    from collections.abc import Coroutine

LOCK = threading.Lock()


class Service:
    """Has its locks in every way there is."""

    __slots__ = ("asked", "in_a_slot")
    of_the_class = threading.RLock()

    def __init__(self) -> None:
        self.asked = 0
        self.in_a_slot = threading.Condition()

    @property
    def computed(self) -> Any:
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("asked by somebody else than the program")
        return LOCK


class Proxy:
    """Has what it has by `__getattr__`."""

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        self.asked += 1
        if self.asked > 1:
            raise RuntimeError("asked by somebody else than the program")
        return LOCK


def run(coroutine: Coroutine[Any, Any, str | None]) -> str | None:
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    found: str | None = caught.value.value
    return found


async def global_lock() -> str | None:
    with LOCK:
        return held_lock(sys._getframe())


async def lock_of_a_class(service: Service) -> str | None:
    with service.of_the_class:
        return held_lock(sys._getframe())


async def lock_in_a_slot(service: Service) -> str | None:
    with service.in_a_slot:
        return held_lock(sys._getframe())


async def computed_lock(service: Any) -> str | None:
    with service.computed:
        return held_lock(sys._getframe())


async def released_lock() -> str | None:
    with LOCK:
        pass
    return held_lock(sys._getframe())


def test_locks_that_are_held() -> None:
    for coroutine, text in (
        (global_lock(), "`LOCK`, a threading.Lock, is held"),
        (lock_of_a_class(Service()), "`service.of_the_class`, a threading.RLock, is held"),
        (lock_in_a_slot(Service()), "`service.in_a_slot`, a threading.Condition, is held"),
    ):
        found = run(coroutine)
        assert found is not None
        assert text in found
    assert run(released_lock()) is None


@pytest.mark.parametrize("kind", [Service, Proxy])
def test_what_would_have_to_be_computed_is_not_looked_at(kind: type) -> None:
    service = kind()
    assert run(computed_lock(service)) is None
    assert service.asked == 1
