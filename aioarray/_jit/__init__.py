"""``jit``: Python functions of trees of Arrays, traced once for each shape and run as one program.

=============  ================================================================================
``function``   `jit`: the compiled function, and what a call of it does
``signature``  which arguments are static or donated, and what arguments are called in messages
``tracing``    from a Python function to a graph
``entries``    what is kept for each combination of argument specs and static arguments
``donation``   arguments whose memory goes to the results
``objects``    what a method sees of its object
``shapes``     `ShapeDtype`: what a function is traced with when there is no value
=============  ================================================================================
"""

from .function import JitFunction, jit
from .shapes import ShapeDtype

__all__ = ["JitFunction", "ShapeDtype", "jit"]
