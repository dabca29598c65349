"""The arithmetic: pure functions on arrays; no kernel knows methods, files or engines."""

from pathlib import Path

from noren.kernels.caching import keep_compiled

keep_compiled(Path(__file__).parent / "__pycache__")
