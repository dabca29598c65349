"""The version, in one place."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("noren")
