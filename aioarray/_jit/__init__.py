"""``jit``: Python functions of trees of Arrays, traced once for each shape and run as one program.

=============  ================================================================================
``function``   `jit`: the compiled function, and what a call of it does
``signature``  which arguments are static or donated, and what arguments are called in messages
``tracing``    from a Python function to a graph
``entries``    what is kept for each combination of argument specs and static arguments
``donation``   arguments whose memory goes to the results
``objects``    what a method sees of its object
``regions``    functions as the bodies of branches and loops
``shapes``     `ShapeDtype`: what a function is traced with when there is no value
``ahead``      programs lowered and compiled before they are called
``warmup``     many of them at once
``budget``     `compile_budget`: how many there may be
=============  ================================================================================
"""

from .budget import compile_budget
from .eval_shape import eval_shape
from .function import JitFunction, jit
from .shapes import ShapeDtype
from .warmup import warmup

__all__ = ["JitFunction", "ShapeDtype", "compile_budget", "eval_shape", "jit", "warmup"]
