"""People of the arena: passwords, sessions, tokens, who organises; how often they may ask."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa
from tests.conftest import PATIENCE
from tests.contest.test_store_database import store

from noren.contest.store.database import ArenaAccount, ContestStore
from noren.errors import DuplicateNameError, ParameterError
from noren.web import accounts as web_accounts
from noren.web.accounts import digest_of

__all__ = ["store"]


@pytest.fixture
def ann(store: ContestStore) -> ArenaAccount:
    return store.accounts.add("Ann", " Ann  of Tea ", "open sesame")


def everything(store: ContestStore) -> str:
    """Return all that the database holds of people, as text."""
    with store.engine.connect() as database:
        tables = ("accounts", "sessions", "tokens")
        return str([database.execute(sa.text(f"SELECT * FROM {table}")).all() for table in tables])


def test_a_person_enters_with_login_and_password(store: ContestStore, ann: ArenaAccount) -> None:
    assert (ann.login, ann.name, ann.is_organiser) == ("ann", "Ann of Tea", False)
    assert store.accounts.enter("ANN ", "open sesame") == ann
    assert store.accounts.enter("ａｎｎ", "open sesame") == ann
    assert store.accounts.enter("ann", "open sesame!") is None
    assert store.accounts.enter("bob", "open sesame") is None
    assert store.accounts.by_login("Ann") == ann
    assert "open sesame" not in everything(store)
    assert "$argon2id$" in everything(store)


@pytest.mark.parametrize(
    ("login", "name", "password", "says"),
    [
        ("a", "A", "open sesame", "'a' is no login"),
        ("a b", "A", "open sesame", "is no login"),
        ("a" * 65, "A", "open sesame", "is no login"),
        ("<script>", "A", "open sesame", "is no login"),
        ("ann", " ", "open sesame", "a name or reason needs 1 to 80 characters"),
        ("ann", "A" * 81, "open sesame", "a name or reason needs 1 to 80 characters"),
        ("ann", "A\x1b[31m", "open sesame", "a name or reason needs 1 to 80 characters"),
        ("ann", "A", "too short", "the password needs 10 to 1,000 characters"),
        ("ann", "A", "x" * 1001, "the password needs 10 to 1,000 characters"),
    ],
)
@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_what_is_no_account(store: ContestStore, login: str, name: str, password: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        store.accounts.add(login, name, password)
    assert store.accounts.all() == []


def test_one_login_one_person(store: ContestStore, ann: ArenaAccount) -> None:
    with pytest.raises(DuplicateNameError, match="the login ann is taken"):
        store.accounts.add("ANN", "Another", "open sesame")
    assert store.accounts.all() == [ann]


def test_an_unknown_login_takes_as_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    import argon2

    compared: list[str] = []

    def verify(self: object, kept: str, given: str) -> bool:
        compared.append(kept)
        return True

    monkeypatch.setattr(argon2.PasswordHasher, "verify", verify)
    web_accounts._nobodys.cache_clear()  # other tests hash quickly
    real = web_accounts.hashed("open sesame")
    assert web_accounts.is_right(real, "x")
    assert not web_accounts.is_right(None, "x")
    own, nobodys = (kept.split("$")[1:4] for kept in compared)
    assert own == nobodys, "the same kind, version and cost"


def test_sessions_end_with_time_and_password(store: ContestStore, ann: ArenaAccount) -> None:
    people = store.accounts
    old, new = people.open_session(ann), people.open_session(ann)
    with store.engine.begin() as database:
        over = people.sessions.update().where(people.sessions.c.digest == digest_of(old))
        database.execute(over.values(until="2000-01-01T00:00:00.000000+00:00"))
    assert people.of_session(old) is None
    assert people.of_session(new) == ann
    people.end_session(new)
    assert people.of_session(new) is None

    session = people.open_session(ann)
    people.change_password(ann, "open barley")
    assert people.of_session(session) is None
    assert store.accounts.enter("ann", "open sesame") is None
    assert store.accounts.enter("ann", "open barley") == ann


def test_a_token_is_told_once_and_opens_until_it_is_revoked(store: ContestStore, ann: ArenaAccount) -> None:
    token, text = store.tokens.make(ann.id, "laptop", ["team", "read"])
    assert text.startswith("noren_")
    assert len(text) == 46
    assert text[6:] not in everything(store)
    assert store.tokens.of(ann.id) == [token]
    assert store.tokens.owner(text) == (token, ann)
    assert store.tokens.of(ann.id)[0].last_used is not None
    assert token.scopes == {"read", "team"}
    for wrong in ("", text[:-1], text + "x", text.upper(), "noren_" + "\udcff" * 40):
        assert store.tokens.owner(wrong) is None
    assert not store.tokens.revoke(token.id, "nothere23456")
    assert store.tokens.revoke(token.id, ann.id)
    assert store.tokens.owner(text) is None
    assert not store.tokens.revoke(token.id, ann.id)
    for scopes in ([], ["everything"]):
        with pytest.raises(ParameterError, match="use one of read, team, organiser"):
            store.tokens.make(ann.id, "x", scopes)


def test_a_token_opens_nothing_once_its_person_is_revoked(store: ContestStore, ann: ArenaAccount) -> None:
    _token, text = store.tokens.make(ann.id, "laptop", ["read"])
    assert store.tokens.owner(text) is not None
    with store.accounts.changing() as database:
        store.accounts.change(database, ann, "revoked", revoked="2026-01-01")
    assert store.tokens.owner(text) is None


# --- rates ---------------------------------------------------------------------------------------------------


def test_rates_are_counted_by_all_servers_together(store: ContestStore, address: str) -> None:
    other = ContestStore(address, bytes(range(32)))
    allowed: list[bool] = []

    def ask(one: ContestStore) -> None:
        allowed.extend(one.rates.allow("login:192.0.2.1", 25, 3600.0) for _ in range(10))

    threads = [threading.Thread(target=ask, args=(one,)) for one in (store, store, other, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    other.close()
    assert (len(allowed), sum(allowed)) == (40, 25)
    assert store.rates.allow("login:192.0.2.2", 25, 3600.0), "somebody else is not held up"
    store.rates.reset("login:192.0.2.1")
    assert store.rates.allow("login:192.0.2.1", 1, 3600.0)
    assert not store.rates.allow("login:192.0.2.1", 1, 3600.0)


def test_a_window_that_is_over_is_forgotten(store: ContestStore) -> None:
    assert store.rates.allow("old", 1, 0.0)
    assert store.rates.allow("old", 1, 0.0), "its window was over at once"
    assert store.rates.allow("new", 1, 3600.0)
    with store.engine.connect() as database:
        assert database.execute(sa.text("SELECT key FROM rates")).scalars().all() == ["new"]
