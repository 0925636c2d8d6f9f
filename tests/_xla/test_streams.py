"""Execution streams: they belong to threads, and what runs on different ones still waits for its inputs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from aioarray import _xla
from tests._xla.programs import program, put, run


@pytest.fixture
def stream():
    before = _xla.get_stream()
    yield before
    _xla.set_stream(before)


def test_the_stream_belongs_to_the_thread(stream) -> None:
    _xla.set_stream(stream + 5)
    assert _xla.get_stream() == stream + 5
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_xla.set_stream, stream + 9).result()
        assert pool.submit(_xla.get_stream).result() == stream + 9
    assert _xla.get_stream() == stream + 5


def test_a_computation_waits_for_its_inputs_from_other_streams(stream) -> None:
    size = 300
    buffer, spec = put(np.eye(size) * 2)
    dot = _xla.compile(program("stablehlo.dot", 2, (size, size)), _xla.default_device())
    base = buffer
    for number in range(8):
        _xla.set_stream(100 + number)
        [buffer] = run(dot, [buffer, base], spec)
    np.testing.assert_array_equal(_xla.to_numpy(buffer, spec), np.eye(size) * 2.0**9)
