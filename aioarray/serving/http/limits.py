"""What a server takes from its clients, and how long it waits: one value that every part of it reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes and times in seconds; ``ValueError`` for one that makes no sense."""

    max_body: int = 64 << 20
    max_json: int = 8 << 20
    max_concurrency: int = 1024
    max_bytes: int = 512 << 20
    timeout: float | None = 30.0  # of requests that ask for none or for more
    lag_limit: float = 1.0  # the event loop may be held up so long before that is logged
    stuck_after: float = 300.0  # a batch may run so long before the server counts as dead

    def __post_init__(self) -> None:
        for option in ("max_body", "max_json", "max_concurrency", "max_bytes"):
            if getattr(self, option) < 1:
                raise ValueError(f"create_app: {option} is {getattr(self, option)}; it must be at least 1")
        for option in ("timeout", "lag_limit", "stuck_after"):
            seconds = getattr(self, option)
            if seconds is not None and not seconds > 0:
                raise ValueError(f"create_app: {option} is {seconds}; it must be above 0")

    def time_for(self, asked: float | None) -> float | None:
        """How many seconds a request may take."""
        if asked is None or self.timeout is None:
            return self.timeout if asked is None else asked
        return min(asked, self.timeout)
