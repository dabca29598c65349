"""Perturbation, and what the table was before it."""
