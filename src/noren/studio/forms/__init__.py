"""What a person fills in: parameters, columns, a run; and what is wrong with it."""
