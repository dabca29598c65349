"""S0: the report of PWS Cup 2018, on generalised purchase histories."""
