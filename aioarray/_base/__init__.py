"""What needs neither jaxlib nor the engine: dtypes, settings, errors, host values."""
