"""A server at five times what it can do: who is served, how fast the others are refused, whether health answers.

::

    python -m tests.benchmarks.serving_overload              # 60 seconds
    python -m tests.benchmarks.serving_overload --seconds 10

The model takes 50 ms for a batch of 8, whatever else the machine does, so the server can do 160 requests a second.
Requests come at random times, each on a connection that waits for it, from this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import time
from collections import Counter
from pathlib import Path

from tests.serving.processes import ServerProcess

BATCH, BATCH_SECONDS, MAX_DELAY = 8, 0.05, 0.005
TIMES = 5
BODY = json.dumps({"inputs": [{"name": "x", "shape": [1, 1], "datatype": "FP32", "data": [1]}]}).encode()
INFER = f"POST /v2/models/busy/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(BODY)}\r\n\r\n".encode() + BODY
HEALTH = b"GET /v2/health/ready HTTP/1.1\r\nHost: x\r\n\r\n"

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Pool:
    """Connections that are open, so that their making is not measured."""

    def __init__(self, url: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self.host, self.port = host, int(port)
        self.free: list[Connection] = []

    async def ask(self, request: bytes) -> tuple[int, float]:
        """The status, and the seconds it took."""
        while True:
            reader, writer = self.free.pop() if self.free else await asyncio.open_connection(self.host, self.port)
            start = time.perf_counter()
            try:
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                break
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()  # the server closes connections on which nothing was asked for some seconds
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length is not None
        await reader.readexactly(int(length[1]))
        seconds = time.perf_counter() - start
        self.free.append((reader, writer))
        return int(head[9:12]), seconds


def quantile(values: list[float], q: float) -> float:
    """In milliseconds."""
    return 1e3 * sorted(values)[min(len(values) - 1, int(len(values) * q))] if values else float("nan")


def resident(process: int) -> float:
    """Memory in MB."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


async def drive(url: str, process: int, seconds: float) -> None:
    """Send requests at random times, and ask for health ten times a second."""
    pool = Pool(url)
    taken: dict[int, list[float]] = {}
    health: list[float] = []
    statuses: Counter[int] = Counter()
    memory: list[float] = []
    late: list[float] = []  # what this process adds to the latencies
    tasks: set[asyncio.Task[None]] = set()

    async def one() -> None:
        status, elapsed = await pool.ask(INFER)
        statuses[status] += 1
        taken.setdefault(status, []).append(elapsed)

    async def watch(end: float) -> None:
        while time.perf_counter() < end:
            status, elapsed = await pool.ask(HEALTH)
            assert status == 200
            health.append(elapsed)
            memory.append(resident(process))
            await asyncio.sleep(0.1)

    alone = [await pool.ask(INFER) for _ in range(20)]
    chosen = random.Random(1)
    rate = TIMES * BATCH / BATCH_SECONDS
    end = time.perf_counter() + seconds
    watcher = asyncio.create_task(watch(end))
    due = time.perf_counter()
    while due < end:
        due += chosen.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        late.append(max(0.0, time.perf_counter() - due))
        task = asyncio.create_task(one())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks, watcher)
    print(f"alone: {quantile([elapsed for _, elapsed in alone], 0.5):.1f} ms (p50)")
    print(f"asked: {sum(statuses.values()) / seconds:.0f}/s, answered: {dict(statuses)}")
    for status, values in sorted(taken.items()):
        print(f"status {status}: p50 {quantile(values, 0.5):.1f} ms, p99 {quantile(values, 0.99):.1f} ms")
    print(f"health: p50 {quantile(health, 0.5):.1f} ms, p99 {quantile(health, 0.99):.1f} ms")
    print(f"this process was late by: p50 {quantile(late, 0.5):.1f} ms, p99 {quantile(late, 0.99):.1f} ms")
    limit = 2 * BATCH_SECONDS + MAX_DELAY
    print(f"aim: status 200 p99 below {limit * 1e3:.0f} ms, status 429 below 20 ms, health below 50 ms")
    print(f"memory: {memory[len(memory) // 4]:.0f} MB after a quarter, {memory[-1]:.0f} MB at the end")


def main() -> None:
    """Carry out the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with ServerProcess("tests.serving.clients:busy") as server:
        asyncio.run(drive(server.url, server.process.pid, options.seconds))


if __name__ == "__main__":
    main()
