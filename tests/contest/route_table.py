"""The table of who may do what at the arena: a line for each route and whose ids it is asked about.

The columns are those of ``ROLES``; each tells the status of the answer in the phase of attacks. ``{cup}`` is
``/contests/{contest}``. Whoever may do something that needs a reason is told that it is wanting (422), and what is not
open is refused to those who might (409), so that nothing changes while the table is walked.
"""

from __future__ import annotations

from typing import NamedTuple

ROLES = (
    "visitor", "stranger", "red", "blue", "red:read", "red:team", "red:organiser", "org:read", "org:team",
    "org:organiser", "other", "org",
)  # fmt: skip
"""Nobody; an account; members of two teams; tokens of a member and of the organiser, by scope; the organiser of
another contest; the organiser."""

_REST = """
# account
GET    /account                                      -                401 200 200 200 200 200 200 200 200 200 200 200
GET    /account/tokens                               -                401 200 200 200 200 200 200 200 200 200 200 200
POST   /account/tokens                               -                401 201 201 201 403 201 403 403 201 403 201 201
POST   /accounts                                     -                422 422 422 422 422 422 422 422 422 422 422 422
POST   /clock                                        -                401 403 403 403 403 403 403 403 403 200 200 200
GET    /session                                      -                200 200 200 200 200 200 200 200 200 200 200 200
POST   /session                                      -                401 401 401 401 401 401 401 401 401 401 401 401
DELETE /account/tokens/{token}                       token=blue       401 404 404 204 403 404 404 403 404 404 404 404

# contests
GET    /contests                                     -                200 200 200 200 200 200 200 200 200 200 200 200
POST   /contests                                     -                401 403 403 403 403 403 403 403 403 422 422 422
GET    {cup}                                         -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rulebook.toml                           -                200 200 200 200 200 200 200 200 200 200 200 200

# teams
POST   {cup}/join                                    -                401 409 409 409 403 409 403 403 409 403 409 409
POST   {cup}/leave                                   -                401 409 409 409 403 409 403 403 409 403 409 409
GET    {cup}/team                                    -                401 403 200 200 200 200 403 403 403 403 403 403
POST   {cup}/team/code                               -                401 403 200 200 403 200 403 403 403 403 403 403
GET    {cup}/teams                                   -                200 200 200 200 200 200 200 200 200 200 200 200
POST   {cup}/teams                                   -                401 409 409 409 403 409 403 403 409 403 409 409

# files
PUT    {cup}/guesses/{target}                        target=red       401 403 422 201 403 422 403 403 403 403 403 403
PUT    {cup}/guesses/{target}                        target=blue      401 403 201 422 403 201 403 403 403 403 403 403
PUT    {cup}/releases                                -                401 403 409 409 403 409 403 403 403 403 403 403
GET    {cup}/rounds/{round}/data                     -                401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/rounds/{round}/targets                  -                401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/rounds/{round}/targets/{target}         target=red       401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/rounds/{round}/targets/{target}         target=blue      401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/submissions                             -                401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}                submission=red   401 403 200 404 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}                submission=blue  401 403 404 200 404 404 403 403 403 200 403 200
POST   {cup}/submissions/{submission}/choose         submission=red   401 403 409 404 403 409 403 403 403 403 403 403
POST   {cup}/submissions/{submission}/choose         submission=blue  401 403 404 409 403 404 403 403 403 403 403 403
GET    {cup}/submissions/{submission}/file           submission=red   401 403 200 404 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/file           submission=blue  401 403 404 200 404 404 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/receipt        submission=red   401 403 200 404 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/receipt        submission=blue  401 403 404 200 404 404 403 403 403 200 403 200

# outcomes
GET    {cup}/log                                     -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/results.csv                             -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/results.html                            -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/results.json                            -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/rounds/{round}/leaderboard              -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/matrix                   -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/rounds/{round}/stability                -                403 403 403 403 403 403 403 403 403 200 403 200

GET    {cup}/archive                                 -                403 403 403 403 403 403 403 403 403 409 403 409

# organising
POST   {cup}/password-resets                         -                403 403 403 403 403 403 403 403 403 404 403 404
POST   {cup}/announcements                           -                403 403 403 403 403 403 403 403 403 422 403 422
POST   {cup}/organisers                              -                403 403 403 403 403 403 403 403 403 404 403 404
GET    {cup}/flags                                   -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/hooks                                   -                403 403 403 403 403 403 403 403 403 200 403 200
POST   {cup}/hooks                                   -                403 403 403 403 403 403 403 403 403 201 403 201
POST   {cup}/invitations                             -                403 403 403 403 403 403 403 403 403 201 403 201
GET    {cup}/jobs                                    -                403 403 403 403 403 403 403 403 403 200 403 200
POST   {cup}/jobs/{job}/retry                        job=cup          403 403 403 403 403 403 403 403 403 404 403 404
POST   {cup}/pause                                   -                403 403 403 403 403 403 403 403 403 422 403 422
PUT    {cup}/phases                                  -                403 403 403 403 403 403 403 403 403 422 403 422
POST   {cup}/rescore                                 -                403 403 403 403 403 403 403 403 403 422 403 422
POST   {cup}/resume                                  -                403 403 403 403 403 403 403 403 403 409 403 409
PUT    {cup}/settings                                -                403 403 403 403 403 403 403 403 403 422 403 422
POST   {cup}/teams/{team}/disqualify                 team=red         403 403 403 403 403 403 403 403 403 422 403 422
POST   {cup}/teams/{team}/reinstate                  team=red         403 403 403 403 403 403 403 403 403 409 403 409
DELETE {cup}/hooks/{hook}                            hook=cup         403 403 403 403 403 403 403 403 403 204 403 404

# what ends sessions
PUT    /account/password                             -                401 204 204 204 403 403 403 403 403 403 204 204
DELETE /session                                      -                204 204 204 204 204 204 204 204 204 204 204 204
"""

BROWSERS = ("visitor", "stranger", "red", "blue", "other", "org")
"""Whose browsers look at pages; tokens are worth nothing there."""

_PAGES = """
GET    /                                        -                200 200 200 200 200 200
GET    /about                                   -                200 200 200 200 200 200
GET    /account                                 -                303 200 200 200 200 200
POST   /account/tokens                          -                303 200 200 200 200 200
POST   /account/tokens/{token}/revoke           token=blue-too   303 404 404 303 404 404
GET    /bundle/{name}                           name=x           404 404 404 404 404 404
POST   /contests                                -                303 403 403 403 422 422
GET    {cup}                                    -                200 200 200 200 200 200
GET    {cup}/attack                             -                303 303 200 200 303 303
GET    {cup}/board                              -                200 200 200 200 200 200
POST   {cup}/choose                             -                303 303 404 404 303 303
GET    {cup}/files/{submission}                 submission=red   303 403 200 404 403 200
GET    {cup}/files/{submission}                 submission=blue  303 403 404 200 403 200
GET    {cup}/log                                -                403 403 403 403 403 200
GET    {cup}/organise                           -                303 403 403 403 403 200
POST   {cup}/organise/{act}                     act=invite       303 403 403 403 403 200
POST   {cup}/organise/{act}                     act=pause        303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=resume       303 403 403 403 403 409
POST   {cup}/organise/{act}                     act=phases       303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=announce     303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=reset_password 303 403 403 403 403 404
POST   {cup}/organise/{act}                     act=add_organiser 303 403 403 403 403 404
POST   {cup}/organise/{act}                     act=rescore      303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=disqualify   303 403 403 403 403 404
POST   {cup}/organise/{act}                     act=reinstate    303 403 403 403 403 404
POST   {cup}/organise/{act}                     act=retry        303 403 403 403 403 404
POST   {cup}/organise/{act}                     act=open         303 403 403 403 403 303
POST   {cup}/organise/{act}                     act=settings     303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=hook         303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=unhook       303 403 403 403 403 404
POST   {cup}/organise/{act}                     act=clock        303 403 403 403 403 422
POST   {cup}/organise/{act}                     act=nothing      303 403 403 403 403 404
GET    {cup}/protect                            -                303 303 200 200 303 303
GET    {cup}/results                            -                200 200 200 200 200 200
GET    {cup}/team                               -                200 200 200 200 200 200
POST   {cup}/team                               -                303 409 409 409 409 409
POST   {cup}/team/code                          -                303 403 200 200 403 403
POST   {cup}/team/join                          -                303 409 409 409 409 409
POST   {cup}/team/leave                         -                303 409 409 409 409 409
GET    /healthz                                 -                200 200 200 200 200 200
GET    /login                                   -                200 200 200 200 200 200
POST   /login                                   -                403 403 403 403 403 403
GET    /new                                     -                303 403 403 403 200 200
POST   /new                                     -                403 403 403 403 200 200
POST   /preferences                             -                303 303 303 303 303 303
GET    /reset                                   -                200 200 200 200 200 200
POST   /reset                                   -                403 403 403 403 403 403
GET    /sign-up                                 -                200 200 200 200 200 200
POST   /sign-up                                 -                422 422 422 422 422 422

# what ends sessions
POST   /account/password                        -                303 303 303 303 303 303
POST   /logout                                  -                303 303 303 303 303 303
"""

_REST_AFTER_RESULTS = """
GET    {cup}                                         -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rulebook.toml                           -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/team                                    -                401 403 200 200 200 200 403 403 403 403 403 403
GET    {cup}/teams                                   -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/data                     -                401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/rounds/{round}/targets                  -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/targets/{target}         target=red       200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/targets/{target}         target=blue      200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/submissions                             -                401 403 200 200 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}                submission=red   401 403 200 404 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}                submission=blue  401 403 404 200 404 404 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/file           submission=red   401 403 200 404 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/file           submission=blue  401 403 404 200 404 404 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/receipt        submission=red   401 403 200 404 200 200 403 403 403 200 403 200
GET    {cup}/submissions/{submission}/receipt        submission=blue  401 403 404 200 404 404 403 403 403 200 403 200
GET    {cup}/log                                     -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/results.csv                             -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/results.html                            -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/results.json                            -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/leaderboard              -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/matrix                   -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/rounds/{round}/stability                -                200 200 200 200 200 200 200 200 200 200 200 200
GET    {cup}/flags                                   -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/hooks                                   -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/jobs                                    -                403 403 403 403 403 403 403 403 403 200 403 200
GET    {cup}/archive                                 -                200 200 200 200 200 200 200 200 200 200 200 200
"""

_PAGES_AFTER_RESULTS = """
GET    {cup}                                    -                200 200 200 200 200 200
GET    {cup}/attack                             -                303 303 200 200 303 303
GET    {cup}/board                              -                200 200 200 200 200 200
GET    {cup}/files/{submission}                 submission=red   303 403 200 404 403 200
GET    {cup}/files/{submission}                 submission=blue  303 403 404 200 403 200
GET    {cup}/log                                -                200 200 200 200 200 200
GET    {cup}/organise                           -                303 403 403 403 403 200
GET    {cup}/protect                            -                303 303 200 200 303 303
GET    {cup}/results                            -                200 200 200 200 200 200
GET    {cup}/team                               -                200 200 200 200 200 200
"""


class Row(NamedTuple):
    """A route, whose ids it is asked about, and the status for each role."""

    method: str
    path: str
    ids: dict[str, str]
    statuses: tuple[int, ...]

    @property
    def route(self) -> str:
        return f"{self.method} {self.path}"


def rows(table: str, prefix: str) -> list[Row]:
    """Read a table."""
    found = []
    for line in table.strip().splitlines():
        if not line or line.startswith("#"):
            continue
        method, path, whose, *statuses = line.split()
        path = prefix + path.replace("{cup}", "/contests/{contest}")
        ids = {name: one for name, one in (("contest", "cup"), ("round", "final")) if f"{{{name}}}" in path}
        ids |= dict(one.split("=") for one in whose.split(",") if one != "-")
        found.append(Row(method, path, ids, tuple(map(int, statuses))))
    return found


REST = rows(_REST, "/api/v1")
PAGES = rows(_PAGES, "")
REST_AFTER_RESULTS = rows(_REST_AFTER_RESULTS, "/api/v1")
PAGES_AFTER_RESULTS = rows(_PAGES_AFTER_RESULTS, "")
