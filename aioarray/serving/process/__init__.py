"""``aioarray serve`` as a process, or several: sockets, signals, workers."""
