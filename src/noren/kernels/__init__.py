"""The arithmetic: pure functions on arrays; no kernel knows methods, files or engines."""
