"""Pieces of work, each done once: run on all cores, kept by what they are, found again after a kill.

A :class:`~noren.units.unit.Unit` is a function and its arguments; a :class:`~noren.units.store.Store` keeps what it
returned under its address; :func:`~noren.units.workers.run_units` runs those that are not kept yet. The papers' tables
(``reproduce``) and sweeps over a steward's own data (``study``) are made of them.
"""
