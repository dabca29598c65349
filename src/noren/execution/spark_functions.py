"""Spark's functions, imported when they are used: plans are listed and chosen where Spark is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["StorageLevel", "Window", "f"]

if TYPE_CHECKING:
    from pyspark import StorageLevel
    from pyspark.sql import Window
    from pyspark.sql import functions as f
else:

    class _Later:
        """A module, or something in it, that is imported when somebody asks for one of its parts."""

        def __init__(self, module: str, name: str = "") -> None:
            self._place = module, name

        def __getattr__(self, attribute: str) -> Any:
            if attribute.startswith("_"):
                raise AttributeError(attribute)
            module, name = self._place
            imported = import_module(module)
            return getattr(getattr(imported, name) if name else imported, attribute)

    f = _Later("pyspark.sql.functions")
    StorageLevel, Window = _Later("pyspark", "StorageLevel"), _Later("pyspark.sql", "Window")
