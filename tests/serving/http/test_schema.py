"""schemathesis: requests that the server's own description allows, and such as it forbids. None gets status 500."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

import aioarray as aio
from tests.serving.clients import LOST, affine, letters

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")

if TYPE_CHECKING:
    from collections.abc import Iterator

# Processes are started, which takes long where other things run; nothing here waits for nothing.
pytestmark = pytest.mark.timeout(400)

EXAMPLES = 8  # for each operation and mode; the counts below hold for far fewer


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server in this process, on a thread of its own."""
    app = aio.serving.create_app([affine(), letters()], manage=False)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    ready = threading.Event()
    for _ in range(int(LOST / 0.02)):
        if server.started and app.state.registry.settled.is_set():
            break
        ready.wait(0.02)
    (socket,) = server.servers[0].sockets
    yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join(LOST)
    assert not thread.is_alive()


KNOWN = {"model": "affine", "version": "1"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_no_request_gets_status_500(address: str, mode: str) -> None:
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    statuses: Counter[int] = Counter()
    reached: set[str] = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=strategy, known=st.booleans())
        def ask(case: Any, known: bool) -> None:
            if known:  # most names that are made up are those of no model, and no body is looked at
                for name in KNOWN.keys() & (case.path_parameters or {}).keys():
                    case.path_parameters[name] = KNOWN[name]
            answer = case.call(timeout=LOST)
            assert answer.status_code != 500, answer.text
            statuses[answer.status_code] += 1

        with suppress(Unsatisfiable):  # there is nothing to get wrong in a request without parameters
            ask()
            reached.add(operation.label)
    assert {"POST /v2/models/{model}/infer", "POST /v1/embeddings"} <= reached
    assert statuses[400] + statuses[422] > 0
    if mode == "positive":
        assert statuses[200] > 0
