"""The window: the web workbench where a steward protects, attacks and judges data.

::

    store.py      projects and jobs in one small database (SQLite, or PostgreSQL)
    folders.py    where the files of a project lie; the only module that makes paths out of identifiers
    jobs.py       durable background work: one process for each job, progress, cancel, "stop and keep the best"
    worker.py     that process; work/ holds what it does, and what is kept of it
    service.py    what a person can do, the same for pages and API
    forms/        what a person fills in: parameters, columns, a run; and every problem with it
    hierarchies.py  what methods read beside the data: made at first, replaced by uploads
    api/          the REST interface;  pages/  the HTML pages;  templates/, static/  how they look
    app.py        all of it put together, behind the guard of :mod:`noren.web`

The server process itself does no heavy work, so that pages answer at once while jobs run. Workers store numbers and
facts; sentences are made when a page is shown, in the language of whoever looks at it.
"""
