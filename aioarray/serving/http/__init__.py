"""The inference server as an application: what is answered at which address, and what every request passes first."""
