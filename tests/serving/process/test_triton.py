"""Triton's own clients: every call of theirs that this server answers, and how they are told of what it does not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.serving.processes import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

# Processes are started, which takes long where other things run; nothing here waits for nothing.
pytestmark = pytest.mark.timeout(400)

ROWS = 1000


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    with ServerProcess("tests.serving.clients:several") as process:
        yield process


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # gevent's, which the client imports
def test_tritonclient(server: ServerProcess) -> None:
    triton = pytest.importorskip("tritonclient.http", reason="tritonclient is not installed")
    client = triton.InferenceServerClient(server.url.removeprefix("http://"))
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("affine", "2")
    assert client.get_server_metadata()["name"] == "aioarray"
    assert client.get_model_metadata("affine")["versions"] == ["1", "2"]
    assert {row["name"] for row in client.get_model_repository_index()} == {"affine", "letters"}
    assert client.get_model_config("affine", "2")["max_batch_size"] == 4
    assert len(client.get_inference_statistics()["model_stats"]) == 3
    assert client.get_inference_statistics("affine", "2")["model_stats"][0]["version"] == "2"
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    for binary in (True, False):
        given = triton.InferInput("x", [2, 3], "FP32")
        given.set_data_from_numpy(values, binary_data=binary)
        for wanted in (None, [triton.InferRequestedOutput("output", binary_data=binary)]):
            result = client.infer("affine", [given], outputs=wanted, request_id="7")
            np.testing.assert_array_equal(result.as_numpy("output"), values * 2 + 1)
            assert result.get_response()["id"] == "7"
    large = triton.InferInput("x", [ROWS, 3], "FP32")
    large.set_data_from_numpy(np.ones((ROWS, 3), np.float32))
    for request in (None, "gzip", "deflate"):
        for response in (None, "gzip", "deflate"):
            packed = {"request_compression_algorithm": request, "response_compression_algorithm": response}
            result = client.infer("affine", [large], outputs=wanted, **packed)
            np.testing.assert_array_equal(result.as_numpy("output"), np.full((ROWS, 3), 3, np.float32))
    texts = triton.InferInput("text", [2], "BYTES")
    texts.set_data_from_numpy(np.array([b"abba", b"cab"], object))
    vectors = client.infer("letters", [texts]).as_numpy("embedding")
    np.testing.assert_array_equal(vectors, [[2, 2, 0, 0], [1, 1, 1, 0]])
    with pytest.raises(triton.InferenceServerException, match="there is no model 'other'"):
        client.infer("other", [given])
    wrong = triton.InferInput("x", [2, 3], "FP64")
    wrong.set_data_from_numpy(values.astype(np.float64))
    with pytest.raises(triton.InferenceServerException, match="it has to be FP32"):
        client.infer("affine", [wrong])
    client.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.asyncio
async def test_tritonclient_on_asyncio(server: ServerProcess) -> None:
    triton = pytest.importorskip("tritonclient.http.aio", reason="tritonclient is not installed")
    client = triton.InferenceServerClient(server.url.removeprefix("http://"), conn_limit=32)

    async def ask(number: int) -> float:
        given = triton.InferInput("x", [1, 3], "FP32")
        given.set_data_from_numpy(np.full((1, 3), number, np.float32))
        return float((await client.infer("affine", [given])).as_numpy("output")[0, 0])

    large = triton.InferInput("x", [ROWS, 3], "FP32")
    large.set_data_from_numpy(np.ones((ROWS, 3), np.float32))
    try:
        assert await client.is_server_live()
        assert await client.is_server_ready()
        assert await client.is_model_ready("affine")
        assert "statistics" in (await client.get_server_metadata())["extensions"]
        assert (await client.get_model_metadata("affine", "2"))["platform"] == "aioarray"
        assert (await client.get_model_config("letters"))["name"] == "letters"
        assert len((await client.get_inference_statistics("affine"))["model_stats"]) == 2
        assert len(await client.get_model_repository_index()) == 3
        assert await asyncio.gather(*map(ask, range(64))) == [2.0 * number + 1 for number in range(64)]
        for request in (None, "gzip", "deflate"):
            for response in (None, "gzip", "deflate"):
                packed = {"request_compression_algorithm": request, "response_compression_algorithm": response}
                result = await client.infer("affine", [large], **packed)
                np.testing.assert_array_equal(result.as_numpy("output"), np.full((ROWS, 3), 3, np.float32))
    finally:
        await client.close()
