"""Trees: they come apart and together, and their structures are keys."""

from __future__ import annotations

import dataclasses
from collections import namedtuple

import pytest

from aioarray._xla import tree
from tests._xla.programs import run_python

Point = namedtuple("Point", ["x", "y"])


@pytest.mark.parametrize(
    ("value", "leaves"),
    [
        (None, []),
        (1, [1]),
        ("text", ["text"]),
        ((1, [2, None], {"b": 4, "a": 3}), [1, 2, 3, 4]),
        (Point(1, (2, 3)), [1, 2, 3]),
        ({}, []),
        ((), []),
        ([[[]]], []),
    ],
)
def test_trees_come_apart_and_together(value, leaves) -> None:
    flat, structure = tree.flatten(value)
    assert flat == leaves
    again = tree.unflatten(structure, flat)
    assert again == value
    assert type(again) is type(value)


def test_structures_are_keys() -> None:
    structures = [tree.flatten(value)[1] for value in ((1, 2), (3, 4), [1, 2], {"a": 1}, {"b": 1}, Point(1, 2))]
    assert structures[0] == structures[1]
    assert hash(structures[0]) == hash(structures[1])
    assert len(set(structures)) == 5


def test_the_number_of_leaves_must_be_right() -> None:
    structure = tree.flatten((1, 2))[1]
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="leaves"):
            tree.unflatten(structure, leaves)


def test_dict_keys_must_be_comparable() -> None:
    with pytest.raises(ValueError, match="Comparator raised exception"):
        tree.flatten({1: 0, "a": 0})


def test_a_class_can_be_registered_once() -> None:
    class Pair:
        def __init__(self, left: object, right: object) -> None:
            self.left, self.right = left, right

    assert len(tree.flatten(Pair(1, 2))[0]) == 1
    tree.register_node(Pair, lambda p: ((p.left, p.right), "aux"), lambda aux, children: Pair(*children))
    leaves, structure = tree.flatten([Pair(1, (2, 3))])
    assert leaves == [1, 2, 3]
    [pair] = tree.unflatten(structure, [4, 5, 6])
    assert (pair.left, pair.right) == (4, (5, 6))
    with pytest.raises(ValueError, match=r"already registered|Duplicate"):
        tree.register_node(Pair, lambda p: ((), None), lambda aux, children: Pair(1, 2))


def test_a_dataclass_can_have_static_fields() -> None:
    @dataclasses.dataclass
    class Layer:
        weight: object
        bias: object
        activation: str = "relu"

    tree.register_dataclass(Layer, ["weight", "bias"], ["activation"])
    leaves, structure = tree.flatten(Layer(1, {"b": 2}, "gelu"))
    assert leaves == [1, 2]
    assert tree.unflatten(structure, [3, 4]) == Layer(3, {"b": 4}, "gelu")
    assert structure != tree.flatten(Layer(1, {"b": 2}, "relu"))[1]


def test_the_registry_is_one_and_not_that_of_jax() -> None:
    assert tree.registry() is tree.registry()
    run_python(
        "from jaxlib import _jax\n"
        "from aioarray._xla import tree\n"
        "class Box: pass\n"
        "tree.register_node(Box, lambda b: ((1,), None), lambda aux, children: Box())\n"
        "box = Box()\n"
        "assert tree.flatten(box)[0] == [1]\n"
        "assert _jax.pytree.default_registry().flatten(box)[0] == [box]\n"
    )
