"""Models that ``aioarray serve`` knows by name."""
