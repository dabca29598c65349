"""Units of work with stored results, and a queue of jobs.

*Pieces*: a :class:`~noren.work.store.WorkUnit` is a function and its arguments; a :class:`~noren.work.store.PieceStore`
stores its result under its address; :func:`~noren.work.workers.run_units` runs those without a result, on all cores.
The papers' tables (``reproduce``) and sweeps over a steward's own data (``sweeps``) are made of them.

*Jobs*: a :class:`~noren.work.queue.Queue` in a database, which processes and machines share; a
:class:`~noren.work.runner.Runner` does what is in it, in processes of their own (:mod:`~noren.work.child_processes`).
"""
