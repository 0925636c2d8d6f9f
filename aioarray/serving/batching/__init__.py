"""Requests of many tasks in few calls of a model. Knows nothing of HTTP: it is what one's own server is built on."""
