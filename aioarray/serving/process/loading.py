"""The models that the settings name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from ..models.resolve import ModelOptions, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models.model import Model
    from .settings import ModelChoice, ModelSettings

# What is wrong with what was named, and no fault of the library.
ERRORS_OF_MODELS: Final = (ValueError, TypeError, ImportError, AttributeError, OSError)
# Options of batchers, where they are given.
OF_BATCHERS: Final = ("max_delay", "max_queue", "max_wait")


async def load_models(choices: Sequence[ModelChoice]) -> list[Model]:
    """All of them, one after another. Raises ``ERRORS_OF_MODELS``; ``ValueError`` where two have one name."""
    models = [model for choice in choices for model in await resolve(choice.model, _options(choice.settings))]
    names = Counter((model.name, model.version) for model in models)
    for (name, version), count in names.items():
        if count > 1:
            raise ValueError(f"{count} models are called {name}, version {version}; give each a name of its own")
    return models


def _options(settings: ModelSettings) -> ModelOptions:
    given = {name: getattr(settings, name) for name in OF_BATCHERS}
    batcher = {name: value for name, value in given.items() if value is not None}
    return ModelOptions(settings.input, settings.buckets, batcher)
