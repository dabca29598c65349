"""The table of who may do what at the studio: a line for each route, and the least role that is enough for it.

``all`` is open to everybody. For the other routes one must log in; a role that does not cover the one named
is refused (403): stewards may do what reviewers may, and these what readers may; administrators what readers may, and
what is theirs alone.
"""

from __future__ import annotations

from typing import NamedTuple

_REST = """
GET    /attacks                                                           reader
GET    /datasets                                                          reader
GET    /inbox                                                             reviewer
DELETE /jobs/{job}                                                        steward
GET    /jobs/{job}                                                        reader
GET    /jobs/{job}/events                                                 reader
GET    /jobs/{job}/reconstruction                                         reader
GET    /jobs/{job}/report                                                 reviewer
POST   /jobs/{job}/{act}                                                  steward
GET    /measures                                                          reader
GET    /methods                                                           reader
GET    /projects                                                          reader
POST   /projects                                                          steward
DELETE /projects/{project}                                                steward
GET    /projects/{project}                                                reader
PATCH  /projects/{project}                                                steward
GET    /projects/{project}/builders                                       reader
DELETE /projects/{project}/categories                                     steward
GET    /projects/{project}/categories                                     reader
PUT    /projects/{project}/categories                                     steward
POST   /projects/{project}/copy                                           steward
GET    /projects/{project}/events                                         reader
PUT    /projects/{project}/file                                           steward
POST   /projects/{project}/find                                           steward
GET    /projects/{project}/hierarchies                                    reader
POST   /projects/{project}/hierarchies                                    steward
GET    /projects/{project}/hierarchy                                      reader
POST   /projects/{project}/hierarchy                                      steward
PUT    /projects/{project}/hierarchy                                      steward
PUT    /projects/{project}/judged                                         steward
GET    /projects/{project}/judged/{job}                                   reader
GET    /projects/{project}/ledger                                         reader
POST   /projects/{project}/ledger                                         steward
POST   /projects/{project}/ledger/releases                                steward
GET    /projects/{project}/ledger/releases/{number}/public                reader
POST   /projects/{project}/ledger/releases/{number}/publications          steward
POST   /projects/{project}/ledger/weigh                                   steward
GET    /projects/{project}/map                                            reader
GET    /projects/{project}/plan                                           reader
GET    /projects/{project}/profile                                        reader
GET    /projects/{project}/publications                                   reader
GET    /projects/{project}/readers                                        steward
PUT    /projects/{project}/readers                                        steward
POST   /projects/{project}/reports                                        reviewer
GET    /projects/{project}/rows                                           reader
GET    /projects/{project}/runs                                           reader
POST   /projects/{project}/runs                                           steward
GET    /projects/{project}/schema                                         reader
PUT    /projects/{project}/schema                                         steward
GET    /projects/{project}/schema.toml                                    reader
POST   /projects/{project}/schema/check                                   steward
POST   /projects/{project}/sweeps                                         steward
GET    /projects/{project}/values                                         reader
GET    /projects/{project}/{room}/fitting                                 reader
POST   /publications/{record}/approval                                    reviewer
POST   /publications/{record}/refusal                                     reviewer
GET    /runs/{job}/crosstab                                               reader
GET    /runs/{job}/public                                                 reader
POST   /runs/{job}/publications                                           steward
POST   /runs/{job}/reconstruction                                         steward
GET    /runs/{job}/result                                                 reader
GET    /runs/{job}/rows                                                   reader
GET    /runs/{job}/script                                                 reader
POST   /runs/{job}/secret                                                 steward
GET    /session                                                           reader
GET    /trail                                                             reviewer
GET    /users                                                             administrator
POST   /users                                                             administrator
DELETE /users/{login}                                                     administrator
PATCH  /users/{login}                                                     administrator
"""

_PAGES = """
GET    /                                                                  reader
GET    /about                                                             reader
GET    /account                                                           reader
POST   /account                                                           reader
GET    /bundle/{name}                                                     reader
GET    /healthz                                                           all
GET    /inbox                                                             reviewer
POST   /inbox/{record}/{act}                                              reviewer
POST   /jobs/{job}/{act}                                                  steward
GET    /login                                                             all
POST   /login                                                             all
POST   /logout                                                            reader
POST   /preferences                                                       all
POST   /projects                                                          steward
POST   /projects/{project}/archive                                        steward
GET    /projects/{project}/compare                                        reader
POST   /projects/{project}/compare                                        steward
POST   /projects/{project}/compare/seeds                                  steward
POST   /projects/{project}/compare/stop                                   steward
GET    /projects/{project}/compare/state.json                             reader
POST   /projects/{project}/copy                                           steward
GET    /projects/{project}/data                                           reader
POST   /projects/{project}/data/answer                                    steward
POST   /projects/{project}/data/categories                                steward
POST   /projects/{project}/data/columns                                   steward
POST   /projects/{project}/data/copy                                      steward
POST   /projects/{project}/data/hierarchy                                 steward
POST   /projects/{project}/data/preset                                    steward
POST   /projects/{project}/find                                           steward
GET    /projects/{project}/judged/{job}                                   reader
GET    /projects/{project}/ledger                                         reader
POST   /projects/{project}/ledger                                         steward
GET    /projects/{project}/ledger/releases/{number}                       reader
POST   /projects/{project}/ledger/releases/{number}/share                 steward
POST   /projects/{project}/ledger/{act}                                   steward
GET    /projects/{project}/protect                                        steward
POST   /projects/{project}/protect                                        steward
POST   /projects/{project}/protect/check                                  steward
POST   /projects/{project}/readers                                        steward
POST   /projects/{project}/remove                                         steward
POST   /projects/{project}/rename                                         steward
GET    /projects/{project}/results                                        reader
GET    /projects/{project}/results/{job}                                  reader
GET    /projects/{project}/results/{job}/crosstab                         reader
GET    /projects/{project}/results/{job}/papers                           reviewer
POST   /projects/{project}/results/{job}/papers                           reviewer
GET    /projects/{project}/results/{job}/publish                          reader
GET    /projects/{project}/results/{job}/publish/public.zip               reader
POST   /projects/{project}/results/{job}/publish/reconstruct              steward
GET    /projects/{project}/results/{job}/publish/reconstructed            reader
POST   /projects/{project}/results/{job}/publish/report                   reviewer
GET    /projects/{project}/results/{job}/publish/report.html              reviewer
GET    /projects/{project}/results/{job}/publish/script                   reader
POST   /projects/{project}/results/{job}/publish/secret                   steward
POST   /projects/{project}/results/{job}/publish/share                    steward
GET    /projects/{project}/results/{job}/rows                             reader
POST   /projects/{project}/results/{job}/rule                             steward
GET    /projects/{project}/runs                                           reader
GET    /projects/{project}/runs/{job}                                     reader
POST   /projects/{project}/unarchive                                      steward
GET    /trail                                                             reviewer
GET    /trail.jsonl                                                       reviewer
GET    /users                                                             administrator
POST   /users                                                             administrator
POST   /users/{login}/{act}                                               administrator
"""


class Row(NamedTuple):
    """A route and the least role that is enough."""

    method: str
    path: str
    least: str


def rows(table: str, prefix: str) -> list[Row]:
    """Read a table."""
    found = []
    for line in table.strip().splitlines():
        method, path, least = line.split()
        found.append(Row(method, prefix + path, least))
    return found


ROUTES = [*rows(_REST, "/api/v1"), *rows(_PAGES, "")]
