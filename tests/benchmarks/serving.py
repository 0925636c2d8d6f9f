"""Sentence embeddings over HTTP: requests a second and latencies at 1 to 256 clients, beside other ways to serve them.

Each server is a process, and the clients are this one; the same model, the same texts, one after another in rounds::

    python -m tests.benchmarks.serving                     # starts the servers, measures, and stops them
    python -m tests.benchmarks.serving --servers aioarray,torch --clients 64 --seconds 10

The servers beside aioarray need torch, sentence-transformers, onnxruntime with onnxscript, and batched; those whose
packages are not installed are left out. A request has one sentence of 30 to 200 characters, so 10 to 50 tokens.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from aioarray.serving import _corpus

ROOT = Path(__file__).resolve().parents[2]
# Name -> the packages that it needs, and the command.
SERVERS = {
    "aioarray": (["fastapi"], ["-m", "aioarray", "serve", "minilm", "--port", "0"]),
    "torch": (["torch", "sentence_transformers"], ["-m", "tests.benchmarks.serving_others", "torch"]),
    "onnxruntime": (["onnxruntime", "torch", "onnxscript"], ["-m", "tests.benchmarks.serving_others", "onnxruntime"]),
    "batched": (["batched", "torch", "sentence_transformers"], ["-m", "tests.benchmarks.serving_others", "batched"]),
}
START_SECONDS = 900.0


class Measured(NamedTuple):
    """Of one server at one number of clients."""

    rate: float
    p50: float
    p99: float
    errors: int


def start(name: str) -> tuple[subprocess.Popen[str], str]:
    """A server, and its address, once it is ready."""
    process = subprocess.Popen(
        [sys.executable, *SERVERS[name][1]], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        found = re.match(r"ready at (http://\S+)", line)
        if found:
            return process, found[1]
    raise SystemExit(f"{name} did not start")


async def client(host: str, port: int, texts: list[str], seed: int, end: float, seconds: list[float]) -> int:
    """Ask until ``end``; how many answers were not 200. Without a library, whose time would count too."""
    chosen = random.Random(seed)
    reader, writer = await asyncio.open_connection(host, port)
    errors = 0
    while time.perf_counter() < end:
        body = json.dumps({"model": "minilm", "input": chosen.choice(texts)}).encode()
        head = f"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        start = time.perf_counter()
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", answer)
        assert length is not None
        await reader.readexactly(int(length[1]))
        seconds.append(time.perf_counter() - start)
        errors += not answer.startswith(b"HTTP/1.1 200")
    writer.close()
    return errors


async def measure(url: str, clients: int, duration: float, texts: list[str], seed: int) -> Measured:
    """Some clients at once for some seconds."""
    host, port = url.removeprefix("http://").split(":")
    seconds: list[float] = []
    begin = time.perf_counter()
    tasks = [client(host, int(port), texts, seed + n, begin + duration, seconds) for n in range(clients)]
    errors = sum(await asyncio.gather(*tasks))
    elapsed = time.perf_counter() - begin
    seconds.sort()
    p99 = seconds[min(len(seconds) - 1, len(seconds) * 99 // 100)]
    return Measured(len(seconds) / elapsed, seconds[len(seconds) // 2], p99, errors)


def main() -> None:
    """Carry out the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", default=",".join(SERVERS), help="which of them (default: %(default)s)")
    parser.add_argument("--clients", default="1,8,64,256", help="numbers of clients (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=5.0, help="of a measurement (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--only-start", action="store_true", help="start the servers, print their addresses, and wait")
    parser.add_argument("--urls", default="", help="servers that run: NAME=URL,...")
    options = parser.parse_args()
    urls: dict[str, str] = dict(part.split("=", 1) for part in options.urls.split(",") if part)
    processes = []
    try:
        for name in options.servers.split(",") if not urls else ():
            missing = [package for package in SERVERS[name][0] if importlib.util.find_spec(package) is None]
            if missing:
                print(f"{name}: left out, {', '.join(missing)} is not installed", flush=True)
                continue
            process, urls[name] = start(name)
            processes.append(process)
            print(f"{name}: {urls[name]}", flush=True)
        if options.only_start:
            print("--urls " + ",".join(f"{name}={url}" for name, url in urls.items()), flush=True)
            signal.pause()
        report(urls, [int(n) for n in options.clients.split(",")], options.seconds, options.rounds)
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(60)


def report(urls: dict[str, str], counts: list[int], duration: float, rounds: int) -> None:
    """Measure and print a table; each figure is the median of the rounds."""
    texts = [sentence.text for sentence in _corpus.sentences()]
    print(f"{os.cpu_count()} cores, for server and clients together; {rounds} rounds of {duration:g} s\n")
    print("| clients | server | requests/s | p50 ms | p99 ms | errors |\n|---|---|---|---|---|---|", flush=True)
    for count in counts:
        found: dict[str, list[Measured]] = {name: [] for name in urls}
        for turn in range(rounds):
            for name, url in urls.items():
                found[name].append(asyncio.run(measure(url, count, duration, texts, turn)))
        for name, results in found.items():
            rate, p50, p99 = (statistics.median(values) for values in zip(*(r[:3] for r in results), strict=True))
            errors = sum(result.errors for result in results)
            print(f"| {count} | {name} | {rate:.0f} | {p50 * 1e3:.1f} | {p99 * 1e3:.1f} | {errors} |", flush=True)


if __name__ == "__main__":
    main()
