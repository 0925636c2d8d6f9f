"""ONNX's own backend tests, all of them: ``python -m tests.onnx.conformance``.

It prints how many pass, fail and are excluded for each domain, and every exclusion with its reason. Names after the
command are patterns of tests to run; ``--onnxruntime`` runs the same list there too, where it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import aioarray as aio

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")

# Pattern of names -> why these are not run.
EXCLUDED: dict[str, str] = {
    r"^test_(adagrad|adam|momentum|nesterov_momentum|gradient_of)": "training: the domain ai.onnx.preview.training",
    r"^test_training_dropout": "training: elements are dropped at random",
    r"^test_(string|regex|strnorm|tfidf.*string)": "strings are not on a device",
    r"^test_(equal_string|ai_onnx_ml_label_encoder_string|label_encoder_string)": "strings are not on a device",
    r"(?i)_u?int2(_|$)": "Arrays have no int2 and uint2: XLA aborts the process where it joins them",
    r"^test_bernoulli": "random: no two libraries draw the same",
    r"^test_image_decoder": "decodes JPEG, PNG and others: a matter of an image library, not of an array",
}


@dataclass(frozen=True)
class Case:
    """One test: a model, and inputs with the outputs they should give."""

    name: str
    kind: str
    model: onnx.ModelProto
    data: list[tuple[list[Any], list[Any]]]
    rtol: float
    atol: float

    @property
    def domain(self) -> str:
        domains = {node.domain for node in self.model.graph.node} - {"", "ai.onnx"}
        return sorted(domains)[0] if domains else "ai.onnx"

    @property
    def excluded(self) -> str | None:
        return next((reason for pattern, reason in EXCLUDED.items() if re.search(pattern, self.name)), None)


def cases(kinds: tuple[str, ...] = KINDS, patterns: tuple[str, ...] = ()) -> Iterator[Case]:
    """The tests of these kinds whose names match one of the patterns."""
    with warnings.catch_warnings():
        # Its own computations of expected values divide by zero.
        warnings.simplefilter("ignore")
        for kind in kinds:
            for case in load_model_tests(kind=kind):
                if patterns and not any(re.search(pattern, case.name) for pattern in patterns):
                    continue
                if case.model is not None:
                    data = [([*map(_array, inputs)], [*map(_array, outputs)]) for inputs, outputs in case.data_sets]
                    yield Case(case.name, kind, case.model, data, case.rtol, case.atol)
                else:
                    yield from _from_folder(case, kind)


def _from_folder(case: Any, kind: str) -> Iterator[Case]:
    if case.model_dir is not None:
        folder = Path(case.model_dir)
    else:
        # The light models are in the wheel; their weights are made as the model runs.
        folder = Path(onnx.__file__).parent / "backend/test/data/light"
        path = folder / f"light_{case.model_name}.onnx"
        outputs = folder / f"light_{case.model_name}_output_0.pb"
        model = onnx.load(path)
        weights = {each.name for each in model.graph.initializer}
        x = next(each for each in model.graph.input if each.name not in weights).type.tensor_type
        shape = [n.dim_value for n in x.shape.dim]
        scale = np.arange(np.prod(shape), dtype=np.float64) / np.prod(shape)
        inputs = [(scale.reshape(shape)).astype(onnx.helper.tensor_dtype_to_np_dtype(x.elem_type))]
        yield Case(case.name, kind, model, [(inputs, [_value(outputs, None)])], case.rtol, case.atol)
        return
    model = onnx.load(folder / "model.onnx")
    data = []
    for each in sorted(folder.glob("test_data_set_*")):
        inputs = [
            _value(each / f"input_{k}.pb", info)
            for k, info in enumerate(model.graph.input)
            if (each / f"input_{k}.pb").exists()
        ]
        outputs = [_value(each / f"output_{k}.pb", info) for k, info in enumerate(model.graph.output)]
        data.append((inputs, outputs))
    yield Case(case.name, kind, model, data, case.rtol, case.atol)


def _array(x: Any) -> Any:
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x


def _value(path: Path, info: onnx.ValueInfoProto | None) -> Any:
    if info is not None and info.type.HasField("sequence_type"):
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(path.read_bytes())
        return numpy_helper.to_list(sequence)
    if info is not None and info.type.HasField("optional_type"):
        optional = onnx.OptionalProto()
        optional.ParseFromString(path.read_bytes())
        return numpy_helper.to_optional(optional)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def on_host(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [on_host(each) for each in x]
    return None if x is None else np.asarray(x)


def run_here(case: Case) -> Iterator[tuple[Any, Any]]:
    """What the model gives beside what it should, output by output."""
    model = aio.onnx.load_sync(case.model)
    for inputs, outputs in case.data:
        try:
            results = as_tuple(model(*inputs))
        except aio.errors.TracedValueError:
            results = as_tuple(model.run_sync(*inputs))
        yield from zip(map(on_host, results), outputs, strict=True)


def run_onnxruntime(case: Case) -> Iterator[tuple[Any, Any]]:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
    for inputs, outputs in case.data:
        names = [each.name for each in session.get_inputs()]
        results = session.run(None, dict(zip(names, inputs, strict=False)))
        yield from zip(results, outputs, strict=True)


def check(found: Any, expected: Any, case: Case) -> None:
    """``AssertionError`` unless the two are equal within the test's tolerance, and of one dtype and shape."""
    if isinstance(expected, (list, tuple)):
        assert isinstance(found, (list, tuple)), f"{type(found).__name__} instead of a sequence"
        assert len(found) == len(expected), f"{len(found)} elements instead of {len(expected)}"
        for one, other in zip(found, expected, strict=True):
            check(one, other, case)
        return
    if expected is None:
        assert found is None
        return
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype, f"dtype {found.dtype} instead of {expected.dtype}"
    assert found.shape == expected.shape, f"shape {found.shape} instead of {expected.shape}"
    rtol = case.rtol
    if expected.dtype.itemsize <= 2 and expected.dtype.kind not in "biuO":
        # Two roundings to a short dtype are more than the tests allow, where XLA keeps more digits in between.
        if expected.dtype.name in ("float16", "bfloat16"):
            rtol = max(rtol, 2 * float(aio.finfo(expected.dtype).eps))
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    if expected.dtype.kind == "O":
        assert found.tolist() == expected.tolist()
        return
    atol = case.atol
    if expected.size and expected.dtype.kind in "fc":
        # What should be zero is the rounding of the largest terms.
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=0)
        atol = max(atol, 4 * float(largest) * float(np.finfo(expected.dtype).eps))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def outcome(case: Case, runner: Any = run_here) -> str:
    """ "" if the test passes, otherwise what is wrong."""
    try:
        for found, expected in runner(case):
            check(found, expected, case)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.onnx.conformance", description=__doc__)
    parser.add_argument("patterns", nargs="*", help="patterns of the names of tests; all of them without")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--onnxruntime", action="store_true", help="the same list in onnxruntime")
    parser.add_argument("--quiet", action="store_true", help="do not print each failure")
    options = parser.parse_args()
    if options.onnxruntime and importlib.util.find_spec("onnxruntime") is None:
        parser.error("onnxruntime is not installed")
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    start = time.perf_counter()
    for case in cases(tuple(options.kind or KINDS), tuple(options.patterns)):
        count = counts[case.kind, case.domain]
        if case.excluded is not None:
            count["excluded"] += 1
            reasons[case.excluded] += 1
            continue
        wrong = outcome(case)
        count["failed" if wrong else "passed"] += 1
        if wrong and not options.quiet:
            print(f"FAILED {case.name}: {wrong[:400]}".replace("\n", " "), flush=True)
        if options.onnxruntime:
            count["onnxruntime passed" if not outcome(case, run_onnxruntime) else "onnxruntime failed"] += 1
    print(f"{'kind':18} {'domain':28} passed failed excluded" + ("  onnxruntime" if options.onnxruntime else ""))
    for (kind, domain), count in sorted(counts.items()):
        line = f"{kind:18} {domain:28} {count['passed']:6} {count['failed']:6} {count['excluded']:8}"
        if options.onnxruntime:
            line += f"  {count['onnxruntime passed']} passed, {count['onnxruntime failed']} failed"
        print(line)
    for reason, number in reasons.most_common():
        print(f"excluded {number:4}: {reason}")
    print(f"{time.perf_counter() - start:.0f} s")
    return int(any(count["failed"] for count in counts.values()))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    sys.exit(main())
