"""Retention and replacement: tables perturbed attribute by attribute, and what they were before."""
