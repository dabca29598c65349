"""What people do in a studio, each declared once with its role and its parameters (:mod:`noren.web.actions`).

Every function takes the studio. The REST interface follows from the signatures, and the forms of pages call the same
functions.
"""
