"""What the arena keeps: logs, accounts and the queue in a database, files beside it under their digests.

The database (:class:`~noren.contest.store.database.ContestStore`) is SQLite or PostgreSQL; files
(:class:`~noren.contest.store.files.Files`) lie in a folder or at any address that fsspec knows. What nobody may read
before the results, submitted files and salts, is encrypted with a key outside both
(:mod:`~noren.contest.store.encryption`).
"""
