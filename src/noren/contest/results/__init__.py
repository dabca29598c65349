"""The results of a contest: tables like those of S0, the attack matrix, how firm ranks are; as pages, CSV and JSON.

All follows from the log after the lots are revealed, so that a replay makes the same results, and their digest stands
in the log.
"""
