"""Trees: they come apart and together, and their structures are keys."""

from __future__ import annotations

import dataclasses
from collections import namedtuple

import pytest

from aioarray._xla import trees
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
    flat, structure = trees.flatten(value)
    assert flat == leaves
    again = structure.unflatten(flat)
    assert again == value
    assert type(again) is type(value)


def test_structures_are_keys() -> None:
    structures = [trees.flatten(value)[1] for value in ((1, 2), (3, 4), [1, 2], {"a": 1}, {"b": 1}, Point(1, 2))]
    assert structures[0] == structures[1]
    assert hash(structures[0]) == hash(structures[1])
    assert len(set(structures)) == 5


def test_the_number_of_leaves_must_be_right() -> None:
    structure = trees.flatten((1, 2))[1]
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="leaves"):
            structure.unflatten(leaves)


def test_dict_keys_must_be_comparable() -> None:
    with pytest.raises(ValueError, match="Comparator raised exception"):
        trees.flatten({1: 0, "a": 0})


def test_a_class_can_be_registered_once() -> None:
    class Pair:
        def __init__(self, left: object, right: object) -> None:
            self.left, self.right = left, right

    assert len(trees.flatten(Pair(1, 2))[0]) == 1
    trees.register_tree_node(Pair, lambda p: ((p.left, p.right), "aux"), lambda aux, children: Pair(*children))
    leaves, structure = trees.flatten([Pair(1, (2, 3))])
    assert leaves == [1, 2, 3]
    [pair] = structure.unflatten([4, 5, 6])
    assert (pair.left, pair.right) == (4, (5, 6))
    with pytest.raises(ValueError, match=r"already registered|Duplicate"):
        trees.register_tree_node(Pair, lambda p: ((), None), lambda aux, children: Pair(1, 2))


def test_a_dataclass_is_a_node_once_it_was_met() -> None:
    @dataclasses.dataclass
    class Layer:
        weight: object
        bias: object = None
        shape: tuple[int, ...] = dataclasses.field(default=(1, 2), init=False)

    layer = Layer(1, {"b": 2})
    assert trees.flattener()(layer)[0] == [layer]
    leaves, structure = trees.flatten([layer])
    assert leaves == [1, 2]
    assert structure.unflatten([3, 4]) == [Layer(3, {"b": 4})]
    assert trees.flattener()(layer)[0] == [1, 2]


@pytest.mark.parametrize(
    ("tree", "texts"),
    [([1, {"a": (2, 3)}], ["[0]", "[1]['a'][0]", "[1]['a'][1]"]), (Point(1, [2]), [".x", ".y[0]"]), (1, [""])],
)
def test_paths_are_written_as_python_would(tree, texts) -> None:
    assert list(map(trees.path_text, trees.paths(tree))) == texts


def test_the_registry_is_not_that_of_jax() -> None:
    run_python(
        "from jaxlib import _jax\n"
        "from aioarray._xla import trees\n"
        "class Box: pass\n"
        "trees.register_tree_node(Box, lambda b: ((1,), None), lambda aux, children: Box())\n"
        "box = Box()\n"
        "assert trees.flatten(box)[0] == [1]\n"
        "assert _jax.pytree.default_registry().flatten(box)[0] == [box]\n"
    )
