"""Recurrent networks: ``RNN``, ``GRU`` and ``LSTM``, one ``lax.scan`` for each direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import aioarray as aio
from aioarray import lax, nn

from .._registry import operator
from .._values import Tensor, as_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._evaluate import Call

# Activation -> the function, and its factors where none are given.
_ACTIVATIONS: dict[str, tuple[Callable[[Tensor, float, float], Tensor], float, float]] = {
    "relu": (lambda x, a, b: nn.relu(x), 0, 0),
    "tanh": (lambda x, a, b: aio.tanh(x), 0, 0),
    "sigmoid": (lambda x, a, b: nn.sigmoid(x), 0, 0),
    "affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "leakyrelu": (lambda x, a, b: aio.where(x < 0, a * x, x), 0.01, 0),
    "thresholdedrelu": (lambda x, a, b: aio.where(x > a, x, 0), 1.0, 0),
    "scaledtanh": (lambda x, a, b: a * aio.tanh(b * x), 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b: aio.clip(a * x + b, 0, 1), 0.2, 0.5),
    "elu": (lambda x, a, b: nn.elu(x, alpha=a), 1.0, 0),
    "softsign": (lambda x, a, b: x / (1 + aio.abs(x)), 0, 0),
    "softplus": (lambda x, a, b: nn.softplus(x), 0, 0),
}
_WITH_ALPHA = {"affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu"}
_WITH_BETA = {"affine", "scaledtanh", "hardsigmoid"}


def _activations(call: Call, default: tuple[str, ...], directions: int) -> list[list[Callable[[Tensor], Tensor]]]:
    names = call.items("activations", default * directions)
    if len(names) != len(default) * directions:
        raise call.error(f"has {len(names)} entries; it takes {len(default) * directions}", "activations")
    alphas, betas = iter(call.items("activation_alpha", ())), iter(call.items("activation_beta", ()))
    found: list[Callable[[Tensor], Tensor]] = []
    for name in names:
        key = name.lower()
        if key not in _ACTIVATIONS:
            raise call.error(f"has {name!r}; aioarray has {', '.join(_ACTIVATIONS)}", "activations")
        function, alpha, beta = _ACTIVATIONS[key]
        alpha = next(alphas, alpha) if key in _WITH_ALPHA else alpha
        beta = next(betas, beta) if key in _WITH_BETA else beta
        found.append(lambda x, function=function, alpha=alpha, beta=beta: function(x, alpha, beta))  # type: ignore[misc]
    each = len(default)
    return [found[k * each : (k + 1) * each] for k in range(directions)]


class _Sequence:
    """What the three have in common: the layout, the directions, the lengths, and the loop."""

    def __init__(self, call: Call, x: Tensor, weights: Tensor, lengths: Tensor) -> None:
        self.call = call
        self.batch_first = bool(call.integer("layout", 0))
        self.x = aio.swapaxes(as_array(x), 0, 1) if self.batch_first else as_array(x)
        direction = call.text("direction", "forward")
        if direction not in ("forward", "reverse", "bidirectional"):
            raise call.error(f"is {direction!r}; it takes forward, reverse or bidirectional", "direction")
        self.directions = 2 if direction == "bidirectional" else 1
        if weights.shape[0] != self.directions:
            raise ValueError(f"weights for {weights.shape[0]} directions, but it is {direction}")
        self.backwards = [direction == "reverse", True]
        self.steps, self.batch = self.x.shape[:2]
        self.size = weights.shape[1]
        self.lengths = lengths
        self.limit = call.get("clip")

    def clipped(self, x: Tensor) -> Tensor:
        return x if self.limit is None else aio.clip(x, -self.limit, self.limit)

    def start(self, initial: Tensor, hidden: int) -> Tensor:
        """The state to begin with: (directions, batch, hidden)."""
        if initial is None:
            return aio.zeros((self.directions, self.batch, hidden), dtype=self.x.dtype)
        return aio.swapaxes(as_array(initial), 0, 1) if self.batch_first else as_array(initial)

    def reversed(self, x: Tensor) -> Tensor:
        """``x`` from the end of each sequence on."""
        if self.lengths is None:
            return aio.flip(x, axis=0)
        steps = np.arange(self.steps, dtype=np.int32)[:, None]
        counts = aio.astype(as_array(self.lengths), np.int32)
        places = aio.where(steps < counts, counts - 1 - steps, steps)
        return aio.take_along_axis(x, aio.broadcast_to(places[..., None], x.shape), axis=0)

    def run(
        self,
        number: int,
        state: tuple[Tensor, ...],
        step: Callable[[tuple[Tensor, ...], Tensor], tuple[Tensor, ...]],
        gates: Tensor,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The outputs of all steps, and the last state. ``gates`` is what the inputs give, for all steps at once."""
        backwards = self.backwards[number]
        sequence = self.reversed(gates) if backwards else gates
        counts = None if self.lengths is None else aio.astype(as_array(self.lengths), np.int32)[:, None]

        def turn(carry: Any, slices: Any) -> Any:
            index, row = slices
            after = step(carry, row)
            output = after[0]
            if counts is not None:
                live = index < counts
                after = tuple(aio.where(live, new, old) for new, old in zip(after, carry, strict=True))
                output = aio.where(live, output, 0)
            return after, output

        last, outputs = lax.scan(turn, state, (aio.arange(self.steps, dtype=np.int32), sequence))
        return (self.reversed(outputs) if backwards else outputs), last

    def results(self, outputs: list[Tensor], states: list[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        """All outputs, and the last states, in the layout that the node has."""
        whole = aio.stack(outputs, axis=1)  # (steps, directions, batch, hidden)
        last = [aio.stack(column) for column in zip(*states, strict=True)]
        if self.batch_first:
            return aio.permute_dims(whole, (2, 0, 1, 3)), *[aio.swapaxes(x, 0, 1) for x in last]
        return whole, *last


def _biases(bias: Tensor, number: int, count: int, hidden: int, dtype: Any) -> tuple[Tensor, Tensor]:
    """Those of the inputs and of the state: (gates * hidden) each."""
    if bias is None:
        zero = np.zeros(count * hidden, dtype)
        return zero, zero
    return bias[number, : count * hidden], bias[number, count * hidden :]


def _transposed(x: Tensor) -> Tensor:
    return aio.permute_dims(as_array(x), (1, 0))


@operator("RNN", since=7)
def rnn(
    call: Call,
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Tensor = None,
    lengths: Tensor = None,
    initial: Tensor = None,
) -> tuple[Tensor, ...]:
    sequence = _Sequence(call, x, weights, lengths)
    hidden = recurrence.shape[-1]
    functions = _activations(call, ("Tanh",), sequence.directions)
    start = sequence.start(initial, hidden)
    outputs, states = [], []
    for number in range(sequence.directions):
        (f,) = functions[number]
        ours, theirs = _biases(bias, number, 1, hidden, sequence.x.dtype)
        gates = aio.matmul(sequence.x, _transposed(weights[number])) + (ours + theirs)
        kernel = _transposed(recurrence[number])

        def step(state: Any, row: Any, f: Any = f, kernel: Any = kernel) -> Any:
            return (f(sequence.clipped(row + aio.matmul(state[0], kernel))),)

        output, last = sequence.run(number, (start[number],), step, gates)
        outputs.append(output)
        states.append(last)
    return sequence.results(outputs, states)


@operator("GRU", since=7)
def gru(
    call: Call,
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Tensor = None,
    lengths: Tensor = None,
    initial: Tensor = None,
) -> tuple[Tensor, ...]:
    """The gates are in the order update, reset, hidden."""
    sequence = _Sequence(call, x, weights, lengths)
    hidden = recurrence.shape[-1]
    functions = _activations(call, ("Sigmoid", "Tanh"), sequence.directions)
    start = sequence.start(initial, hidden)
    before = call.integer("linear_before_reset", 0)
    outputs, states = [], []
    for number in range(sequence.directions):
        f, g = functions[number]
        ours, theirs = _biases(bias, number, 3, hidden, sequence.x.dtype)
        gates = aio.matmul(sequence.x, _transposed(weights[number])) + ours
        kernel = _transposed(recurrence[number])
        two, third = kernel[:, : 2 * hidden], kernel[:, 2 * hidden :]

        def step(
            state: Any, row: Any, f: Any = f, g: Any = g, two: Any = two, third: Any = third, theirs: Any = theirs
        ) -> Any:
            (old,) = state
            both = f(sequence.clipped(row[:, : 2 * hidden] + aio.matmul(old, two) + theirs[: 2 * hidden]))
            update, reset = both[:, :hidden], both[:, hidden:]
            bias = theirs[2 * hidden :]
            if before:
                inner = row[:, 2 * hidden :] + reset * (aio.matmul(old, third) + bias)
            else:
                inner = row[:, 2 * hidden :] + aio.matmul(reset * old, third) + bias
            return ((1 - update) * g(sequence.clipped(inner)) + update * old,)

        output, last = sequence.run(number, (start[number],), step, gates)
        outputs.append(output)
        states.append(last)
    return sequence.results(outputs, states)


@operator("LSTM", since=7)
def lstm(
    call: Call,
    x: Tensor,
    weights: Tensor,
    recurrence: Tensor,
    bias: Tensor = None,
    lengths: Tensor = None,
    initial: Tensor = None,
    initial_cell: Tensor = None,
    peepholes: Tensor = None,
) -> tuple[Tensor, ...]:
    """The gates are in the order input, output, forget, cell; the peepholes in the order input, output, forget."""
    sequence = _Sequence(call, x, weights, lengths)
    hidden = recurrence.shape[-1]
    functions = _activations(call, ("Sigmoid", "Tanh", "Tanh"), sequence.directions)
    start, cells = sequence.start(initial, hidden), sequence.start(initial_cell, hidden)
    coupled = call.integer("input_forget", 0)
    outputs, states = [], []
    for number in range(sequence.directions):
        f, g, h = functions[number]
        ours, theirs = _biases(bias, number, 4, hidden, sequence.x.dtype)
        gates = aio.matmul(sequence.x, _transposed(weights[number])) + (ours + theirs)
        kernel = _transposed(recurrence[number])
        peeps = None if peepholes is None else [peepholes[number, k * hidden : (k + 1) * hidden] for k in range(3)]

        def step(state: Any, row: Any, f: Any = f, g: Any = g, h: Any = h, kernel: Any = kernel, p: Any = peeps) -> Any:
            old, cell = state
            row = row + aio.matmul(old, kernel)
            i, o, forget, c = (row[:, k * hidden : (k + 1) * hidden] for k in range(4))
            if p is not None:
                i, forget = i + p[0] * cell, forget + p[2] * cell
            i = f(sequence.clipped(i))
            forget = 1 - i if coupled else f(sequence.clipped(forget))
            new = forget * cell + i * g(sequence.clipped(c))
            if p is not None:
                o = o + p[1] * new
            return f(sequence.clipped(o)) * h(new), new

        output, last = sequence.run(number, (start[number], cells[number]), step, gates)
        outputs.append(output)
        states.append(last)
    return sequence.results(outputs, states)
