"""Where the time goes: recordings of launches, compiles, copies, awaits and the loop's lag, and pictures of them."""

from __future__ import annotations

from ._explain import explain
from ._profile import Profile, profile
from ._timeline import Await, Compile, Copy, Lag, Launch, Phase, Step, Timeline

__all__ = [
    "Await",
    "Compile",
    "Copy",
    "Lag",
    "Launch",
    "Phase",
    "Profile",
    "Step",
    "Timeline",
    "explain",
    "profile",
]
