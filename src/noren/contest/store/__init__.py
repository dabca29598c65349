"""Storage of the arena: logs, accounts and the queue in a database, files under their digests.

The database (:class:`~noren.contest.store.database.ContestStore`) is SQLite or PostgreSQL; files
(:class:`~noren.contest.store.files.Files`) are in a folder or at any fsspec address. Submitted files and salts, which
are secret before the results, are encrypted with a key outside both (:mod:`~noren.contest.store.encryption`).
"""
