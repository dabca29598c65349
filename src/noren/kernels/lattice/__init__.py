"""Columns generalised as a whole: levels, classes of alike rows, and which of them may be shown."""
