"""After ``delete()`` every accessor raises, and the process lives on."""

from __future__ import annotations

import asyncio
import copy
import operator
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import aioarray as aio
from tests.promise.work import LOST, products, warm_up

if TYPE_CHECKING:
    from collections.abc import Callable

USES: dict[str, Callable[[aio.Array], Any]] = {
    "add": lambda x: x + 1,
    "matmul": lambda x: x @ x,
    "negative": lambda x: -x,
    "right operand": lambda x: aio.ones((2, 2)) + x,
    "item of 1": lambda x: x[0, 0].item(),
    "getitem": lambda x: x[0],
    "mask": lambda x: x[np.array([True, False])],
    "setitem": lambda x: operator.setitem(x, 0, 1.0),
    "at": lambda x: x.at[0].set(1.0),
    "sum": lambda x: x.sum(),
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(4),
    "asarray": np.asarray,
    "tolist": lambda x: x.tolist(),
    "block": lambda x: x.block_until_ready(),
    "is_ready": lambda x: x.is_ready(),
    "pickle": pickle.dumps,
    "dlpack": np.from_dlpack,
    "copy": lambda x: copy.copy(x) + 1,
    "deepcopy": lambda x: copy.deepcopy(x) + 1,
    "iteration": lambda x: [y.tolist() for y in x],
    "contains": lambda x: 1.0 in x,
    "jit": lambda x: aio.jit(lambda y: y + 1)(x),
    "ready": lambda x: aio.block_until_ready([x]),
    "concat": lambda x: aio.concat([x, x]),
    "await": lambda x: asyncio.run(_await(x)),
    "to_host": lambda x: asyncio.run(x.to_host()),
    "as_completed": lambda x: asyncio.run(_first(x)),
    "device_put": lambda x: asyncio.run(aio.device_put([x])),
}


async def _await(x: aio.Array) -> None:
    await x


async def _first(x: aio.Array) -> None:
    async for _ in aio.as_completed([x]):
        return


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
@pytest.mark.parametrize("state", ["ready", "computed", "pending"])
def test_every_use_raises(state: str, use: Callable[[aio.Array], Any]) -> None:
    x = aio.ones((2, 2))
    if state == "computed":
        x = (x + 1).block_until_ready()
    elif state == "pending":
        x = products(5)[:2, :2]
    x.delete()
    for _ in range(2):
        with pytest.raises(aio.errors.DeletedArrayError, match="deleted"):
            use(x)


def test_metadata_stays() -> None:
    x = aio.ones((2, 3))
    x.delete()
    x.delete()
    assert x.is_deleted()
    assert (x.shape, x.dtype, x.ndim, x.size, x.nbytes) == ((2, 3), aio.float32, 2, 6, 24)
    assert "deleted" in repr(x)
    assert "deleted" in str(x)


def test_what_was_enqueued_before_gets_the_value() -> None:
    x = products(20)
    y = x + 1
    z = aio.ones((2, 2))
    u = z * 3
    x.delete()
    z.delete()
    assert np.asarray(y)[0, 20] == 2
    np.testing.assert_array_equal(np.asarray(u), np.full((2, 2), 3))


def test_deleting_what_a_task_awaits_does_not_hurt_it() -> None:
    warm_up()

    async def main() -> None:
        x = products(50)

        async def wait() -> aio.Array:
            return await x

        task = asyncio.create_task(wait())
        await asyncio.sleep(0.002)
        x.delete()
        result = await asyncio.wait_for(task, LOST)
        assert (await result.to_host())[0, 50] == 1
        with pytest.raises(aio.errors.DeletedArrayError):
            await x

    asyncio.run(main())


def test_a_copy_keeps_the_value() -> None:
    x = aio.ones(3) + 1
    y = copy.copy(x)
    x.delete()
    np.testing.assert_array_equal(np.asarray(y), [2, 2, 2])
