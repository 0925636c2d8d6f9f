"""The operations that are measured one by one, written for each library as its users would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Callable

# The functions of three arrays, ``a``, ``b`` and a mask, that are also compiled for the limit.
FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a + b": lambda a, b, m: a + b,
    "a * 2": lambda a, b, m: a * 2,
    "sin": lambda a, b, m: aio.sin(a),
    "sum": lambda a, b, m: aio.sum(a),
    "mean": lambda a, b, m: aio.mean(a),
    "dot": lambda a, b, m: aio.dot(a, b),
    "reshape": lambda a, b, m: aio.reshape(a, (a.shape[0] // 2, a.shape[1] * 2)),
    "where": lambda a, b, m: aio.where(m, a, b),
    "concat": lambda a, b, m: aio.concat([a, b]),
    "a[0]": lambda a, b, m: a[0],
    "a[1:3]": lambda a, b, m: a[1:3],
    "softmax": lambda a, b, m: aio.nn.softmax(a),
    "argmax": lambda a, b, m: aio.argmax(a),
    "astype": lambda a, b, m: aio.astype(a, aio.int32),
    "stack": lambda a, b, m: aio.stack([a, b]),
    "var": lambda a, b, m: aio.var(a),
}
# Which of the three each of them takes.
ARGUMENTS = {"a + b": "ab", "dot": "ab", "where": "abm", "concat": "ab", "stack": "ab"}


def ours(a: Any, b: Any, m: Any) -> dict[str, Callable[[], Any]]:
    shape = a.shape[0] // 2, a.shape[1] * 2
    return {
        "a + b": lambda: a + b,
        "a * 2": lambda: a * 2,
        "sin": lambda: aio.sin(a),
        "sum": lambda: aio.sum(a),
        "mean": lambda: aio.mean(a),
        "dot": lambda: aio.dot(a, b),
        "reshape": lambda: aio.reshape(a, shape),
        "where": lambda: aio.where(m, a, b),
        "concat": lambda: aio.concat([a, b]),
        "a[0]": lambda: a[0],
        "a[1:3]": lambda: a[1:3],
        "softmax": lambda: aio.nn.softmax(a),
        "argmax": lambda: aio.argmax(a),
        "astype": lambda: aio.astype(a, aio.int32),
        "stack": lambda: aio.stack([a, b]),
        "var": lambda: aio.var(a),
    }


def of_jax(jax: Any, jnp: Any, a: Any, b: Any, m: Any) -> dict[str, Callable[[], Any]]:
    shape = a.shape[0] // 2, a.shape[1] * 2
    return {
        "a + b": lambda: a + b,
        "a * 2": lambda: a * 2,
        "sin": lambda: jnp.sin(a),
        "sum": lambda: jnp.sum(a),
        "mean": lambda: jnp.mean(a),
        "dot": lambda: jnp.dot(a, b),
        "reshape": lambda: jnp.reshape(a, shape),
        "where": lambda: jnp.where(m, a, b),
        "concat": lambda: jnp.concatenate([a, b]),
        "a[0]": lambda: a[0],
        "a[1:3]": lambda: a[1:3],
        "softmax": lambda: jax.nn.softmax(a),
        "argmax": lambda: jnp.argmax(a),
        "astype": lambda: a.astype(jnp.int32),
        "stack": lambda: jnp.stack([a, b]),
        "var": lambda: jnp.var(a),
    }


def of_numpy(np: Any, a: Any, b: Any, m: Any) -> dict[str, Callable[[], Any]]:
    shape = a.shape[0] // 2, a.shape[1] * 2

    def softmax() -> Any:
        powers = np.exp(a - np.max(a, axis=-1, keepdims=True))
        return powers / np.sum(powers, axis=-1, keepdims=True)

    return {
        "a + b": lambda: a + b,
        "a * 2": lambda: a * 2,
        "sin": lambda: np.sin(a),
        "sum": lambda: np.sum(a),
        "mean": lambda: np.mean(a),
        "dot": lambda: np.dot(a, b),
        "reshape": lambda: np.reshape(a, shape),
        "where": lambda: np.where(m, a, b),
        "concat": lambda: np.concatenate([a, b]),
        "a[0]": lambda: a[0],
        "a[1:3]": lambda: a[1:3],
        "softmax": softmax,
        "argmax": lambda: np.argmax(a),
        "astype": lambda: a.astype(np.int32),
        "stack": lambda: np.stack([a, b]),
        "var": lambda: np.var(a),
    }


def of_torch(torch: Any, a: Any, b: Any, m: Any) -> dict[str, Callable[[], Any]]:
    shape = a.shape[0] // 2, a.shape[1] * 2
    return {
        "a + b": lambda: a + b,
        "a * 2": lambda: a * 2,
        "sin": lambda: torch.sin(a),
        "sum": lambda: torch.sum(a),
        "mean": lambda: torch.mean(a),
        "dot": lambda: torch.matmul(a, b),
        "reshape": lambda: torch.reshape(a, shape),
        "where": lambda: torch.where(m, a, b),
        "concat": lambda: torch.concat([a, b]),
        "a[0]": lambda: a[0],
        "a[1:3]": lambda: a[1:3],
        "softmax": lambda: torch.softmax(a, -1),
        "argmax": lambda: torch.argmax(a),
        "astype": lambda: a.to(torch.int32),
        "stack": lambda: torch.stack([a, b]),
        "var": lambda: torch.var(a, correction=0),
    }
