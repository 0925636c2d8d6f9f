"""``eval_shape``: what a function gives, without computing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .function import JitFunction, Method, jit
from .shapes import ShapeDtype

if TYPE_CHECKING:
    from collections.abc import Callable


def eval_shape(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The tree of ``aio.ShapeDtype`` that ``function(*args, **kwargs)`` gives; nothing is compiled or computed.

    Arguments are Arrays, ``aio.ShapeDtype`` or numbers, in trees. Raises what the function raises for such shapes.

    >>> aio.eval_shape(lambda x: {"square": x @ x}, aio.ShapeDtype((3,), "float32"))
    {'square': ShapeDtype((), 'float32')}
    """
    jitted = function if isinstance(function, (JitFunction, Method)) else jit(function)
    traced = jitted.trace(args, kwargs)
    return traced.structure.unflatten([ShapeDtype(node.shape, node.dtype) for node in traced.outputs])
