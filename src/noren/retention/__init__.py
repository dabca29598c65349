"""Retention–replacement: perturbation of tables attribute by attribute, and their reconstruction."""
