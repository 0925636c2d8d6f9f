"""The critical path, on launches whose times are made up."""

from __future__ import annotations

from itertools import pairwise

from aioarray.profiling import Launch, Phase, Step
from aioarray.profiling._build import pack
from aioarray.profiling._critical import STEPS, critical_path
from aioarray.profiling._summary import busy


def launch(index: int, name: str, *phases: tuple[str, float, float], parents: tuple[int, ...] = ()) -> Launch:
    run = next(((begun, ended) for kind, begun, ended in phases if kind == "run"), (None, None))
    before = next((begun for kind, begun, _ in reversed(phases) if kind == "inputs" and run[0] is not None), run[0])
    return Launch(
        index=index,
        name=name,
        location=None,
        thread="main",
        state="finished",
        error=None,
        inline=False,
        enqueued=phases[0][1],
        runnable=None,
        begun=before,
        launched=before,
        ready=run[1],
        awaited=None,
        phases=tuple(Phase(*phase) for phase in phases),
        parents=parents,
    )


def steps(path: tuple[Step, ...]) -> list[tuple[str, str, float, float]]:
    return [(step.kind, step.name, step.begun, step.ended) for step in path]


def test_of_several_inputs_the_one_that_came_last_counts() -> None:
    launches = [
        launch(0, "fast", ("worker", 0.0, 1.0), ("run", 1.0, 2.0)),
        launch(1, "slow", ("compile", 0.0, 3.0), ("worker", 3.0, 3.5), ("run", 3.5, 7.0)),
        launch(2, "other", ("run", 0.0, 9.0)),
        launch(3, "both", ("inputs", 0.5, 7.0), ("run", 7.0, 8.0), parents=(0, 1)),
    ]
    assert steps(critical_path(launches, 3)) == [
        ("compile", "slow", 0.0, 3.0),
        ("worker", "slow", 3.0, 3.5),
        ("run", "slow", 3.5, 7.0),
        ("run", "both", 7.0, 8.0),
    ]


def test_it_goes_through_a_chain_to_its_beginning() -> None:
    launches = [launch(0, "a", ("run", 0.0, 1.0))]
    launches += [
        launch(i, chr(ord("a") + i), ("inputs", 0.0, float(i)), ("run", float(i), i + 1.0), parents=(i - 1,))
        for i in range(1, 5)
    ]
    path = critical_path(launches, 4)
    assert [step.name for step in path] == ["a", "b", "c", "d", "e"]
    assert sum(step.seconds for step in path) == 5.0
    assert all(earlier.ended == later.begun for earlier, later in pairwise(path))


def test_a_launch_without_inputs_is_its_own_path() -> None:
    launches = [launch(0, "alone", ("window", 0.0, 2.0), ("run", 2.0, 3.0))]
    assert steps(critical_path(launches, 0)) == [("window", "alone", 0.0, 2.0), ("run", "alone", 2.0, 3.0)]


def test_waiting_for_inputs_that_were_not_recorded_is_a_step() -> None:
    launches = [launch(0, "alone", ("inputs", 0.0, 2.0), ("run", 2.0, 3.0))]
    assert steps(critical_path(launches, 0)) == [("inputs", "alone", 0.0, 2.0), ("run", "alone", 2.0, 3.0)]


def test_long_paths_are_cut() -> None:
    launches = [launch(0, "0", ("run", 0.0, 1.0))]
    launches += [
        launch(i, str(i), ("inputs", 0.0, float(i)), ("run", float(i), i + 1.0), parents=(i - 1,))
        for i in range(1, 2 * STEPS)
    ]
    path = critical_path(launches, len(launches) - 1)
    assert len(path) == STEPS
    assert path[-1].name == str(len(launches) - 1)


def test_rows_are_few_and_nothing_overlaps_in_one() -> None:
    spans = [(0.0, 2.0, 0), (1.0, 3.0, 1), (2.0, 4.0, 2), (3.5, 5.0, 3), (10.0, 11.0, 4)]
    rows = pack(spans)
    assert rows == {0: 0, 1: 1, 2: 0, 3: 1, 4: 0}
    assert pack([]) == {}


def test_busy_time_counts_overlapping_spans_once() -> None:
    assert busy([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0), (5.2, 5.5)]) == 4.0
    assert busy([]) == 0.0
