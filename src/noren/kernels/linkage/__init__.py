"""Whose pseudonym it is: likeness of histories, and one pseudonym each."""
