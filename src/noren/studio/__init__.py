"""The window: the web workbench where a steward protects, attacks and judges data.

::

    settings.py   where the data folder is, who may connect, how large an upload may be
    store.py      projects and jobs in one small database (SQLite, or PostgreSQL)
    folders.py    where the files of a project lie; the only module that makes paths out of identifiers
    jobs.py       durable background work: one process for each job, progress, cancel, "stop and keep the best"
    worker.py     that process; work/ holds one module for each kind of work
    service.py    what a person can do, the same for pages and API
    columns.py    what a person says of columns, and every problem with it;  column_form.py  the form for it
    hierarchies.py, small_files.py   what methods read beside the data: made at first, replaced by uploads
    guard.py      who may ask: Host, Origin, CSRF tokens, login, response headers
    api/          the REST interface;  pages/  the HTML pages;  templates/, static/  how they look
    app.py        all of it put together

The server process itself does no heavy work, so that pages answer at once while jobs run. Workers store numbers and
facts; sentences are made when a page is shown, in the language of whoever looks at it.
"""
