"""examples/ray_serve.py on a Ray of one machine: a model is served, and the number of replicas follows the queues."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]

# Ray starts processes of its own and leaves threads behind: it runs in a process of its own too.
SCRIPT = """
import json, sys, time, urllib.request
import ray
from ray import serve
from examples.ray_serve import deploy
from tests.serving.clients import affine

environment = {"env_vars": {"PYTHONPATH": sys.argv[2]}}
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
serve.start(http_options={"port": int(sys.argv[1])})
serve.run(deploy({"affine": affine}, low=2, high=2, cores=0.5))
url = f"http://127.0.0.1:{sys.argv[1]}/v2/models/affine/infer"
body = {"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]}]}
processes, answers = set(), []
for _ in range(200):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        answers.append(json.load(urllib.request.urlopen(request, timeout=60))["outputs"][0]["data"])
    except urllib.error.HTTPError as error:
        if error.code != 503:
            raise
        time.sleep(0.2)
    state = json.load(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/stats", timeout=60))
    processes.add(state["server"]["process"])
    if len(processes) == 2 and len(answers) >= 5:
        break
serve.shutdown()
ray.shutdown()
print(json.dumps({"answers": answers, "replicas": len(processes)}))
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.timeout(300)
def test_two_replicas_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(free_port()), str(ROOT)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert result["replicas"] == 2
    assert len(result["answers"]) >= 5
    assert all(answer == [3.0, 5.0, 7.0] for answer in result["answers"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # Ray's own, at its import
@pytest.mark.parametrize(
    ("queued", "running", "current", "expected"),
    [(0.0, 1.0, 1, 1), (65.0, 1.0, 1, 2), (640.0, 1.0, 1, 4), (100.0, 2.0, 2, 2), (0.0, 0.0, 3, 2), (0.0, 0.0, 1, 1)],
)
def test_replicas_follow_the_queues(queued: float, running: float, current: int, expected: int) -> None:
    from examples.ray_serve import scale_by_queue

    context: Any = SimpleNamespace(
        aggregated_metrics={"queued_rows": {"a": queued}, "running": {"a": running}},
        target_num_replicas=current,
        current_num_replicas=current,
        capacity_adjusted_min_replicas=1,
        capacity_adjusted_max_replicas=4,
    )
    assert scale_by_queue(context)[0] == expected
