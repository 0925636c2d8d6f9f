"""From the arguments of a call to what the engine takes."""
