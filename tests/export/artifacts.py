"""The files in ``data``, and the arguments and results that JAX gave for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aioarray import io

DATA = Path(__file__).parent / "data"
# Under data/newer there are files of a jax whose StableHLO is too new for the oldest jaxlib that is supported.
NAMES = sorted(path.stem for path in DATA.glob("*.jax"))


def sets(name: str) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """(leaves of the arguments, leaves of the results), several times."""
    with io.open_safetensors(DATA / f"{name}.safetensors") as reader:
        values = {key: np.asarray(reader[key]) for key in reader}
        count = int(reader.metadata["sets"])

    def leaves(prefix: str) -> list[np.ndarray]:
        return [values[f"{prefix}{i}"] for i in range(sum(key.startswith(prefix) for key in values))]

    return [(leaves(f"set{i}.in"), leaves(f"set{i}.out")) for i in range(count)]


def path(name: str) -> str:
    return str(DATA / f"{name}.jax")


def content(name: str) -> bytes:
    return (DATA / f"{name}.jax").read_bytes()


def leaves_of(tree: Any) -> list[np.ndarray]:
    """The leaves of a tree of Arrays, as host arrays, dicts by key."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves_of(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for item in tree for leaf in leaves_of(item)]
    return [np.asarray(tree)]
