"""One HTML page that needs nothing else: the timeline, totals, and the critical path of each await."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._summary import summary

if TYPE_CHECKING:
    from ._timeline import Timeline

_TEMPLATE = Path(__file__).with_name("timeline.html")
_MARK = "/*DATA*/null"


def page(timeline: Timeline) -> str:
    """``timeline`` as a page."""
    template = _TEMPLATE.read_text(encoding="utf-8")
    assert template.count(_MARK) == 1
    # In a script element, "</" would end it, and "<!--" begin what it is not.
    return template.replace(_MARK, json.dumps(data(timeline), allow_nan=False).replace("<", "\\u003c"))


def data(timeline: Timeline) -> dict[str, Any]:
    """What the page's script reads: times in milliseconds, texts by number."""
    texts: dict[str, int] = {}

    def text(value: str | None) -> int:
        return -1 if value is None else texts.setdefault(value, len(texts))

    def time(seconds: float) -> float:
        return round(seconds * 1e3, 4)

    return {
        "milliseconds": time(timeline.seconds),
        "summary": summary(timeline),
        "launches": [
            [
                text(x.name),
                text(x.location),
                text(x.thread),
                text(x.state),
                text(x.error),
                time(x.enqueued),
                -1 if x.row is None else x.row,
                [[text(p.kind), time(p.begun), time(p.ended)] for p in x.phases],
                list(x.parents),
                None if x.awaited is None else time(x.awaited),
            ]
            for x in timeline.launches
        ],
        "awaits": [
            [
                text(x.kind),
                text(x.name),
                x.launch,
                text(x.location),
                time(x.begun),
                time(x.ended),
                int(x.cancelled),
                [[text(s.kind), text(s.name), s.launch, time(s.begun), time(s.ended)] for s in x.path],
            ]
            for x in timeline.awaits
        ],
        "compiles": [
            [text(x.name), text(x.location), text(x.outcome), time(x.submitted), time(x.begun), time(x.ended), x.row]
            for x in timeline.compiles
        ],
        "copies": [
            [text(x.name), text(x.value), x.nbytes, text(x.location), time(x.begun), time(x.ended)]
            for x in timeline.copies
        ],
        "lags": [[text(x.loop), text(x.location), time(x.begun), time(x.ended)] for x in timeline.lags],
        "loops": [text(name) for name in timeline.loops],
        "reads": [[time(when), text(what), text(where)] for when, what, where in timeline.sync_reads],
        "texts": list(texts),  # last: by now all are known
    }
