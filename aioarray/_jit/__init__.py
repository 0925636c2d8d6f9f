"""``jit``: Python functions of trees of Arrays, traced once for each shape and run as one program.

=============  ================================================================
``shapes``     `ShapeDtype`: what a function is traced with when there is no value
``signature``  which arguments are static or donated, and what arguments are called
``tracing``    from a Python function to a graph
``function``   `jit`: the compiled function, and what a call of it does
=============  ================================================================
"""

from .function import JitFunction, jit
from .shapes import ShapeDtype

__all__ = ["JitFunction", "ShapeDtype", "jit"]
