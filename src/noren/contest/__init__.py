"""The contest server (arena): teams protect data and attack each other's releases.

A contest is its log (:mod:`~noren.work.hash_chain`): append-only, each entry holding the digest of the one before it.
What is shown of it, from the teams to the final ranking, is a fold of that log (:mod:`~noren.contest.state`); what may
be done next is decided from the fold (:mod:`~noren.contest.actions`); scores are made of files by pure functions
(:mod:`~noren.contest.judging`). So anyone who has the log and the files can replay every score, table and rank.
"""
