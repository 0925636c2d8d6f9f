"""Programs from elsewhere whose shapes depend on the lengths of their arguments."""

from __future__ import annotations

from typing import Final

from .bindings import _jax

# After a module's name: that there are lengths in it which are not known, but follow from those of main's arguments.
DYNAMIC: Final = " attributes {jax.uses_shape_polymorphism = true}"


def refine(text: bytes) -> bytes:
    """The module with all shapes known, and its assertions about them checked. Raises a ForeignError if they fail."""
    return bytes(_jax.mlir.refine_polymorphic_shapes(text))
