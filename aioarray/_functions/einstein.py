"""NumPy's `einsum`, and the order in which it contracts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._array import Array, ArrayLike, as_array, call
from .._ops import einstein

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._array import Array
    from .products import Precision

__all__ = ["einsum", "einsum_path"]


def einsum(subscripts: str, /, *operands: ArrayLike, precision: Precision = None) -> Array:
    """Sums of products by Einstein's convention: "ij,jk->ik" is the matrix product; "..." stands for further axes.

    As in NumPy, without the list form. ``ValueError`` where subscripts and shapes do not fit.

    >>> x = aio.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> aio.einsum("ii", x), aio.einsum("ij->j", x)
    (Array(5., dtype=float32), Array([4., 6.], dtype=float32))
    """
    return call(einstein.einsum, operands, subscripts, precision)


def einsum_path(
    subscripts: str, /, *operands: ArrayLike, optimize: bool | str | Sequence[Any] = "greedy"
) -> tuple[list[Any], str]:
    """The order in which ``einsum`` may contract its operands, as NumPy gives it, and a description of its cost.

    ``optimize``: "greedy", "optimal" or another method of opt_einsum; False for all operands at once; or a path to be
    described. Nothing is computed. ``einsum`` itself chooses its order by the method "auto".

    >>> a, b, c = aio.ones((2, 10)), aio.ones((10, 10)), aio.ones((10, 3))
    >>> aio.einsum_path("ij,jk,kl->il", a, b, c)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    shapes = [as_array("einsum_path", x).shape for x in operands]
    return einstein.path(subscripts, shapes, optimize)
