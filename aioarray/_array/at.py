"""``x.at[index]``: an updated array, while ``x`` stays as it is."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar


class Updatable(Protocol):
    """What ``At`` needs of an Array."""

    def __getitem__(self, index: Any, /) -> Any: ...

    def _updated(self, index: Any, mode: str, value: Any) -> Any: ...


T = TypeVar("T", bound=Updatable)


class At(Generic[T]):
    """``x.at``: to be indexed."""

    __slots__ = ("_array",)

    def __init__(self, array: T) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> AtIndex[T]:
        return AtIndex(self._array, index)


class AtIndex(Generic[T]):
    """``x.at[index]``: the place to update."""

    __slots__ = ("_array", "_index")

    def __init__(self, array: T, index: Any) -> None:
        self._array = array
        self._index = index

    def get(self) -> T:
        """The elements there, as ``x[index]``."""
        return self._array[self._index]  # type: ignore[no-any-return]

    def set(self, value: Any) -> T:
        """``x`` with these elements replaced by ``value``, which is broadcast and cast to the dtype of ``x``."""
        return self._update("set", value)

    def add(self, value: Any) -> T:
        """``x`` with ``value`` added; where an index occurs twice, both are added."""
        return self._update("add", value)

    def multiply(self, value: Any) -> T:
        """``x`` with these elements multiplied by ``value``."""
        return self._update("multiply", value)

    def min(self, value: Any) -> T:
        """``x`` with the smaller of its elements and ``value``."""
        return self._update("min", value)

    def max(self, value: Any) -> T:
        """``x`` with the larger of its elements and ``value``."""
        return self._update("max", value)

    def _update(self, mode: str, value: Any) -> T:
        return self._array._updated(self._index, mode, value)  # type: ignore[no-any-return]
