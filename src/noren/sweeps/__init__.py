"""Sweeps over many settings: plans, pieces of work, results, studies."""
