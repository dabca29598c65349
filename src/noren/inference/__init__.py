"""Inference: what a release tells of a person without naming anybody. Is he in the data, and what was not known of him?

Every answer stands beside the same answer about a control group, people who are not in the data: what can be told of
them too is no leak of theirs. Beside it: how much knowledge singles people out, of the data (``identifiers``), of a
history (``unicity``) and of the population that a table was drawn from (``population``).
"""
