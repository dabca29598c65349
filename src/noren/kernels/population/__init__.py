"""How far a table tells people apart: in itself, and in the population it was drawn from."""
