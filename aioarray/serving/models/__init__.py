"""Models as clients know them, by name and version, and those that ``aioarray serve`` knows by name."""
