"""``jit``: Python functions of trees of Arrays, traced once for each shape and run as one program.

=============  ================================================================================
``function``   `jit`: the compiled function, and what a call of it does
``signature``  which parameters are static, donated or padded, and what arguments are called
``arguments``  the arguments of a call, taken apart
``tracing``    from a Python function to a graph
``programs``   the programs of a function: found, built, run
``buckets``    arguments padded to a few sizes
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
