"""Measures of usefulness."""
