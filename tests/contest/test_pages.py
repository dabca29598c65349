"""The arena's pages: who sees what, what forms do, and that what was typed and shown is right."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import argon2
import pytest
from tests.contest.served import DAY, PASSWORD, Person, Served

from noren.contest.judging.scorer import CLUSTER_LOST
from noren.contest.pages.frame import current_phase, left, played_rounds, rules, waiting_text
from noren.contest.phases import Phase, planned_phases
from noren.contest.rulebook import preset
from noren.contest.state import Contest, ContestSettings, Round
from noren.work.queue import State

FORM = {"title": "A tea cup", "id": "tea-cup", "rounds": "one", "customers": "12", "rows": "200"}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(argon2, "PasswordHasher", partial(argon2.PasswordHasher, time_cost=1, memory_cost=64))
    made = Served(tmp_path)
    yield made
    made.close()


@pytest.fixture
def organiser(served: Served) -> Person:
    return served.organiser()


@pytest.fixture
def cup(served: Served, organiser: Person) -> str:
    """A contest whose registration is open."""
    served.create(organiser)
    served.go_to("cup", "registration")
    return "cup"


def title(text: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", text, flags=re.DOTALL)
    assert found
    return found[1]


def team(served: Served, login: str, name: str) -> Person:
    person = served.person(login)
    assert person.post("/contests/cup/team", data={"name": name}).status_code == 200
    return person


# --- people ----------------------------------------------------------------------------------------------------------


class TestPeople:
    def test_a_new_arena_asks_for_its_organiser(self, served: Served) -> None:
        somebody = Person(served)
        assert somebody.get("/", follow_redirects=False).headers["location"] == "/sign-up"
        typed = {"login": "org", "name": "Olga", "password": PASSWORD, "code": "wrongcode234"}
        wrong = somebody.post("/sign-up", data=typed)
        assert wrong.status_code == 403
        assert "this is not the code of the first organiser" in wrong.text
        assert 'value="Olga"' in wrong.text
        assert PASSWORD not in wrong.text
        right = typed | {"code": served.app.state.authentication.first_code}
        assert somebody.post("/sign-up", data=right, follow_redirects=False).headers["location"] == "/"
        assert "New contest" in somebody.get("/").text

    def test_the_code_is_worth_nothing_later(self, served: Served, organiser: Person) -> None:
        code = served.app.state.authentication.first_code
        typed = {"login": "eve", "name": "Eve", "password": PASSWORD, "code": code}
        assert Person(served).post("/sign-up", data=typed).status_code == 403

    def test_a_wrong_password_is_told_and_counted(self, served: Served, organiser: Person) -> None:
        somebody = Person(served)
        answers = [
            somebody.post("/login", data={"login": "organiser", "password": "no"}).status_code for _ in range(11)
        ]
        assert answers == [403] * 10 + [429]

    def test_logging_in_and_out(self, served: Served, organiser: Person) -> None:
        somebody = Person(served)
        typed = {"login": "Organiser", "password": PASSWORD}
        assert somebody.post("/login", data=typed, follow_redirects=False).status_code == 303
        somebody.know()
        assert "Organiser" in somebody.get("/account").text
        somebody.post("/logout")
        assert somebody.get("/account", follow_redirects=False).headers["location"] == "/login"

    def test_a_token_is_shown_once_and_revoked(self, served: Served, organiser: Person) -> None:
        made = organiser.post("/account/tokens", data={"name": "laptop", "scope": "read"}).text
        found = re.search(r"noren_\w{40}", made)
        assert found
        assert found[0] not in organiser.get("/account").text
        program = {"Authorization": f"Bearer {found[0]}"}
        assert Person(served).get("/api/v1/contests", headers=program).status_code == 200
        revoked = re.search(r"/account/tokens/(\w+)/revoke", made)
        assert revoked
        organiser.post(f"/account/tokens/{revoked[1]}/revoke")
        assert Person(served).get("/api/v1/contests", headers=program).status_code == 401

    def test_another_password_ends_other_sessions(self, served: Served, organiser: Person) -> None:
        other = Person(served)
        other.post("/login", data={"login": "organiser", "password": PASSWORD})
        wrong = organiser.post("/account/password", data={"old": "x", "password": "a new password"})
        assert "login or password is wrong; try again" in wrong.text
        done = organiser.post("/account/password", data={"old": PASSWORD, "password": "a new password"})
        assert "The password was changed" in done.text
        assert organiser.get("/account", follow_redirects=False).status_code == 200
        assert other.get("/account", follow_redirects=False).headers["location"] == "/login"


# --- creating --------------------------------------------------------------------------------------------------------


class TestCreating:
    def test_phases_are_planned_in_the_zone(self, organiser: Person) -> None:
        asked = {"zone": "Asia/Tokyo", "start": "2026-04-01T09:00", "days_registration": "7", "rounds": "one"}
        text = organiser.post("/new", data=asked).text
        assert 'name="opens-registration" value="2026-04-01T09:00"' in text
        assert 'name="closes-registration" value="2026-04-08T09:00"' in text
        assert 'name="opens-final-protect" value="2026-04-08T09:00"' in text
        assert "opens-preliminary-protect" not in text

    def test_made_up_data_make_a_contest(self, served: Served, organiser: Person) -> None:
        asked = FORM | {"opens-registration": "2030-04-01T09:00", "closes-registration": "2030-04-02T09:00"}
        asked |= {"opens-final-protect": "2030-04-02T09:00", "closes-final-protect": "2030-04-03T09:00"}
        answer = organiser.post("/contests", data=asked, follow_redirects=False)
        assert answer.headers["location"] == "/contests/tea-cup/organise"
        made = served.arena.state("tea-cup")
        assert made is not None
        assert (made.rounds["final"].rows, made.rounds["final"].people) == (200, 12)
        assert [one.id for one in made.phases] == ["registration", "final-protect"]
        assert made.phases[0].opens == "2030-04-01T00:00:00.000000+00:00"  # nine in Tokyo

    def test_quotas_may_be_other_than_the_rulebooks(self, served: Served, organiser: Person) -> None:
        organiser.post("/contests", data=FORM | {"guesses": "7"})
        made = served.arena.state("tea-cup")
        assert made is not None
        assert (made.rulebook.quota.releases, made.rulebook.quota.guesses) == (20, 7)

    def test_files_come_in_a_form(self, served: Served, organiser: Person) -> None:
        content = served.case().original.read_bytes()
        sent = organiser.post(
            "/contests", data=FORM | {"data": "files"}, files={"file-final": ("T.csv", content)}, follow_redirects=False
        )
        assert sent.headers["location"] == "/contests/tea-cup/organise"
        made = served.arena.state("tea-cup")
        assert made is not None
        assert made.rounds["final"].name == "T.csv"

    def test_a_wrong_file_is_told_by_its_own_name(self, organiser: Person) -> None:
        sent = {"file-final": ("../T.csv", b"")}
        answer = organiser.post("/contests", data=FORM | {"data": "files"}, files=sent)
        assert answer.status_code == 422
        assert "T.csv: the file is empty" in answer.text
        assert "noren-contest" not in answer.text  # where we keep it is nobody's business

    @pytest.mark.parametrize(
        ("changed", "told"),
        [
            ({"id": "Tea Cup"}, "cannot be part of an address"),
            ({"data": "files"}, "Final round: no data; choose a file, or synthetic data"),
            ({"days_protect": "soon"}, "is not a number"),
            ({"zone": "Asia/Edo"}, "there is no time zone"),
            ({"toml": preset("custom").to_toml().replace("weight = 0.5", "weight = 0.4")}, "terms add up to 0.8"),
            ({"rows": "0"}, "synthetic data have 1 to 1,000,000 rows"),
        ],
    )
    def test_what_cannot_be_is_said_and_typed_is_kept(
        self, served: Served, organiser: Person, changed: dict[str, str], told: str
    ) -> None:
        answer = organiser.post("/contests", data=FORM | changed)
        assert answer.status_code in (409, 422)
        assert told in answer.text
        assert 'value="A tea cup"' in answer.text
        assert served.arena.store.contests() == []

    def test_only_organisers_create(self, served: Served, organiser: Person) -> None:
        player = served.person("ann")
        assert player.get("/new").status_code == 403
        assert player.post("/contests", data=FORM).status_code == 403
        assert Person(served).get("/new", follow_redirects=False).headers["location"] == "/login"


# --- playing ---------------------------------------------------------------------------------------------------------


class TestPlaying:
    def test_a_code_is_shown_once_and_lets_others_in(self, served: Served, cup: str) -> None:
        ann, bob = served.person("ann"), served.person("bob")
        told = ann.post("/contests/cup/team", data={"name": "<b>Greens</b>"}).text
        assert "&lt;b&gt;Greens" in told
        assert "<b>Greens" not in told
        code = re.search(r"Team code: (\w{12})", told)
        assert code
        assert code[1] not in ann.get("/contests/cup/team").text
        assert "no team has this code" in bob.post("/contests/cup/team/join", data={"code": "x"}).text
        assert bob.post("/contests/cup/team/join", data={"code": code[1]}).status_code == 200
        assert "Bob" in ann.get("/contests/cup/team").text

    def test_an_invalid_file_then_a_valid_one(self, served: Served, cup: str) -> None:
        ann = team(served, "ann", "Greens")
        served.go_to("cup", "final-protect")
        case = served.case()
        whole = case.submitted.read_bytes()
        first = ann.ask("PUT", "/contests/cup/releases", content=b"\n".join(whole.split(b"\n")[:50]) + b"\n")
        waiting = ann.get("/contests/cup/protect").text
        assert "Position in the queue: 1." in waiting
        served.judge()
        told = ann.get(f"/contests/cup/files/{first['submission']}").text
        assert "the file has 50 rows, the original has 200" in told
        assert "You have no valid release yet" in title(ann.get("/contests/cup/protect").text)
        second = ann.ask("PUT", "/contests/cup/releases", content=whole)
        served.judge()
        shown = ann.get("/contests/cup/protect").text
        assert "Release: valid, with a score of 0." in title(shown)
        assert "1 of 20 attempts used" in shown  # the invalid one cost none
        page = ann.get(f"/contests/cup/files/{second['submission']}").text
        assert "Release: valid, with a score of 0." in title(page)
        assert second["receipt"]["signature"] in page

    def test_files_of_others_are_not_there(self, served: Served, cup: str) -> None:
        ann, bob = team(served, "ann", "Greens"), team(served, "bob", "Blacks")
        served.go_to("cup", "final-protect")
        sent = ann.ask("PUT", "/contests/cup/releases", content=served.case().submitted.read_bytes())
        assert bob.get(f"/contests/cup/files/{sent['submission']}").status_code == 404
        assert bob.get("/contests/cup/organise").status_code == 403
        assert Person(served).get("/contests/cup/protect", follow_redirects=False).headers["location"] == "/login"

    def test_targets_have_numbers_and_no_names(self, served: Served, cup: str) -> None:
        ann, bob = team(served, "ann", "Greens"), team(served, "bob", "Blacks")
        served.go_to("cup", "final-protect")
        for person, seed in ((ann, 3), (bob, 4)):
            person.ask("PUT", "/contests/cup/releases", content=served.case(seed).submitted.read_bytes())
        served.judge()
        served.go_to("cup", "final-attack")
        text = ann.get("/contests/cup/attack").text
        assert "0 of 1 targets attacked" in title(text)
        assert "Blacks" not in text
        assert "Target 0" in text


class TestOrganising:
    def test_a_pause_is_told_and_ends(self, served: Served, cup: str, organiser: Person) -> None:
        ann = team(served, "ann", "Greens")
        assert "needs 1 to 500 characters" in organiser.post("/contests/cup/organise/pause", data={"reason": " "}).text
        organiser.post("/contests/cup/organise/pause", data={"reason": "a leak in the roof"})
        assert title(ann.get("/contests/cup").text) == "The contest is paused: a leak in the roof"
        organiser.post("/contests/cup/organise/resume")
        assert "Registration is open until" in title(ann.get("/contests/cup").text)

    def test_times_change_and_the_rest_keeps_its_seconds(self, served: Served, cup: str, organiser: Person) -> None:
        before = served.arena.state("cup")
        assert before is not None
        form = dict(
            re.findall(
                r'name="((?:opens|closes|frozen_from)-[\w-]+)" value="([^"]*)"',
                organiser.get("/contests/cup/organise").text,
            )
        )
        form |= {"closes-registration": form["closes-registration"].replace("T", " "), "reason": "more time"}
        late = before.phases[-1].opens[:10]
        form["opens-results"] = f"{int(late[:4]) + 1}{late[4:]}T12:00"
        answer = organiser.post("/contests/cup/organise/phases", data=form, follow_redirects=False)
        assert answer.status_code == 303, re.findall(r"error-message.*", answer.text)
        after = served.arena.state("cup")
        assert after is not None
        assert [one.opens for one in after.phases[:-1]] == [one.opens for one in before.phases[:-1]]
        assert after.phases[-1].opens == f"{int(late[:4]) + 1}{late[4:]}T12:00:00.000000+00:00"

    def test_a_team_is_disqualified_and_let_back(self, served: Served, cup: str, organiser: Person) -> None:
        ann = team(served, "ann", "Greens")
        found = re.search(r'name="team" value="(\w+)"', organiser.get("/contests/cup/organise").text)
        assert found
        organiser.post("/contests/cup/organise/disqualify", data={"team": found[1], "reason": "two accounts"})
        assert "your team is disqualified: two accounts; ask the organiser" in ann.get("/contests/cup/team").text
        organiser.post("/contests/cup/organise/reinstate", data={"team": found[1], "reason": "an error"})
        assert "disqualified" not in ann.get("/contests/cup/team").text
        log = organiser.get("/contests/cup/log").text
        assert "The team Greens was disqualified: two accounts" in log
        assert ann.get("/contests/cup/log").status_code == 403

    def test_an_invitation_lets_one_team_in(self, served: Served, organiser: Person) -> None:
        served.create(organiser, settings={"registration": "invited"})
        served.go_to("cup", "registration")
        ann, bob = served.person("ann"), served.person("bob")
        code = re.search(r"Invitation code: (\w{12})", organiser.post("/contests/cup/organise/invite").text)
        assert code
        assert "by invitation" in ann.post("/contests/cup/team", data={"name": "Greens"}).text
        form = {"name": "Greens", "invitation": code[1]}
        assert "You play for Greens" in title(ann.post("/contests/cup/team", data=form).text)
        assert "by invitation" in bob.post("/contests/cup/team", data=form | {"name": "Blacks"}).text

    def test_the_next_phase_is_opened_by_hand(self, served: Served, cup: str, organiser: Person) -> None:
        before = served.arena.state("cup")
        assert before is not None
        organiser.post("/contests/cup/organise/open")
        after = served.arena.state("cup")
        assert after is not None
        at = after.time
        registration, protect, attack = after.phases[:3]
        assert registration.closes == protect.opens <= at
        assert [length(one) for one in after.phases[1:3]] == [length(one) for one in before.phases[1:3]] == [DAY, DAY]
        assert attack.opens == protect.closes

    def test_settings_change_with_a_reason(self, served: Served, cup: str, organiser: Person) -> None:
        form = {"team_size": "3", "registration": "invited", "visibility": "members", "largest": "0.5"}
        organiser.post("/contests/cup/organise/settings", data=form | {"reason": "a small room"})
        state = served.arena.state("cup")
        assert state is not None
        assert (state.settings.team_size, state.settings.largest_file) == (3, 2**19)
        assert Person(served).get("/contests/cup").status_code == 404  # for players alone from now on
        wrong = organiser.post("/contests/cup/organise/settings", data=form | {"team_size": "0", "reason": "x"})
        assert "team_size" in wrong.text
        assert wrong.status_code == 422

    def test_the_clock_of_a_rehearsal_is_moved(self, served: Served, cup: str, organiser: Person) -> None:
        organiser.post("/contests/cup/organise/clock", data={"to": "2044-04-01T09:00"})
        assert served.arena.now().startswith("2044-04-01T09:00")

    def test_a_hook_is_added_and_its_secret_shown_once(self, served: Served, cup: str, organiser: Person) -> None:
        told = organiser.post("/contests/cup/organise/hook", data={"url": "https://cup.example/news"}).text
        secret = re.search(r"<code>([0-9a-f]{64})</code>", told)
        assert secret
        shown = organiser.get("/contests/cup/organise").text
        assert "https://cup.example/news" in shown
        assert secret[1] not in shown
        hook = re.search(r'name="hook" value="(\w+)"', shown)
        assert hook
        organiser.post("/contests/cup/organise/unhook", data={"hook": hook[1]})
        assert "https://cup.example/news" not in organiser.get("/contests/cup/organise").text

    def test_an_unknown_act_is_no_page(self, cup: str, organiser: Person) -> None:
        assert organiser.post("/contests/cup/organise/burn").status_code == 404


def test_a_frozen_board_stands_still(served: Served, organiser: Person) -> None:
    served.create(organiser)
    frozen = _frozen_at(served, organiser)
    served.go_to("cup", "registration")
    ann, bob = team(served, "ann", "Greens"), team(served, "bob", "Blacks")
    served.go_to("cup", "final-protect")
    ann.ask("PUT", "/contests/cup/releases", content=served.case(3).submitted.read_bytes())
    served.judge()
    assert "Final round: Greens in the lead" in title(bob.get("/contests/cup/board").text)
    served.move_to(frozen)
    bob.ask("PUT", "/contests/cup/releases", content=served.case(4).submitted.read_bytes())
    served.judge()
    text = bob.get("/contests/cup/board").text
    assert "This leaderboard is frozen since" in text
    assert re.search(r"Blacks.*?no submissions", text, flags=re.DOTALL)
    live = organiser.get("/contests/cup/board").text
    assert "frozen since" not in live
    assert not re.search(r"Blacks[^/]*no submissions", live)


def length(phase: Phase) -> float:
    """How many seconds a phase is open."""
    return (dt.datetime.fromisoformat(phase.closes or "") - dt.datetime.fromisoformat(phase.opens)).total_seconds()


def _frozen_at(served: Served, organiser: Person) -> str:
    """Freeze the board of protecting at the middle of its phase."""
    state = served.arena.state("cup")
    assert state is not None
    opens = next(one.opens for one in state.phases if one.id == "final-protect")
    at = dt.datetime.fromisoformat(opens) + dt.timedelta(seconds=DAY / 2)
    shown = organiser.get("/contests/cup/organise").text
    form = dict(re.findall(r'name="((?:opens|closes|frozen_from)-[\w-]+)" value="([^"]*)"', shown))
    form |= {"frozen_from-final-protect": f"{at:%Y-%m-%dT%H:%M}", "reason": "as announced"}
    assert organiser.post("/contests/cup/organise/phases", data=form, follow_redirects=False).status_code == 303
    return f"{at:%Y-%m-%dT%H:%M}:00+00:00"


# --- words -----------------------------------------------------------------------------------------------------------


def test_rounds_stand_in_the_order_they_are_played() -> None:
    first, second = planned_phases("2026-04-01T00:00:00+00:00", (1, 1, 1, 0, 1), ["zen", "adagio"])[1:5:2]
    assert (first.round, second.round) == ("zen", "adagio")
    rounds = {name: Round(name, "", "", 1, 1) for name in ("adagio", "zen")}  # as a log from elsewhere has them
    assert played_rounds(Contest(rounds=rounds, phases=(first, second))) == ["zen", "adagio"]


def test_what_is_open_is_said_first(served: Served, cup: str) -> None:
    state = served.arena.state("cup")
    assert state is not None
    opens = [one.opens for one in state.phases]
    assert current_phase(state, "2000-01-01T00:00:00.000000+00:00").startswith("Registration opens at ")
    assert current_phase(state, opens[1]).startswith("Final round · Protection is open until ")
    assert current_phase(state, opens[2]).startswith("Final round · Attack is open until ")
    assert current_phase(state, opens[-1]) == "The results are published"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(-1, "over"), (20, "in 1 minute"), (90 * 60, "in 90 minutes"), (7200, "in 2 hours"), (3 * 86_400, "in 3 days")],
)
def test_how_long_it_is(seconds: int, told: str) -> None:
    now = dt.datetime(2026, 4, 1, tzinfo=dt.UTC)
    assert left((now + dt.timedelta(seconds=seconds)).isoformat(), now.isoformat()) == told


def test_an_estimate_is_honest() -> None:
    assert waiting_text(0, None) == "Position in the queue: 1."
    assert waiting_text(3, (20.0, 130.0)) == "Position in the queue: 4. Estimated time: 20 seconds – 2 minutes."


@pytest.mark.parametrize("name", ["pwscup2018", "pwscup2017", "pwscup2016", "custom"])
def test_every_rulebook_has_words(name: str) -> None:
    said = rules(preset(name), ContestSettings())
    book = preset(name)
    assert [line["name"] for line in said["terms"]] == [term.key for term in book.terms]
    assert [line["name"] for line in said["conditions"]] == [one.key for one in book.conditions]
    assert all(line["meaning"] and line["unit"] for line in said["terms"])


# --- a cluster -------------------------------------------------------------------------------------------------------

STEPS = [
    {"step": {"en": "reading", "ja": "読み込み"}, "stages": 1, "done": 3, "tasks": 3, "rows": 0, "bytes": 0}
    | {"seconds": 0.5, "over": True},
    {"step": {"en": "jaccard", "ja": "jaccard"}, "stages": 12, "done": 1030, "tasks": 1200, "rows": 4_500_000}
    | {"bytes": 81_000_000, "seconds": 61.2, "over": False},
]


def test_what_a_cluster_did_is_for_the_organiser_alone(served: Served, organiser: Person, cup: str) -> None:
    ann = team(served, "ann", "Tea")
    served.go_to("cup", "final-protect")
    sent = ann.ask("PUT", "/contests/cup/releases", content=served.case().submitted.read_bytes())["submission"]
    jobs = served.arena.store.jobs
    claim = jobs.queue.claim(["judge"], "somebody")
    assert claim is not None
    jobs.update(claim.id, "somebody", stages=STEPS)
    jobs.update(claim.id, "somebody", notice=CLUSTER_LOST)
    shown = organiser.get(f"/contests/cup/files/{sent}").text
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", shown.partition('id="cluster-stages"')[2])
    assert cells[:12] == [
        "Stage", "Tasks", "Shuffled", "Seconds",
        "●\N{NO-BREAK SPACE}reading (1 stage)", "3 / 3", "–", "0.5",
        "◐\N{NO-BREAK SPACE}jaccard (12 stages)", "1,030 / 1,200", "4,500,000 rows, 81.0 MB", "61.2",
    ]  # fmt: skip
    assert CLUSTER_LOST in shown
    assert "cluster" not in ann.get(f"/contests/cup/files/{sent}").text
    jobs.queue.end(claim.id, State.DONE)
    assert CLUSTER_LOST in organiser.get("/contests/cup/organise").text
