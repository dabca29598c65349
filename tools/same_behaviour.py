"""Record what the program does from outside, to show that a change of its inside changes nothing else.

``same_behaviour.py write FOLDER`` writes text files: the help of every command in both languages, what commands print
and write on small data, digests of releases by every method, the OpenAPI description of both servers, the status of
every route for every role, the entries of a simulated contest's log, the texts of a report and of the pages.
``same_behaviour.py against COMMIT`` does so for a commit and for the working tree, and shows the differences (exit
code 1 where there are any). Only commands and addresses are used, so that modules may move. What differs from run to
run by design (identifiers, moments, ports, random names) is replaced by a word.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import html
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "correct horse battery"  # noqa: S105 - of servers that live for a minute
SEEDS = ("1", "2")
METHODS = {
    "chain": ["--steps", "thin,swap"],
    "generalize": ["--k", "2", "--effort", "quick"],
    "generalize-by-count": ["--k", "2"],
    "hierarchy": ["--k", "3"],
    "microaggregate": ["--k", "2", "--effort", "quick"],
    "mondrian": ["--k", "3"],
    "pseudo-records": ["--clusters", "2", "--effort", "quick"],
    "retention": ["--k", "2"],
}
"""Parameters of the methods that need some, or would take long."""
DATA = {
    "contest": ["T.csv", "--schema", "pwscup2018"],
    "shop": ["shop.csv"],
    "people": ["people.csv", "--schema", "people"],
}
COMMANDS = """
schema guess shop.csv --json
schema guess people.csv --json
schema show pwscup2018
methods --json
attacks --json
measures --json
methods generalize
protect shop.csv --method generalize-by-count --k 3 --seed 1 --out R1 --json
protect people.csv --schema people --method mondrian --k 5 --seed 1 --out R2 --json
protect T.csv --schema pwscup2018 --method generalize-by-count --k 3 --seed 1 --out R3 --json
protect T.csv --schema pwscup2018 --method generalize-by-count --k 6 --seed 1 --out R7
protect T.csv --schema pwscup2018 --method generalize-by-count --k 2 --seed 1 --out R8
protect T.csv --schema pwscup2018 --method monthly-pseudonyms --seed 1 --out R4
protect people.csv --schema people --method retention --k 2 --seed 1 --out R5 --json
protect nothing.csv --method mondrian --k 2 --out R6
protect shop.csv --method no-such --out R6
attack shop.csv R1 --attacks jaccard --seed 1 --out G1.csv --json
attack T.csv R3 --schema pwscup2018 --attacks linkage --seed 1 --out G3.csv --json
attack T.csv R4 --schema pwscup2018 --attacks jaccard --seed 1 --out G4.csv
measure T.csv R3 --schema pwscup2018 --measures cell-error --json
measure T.csv R4 --schema pwscup2018 --guess G4.csv --json
measure people.csv R2 --schema people --json
judge shop.csv R1 --seed 1 --json
judge T.csv R3 --schema pwscup2018 --seed 1
judge people.csv R2 --schema people --attacks none --json
judge people.csv R5 --schema people --seed 1 --json
infer people.csv --schema people --method mondrian --k 5 --seed 1 --json
report shop.csv R1 --out report.html
report people.csv R2 --schema people --out people.html
explore shop.csv --methods generalize-by-count --k 2..4 --seeds 1 --out explored --json
unicity T.csv --schema pwscup2018 --seed 1 --json
draw T.csv R3 --schema pwscup2018 --seed 1 --draws 3 --out drawn.parquet --json
categorize shop.csv --count 4 --out categories.csv --json
check T.csv T.csv --schema pwscup2018 --json
correlate T.csv R3 R7 R8 --schema pwscup2018 --json
digest R3 --json
publish R7 --out P7 --original T.csv --schema pwscup2018 --override tried --json
papers R2 --law appi --original people.csv --schema people --out appi --json
papers R3 --law gdpr --original T.csv --schema pwscup2018 --out gdpr
convert shop.csv shop.parquet --json
identifiers people.csv --schema people --json
population people.csv --schema people --population 3e5 --json
reconstruct R5 --out table.parquet --json
threshold --n 100 --json
hierarchy build people.csv --schema people --out hierarchies --json
plan --domains 5,2,42 --rows 32561 --k 2,5,10 --json
datasets --json
ledger init book --schema pwscup2018 --chain chain.toml --json
ledger add book T.csv --seed 1 --json
ledger show book --json
ledger check book
contest simulate --teams 4 --customers 12 --rows 120 --seed 1 --out cup.zip
contest replay cup.zip --json
contest import cup.zip --data-dir arena --json
""".strip().splitlines()
"""One command of each kind on small data; some of them are refused, and say so."""
MOVING = [
    (re.compile(r"[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|[+-]\d\d:\d\d)?"), "MOMENT"),
    (re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d(:\d\d)?"), "MOMENT"),
    (re.compile(r"\b[0-9a-f]{12}…"), "DIGEST…"),
    (re.compile(r"\?[0-9a-f]{12}\b"), "?VERSION"),
    (re.compile(r"(took|所要時間) ?\d+ (s|秒)"), r"\1 N \2"),
    (re.compile(r"(receipts|files)/[^\s\"]+"), r"\1/NAME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "HOST"),
    (re.compile(r'"(seconds|processor_seconds|elapsed)": [0-9.e-]+'), r'"\1": 0'),
]
"""What differs from run to run by design."""
IDENTIFIER = re.compile(r"\b(?=[a-z]*[2-9])[a-z2-9]{12}\b")


def steady(text: str, folder: Path) -> str:
    """Return text without what differs from run to run; identifiers are numbered as they come."""
    text = text.replace(str(folder), "FOLDER")
    for pattern, word in MOVING:
        text = pattern.sub(word, text)
    names: dict[str, str] = {}
    return IDENTIFIER.sub(lambda match: names.setdefault(match[0], f"ID{len(names) + 1}"), text)


def visible(page: str) -> str:
    """Return the text of a page, one line each, with addresses of links and fields of forms."""
    page = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", "", page)
    page = re.sub(r'(?s)<[a-z][^>]*?\s(?:href|action|name)="([^"]*)"[^>]*>', r"[\1] ", page)
    return "\n".join(
        line for line in map(str.strip, html.unescape(re.sub(r"(?s)<[^>]+>", "\n", page)).splitlines()) if line
    )


def run_commands(work: Path, commands: list[list[str]]) -> None:
    """Run commands in this process and print of each what came of it."""
    from noren.cli import run

    for words in commands:
        before = digests(work)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = run(words)
        files = [f"  wrote {name} {digest}\n" for name, digest in digests(work).items() if before.get(name) != digest]
        output = (
            "" if "--out" in words and "simulate" in words else printed.getvalue()
        )  # its board hangs on random names
        print(f"$ noren {' '.join(words)}\nexit {code}\n{output}{''.join(files)}", flush=True)


def digests(work: Path) -> dict[str, str]:
    """Return digests of files by name; of what holds moments, keys or random salts the name alone."""
    result = {}
    for path in sorted(work.rglob("*")):
        name = str(path.relative_to(work))
        if not path.is_file() or name.startswith(("home/", "arena/", "studio/", "explored/kept")):
            continue
        moving = "secret" in name or path.suffix in {".zip", ".html", ".docx", ".sqlite"}
        text = "" if moving else steady(path.read_text(encoding="utf-8", errors="replace"), work)
        result[name] = "-" if moving else hashlib.sha256(text.encode()).hexdigest()[:16]
    return result


class Recorder:
    """The program of one source tree, what it did, and the folder that it did it in."""

    def __init__(self, source: Path, out: Path, work: Path) -> None:
        self.out, self.work = out, work
        home = work / "home"
        home.mkdir(parents=True)
        self.environment = {
            **os.environ, "PYTHONPATH": str(source), "COLUMNS": "160", "NOREN_LANG": "en", "HOME": str(home),
            "XDG_CONFIG_HOME": str(home), "NOREN_STUDIO_PASSWORD": PASSWORD, "TERM": "dumb",
        }  # fmt: skip

    def call(self, *commands: Sequence[str], lang: str = "en") -> str:
        """Run commands in one process; return exit codes, what was printed, and digests of the files written."""
        done = subprocess.run(
            [sys.executable, __file__, "run", str(self.work)], cwd=self.work, capture_output=True, text=True,
            env={**self.environment, "NOREN_LANG": lang}, input=json.dumps(commands), check=False,
        )  # fmt: skip
        return done.stdout if done.returncode == 0 else done.stdout + done.stderr

    def write(self, name: str, text: str) -> None:
        """Keep a text of the record."""
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / name).write_text(steady(text, self.work), encoding="utf-8")
        print(f"{name}: {len(text.splitlines()):,} lines", file=sys.stderr)

    # --- commands ----------------------------------------------------------------------------------------------------

    def make_data(self) -> None:
        """Write a contest's purchases, a shop's with names and blanks, and a table of people."""
        sample = ("sample", "--seed", "7", "--out")
        contest = ("--customers", "20", "--rows", "240", "--items", "40", "--schema", "pwscup2018")
        self.call((*sample, "T.csv", *contest), (*sample, "people.csv", "--kind", "people", "--rows", "240"))
        lines = ["Client,Client Name,Order Date,Product,Amount"]
        for row in range(300):
            client, day = row * row % 23, 1 + row * 7 % 28
            amount = "" if row % 41 == 0 else f"{(row * 13 % 97) + 0.5:.2f}"
            lines.append(
                f"C{client:03},Ann Bell {client},2025-{1 + row % 6:02}-{day:02},thing {row * 11 % 17},{amount}"
            )
        (self.work / "chain.toml").write_text('[[step]]\nmethod = "monthly-pseudonyms"\n', encoding="utf-8")
        (self.work / "shop.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def record_help(self) -> None:
        """Record the help of every command and group, as the help of its group lists them."""
        for lang in ("en", "ja"):
            groups: list[tuple[str, ...]] = [()]
            texts: list[str] = []
            while groups:  # one level after the other
                texts.append(self.call(*[(*words, "--help") for words in groups], lang=lang))
                groups = [
                    (*words, name)
                    for words, text in zip(groups, texts[-1].split("$ noren ")[1:], strict=True)
                    for name in re.findall(
                        r"(?m)^│ ([a-z][a-z-]*) ", re.split(r"─ (?:Commands|コマンド) ─", f"{text}")[-1]
                    )
                    if re.search(r"─ (?:Commands|コマンド) ─", text)
                ]
            self.write(f"help-{lang}.txt", "".join(texts))

    def record_commands(self) -> None:
        """Record what the commands print and write."""
        self.write("commands.txt", self.call(*[line.split() for line in COMMANDS]))
        with contextlib.suppress(FileNotFoundError), zipfile.ZipFile(self.work / "cup.zip") as archive:
            names = [name for name in archive.namelist() if name.endswith(".jsonl")]
            log = "".join(archive.read(name).decode() for name in names)
            entries = [json.loads(line) for line in log.splitlines()]
            # who attacks whom hangs on random names: what kinds of entries there are, and what stands in them
            shapes = {f"{entry.get('kind')} {json.dumps(shape_of(entry), sort_keys=True)}" for entry in entries}
            self.write("contest-log.txt", "\n".join(sorted(shapes)))
        for name in ("report.html", "people.html"):
            if (self.work / name).exists():
                self.write(f"{name}.txt", visible((self.work / name).read_text(encoding="utf-8")))

    def record_releases(self) -> None:
        """Record the public part and the statement of a release by every method, for each seed and data set."""
        listed = subprocess.run(
            [sys.executable, "-m", "noren", "methods", "--json"], env=self.environment, capture_output=True, check=True
        )
        names = [method["name"] for method in json.loads(listed.stdout)["methods"]]
        commands = [
            ["protect", *data, "--method", method, *METHODS.get(method, []), "--seed", seed,
             "--out", f"releases/{kind}-{method}-{seed}", "--json"]
            for kind, data in DATA.items() for method in names for seed in SEEDS
        ]  # fmt: skip
        self.write("releases.txt", self.call(*commands))

    # --- servers -----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def served(self, *words: str) -> Iterator[tuple[str, list[str]]]:
        """Run a server on a free port; give its address and the lines it printed until it answered."""
        command = [sys.executable, "-m", "noren", *words, "--port", "0", "--no-open"]
        with subprocess.Popen(
            command, cwd=self.work, env=self.environment, stderr=subprocess.PIPE, text=True
        ) as server:
            assert server.stderr is not None  # noqa: S101 - for the type checker
            lines: list[str] = []
            try:
                for line in server.stderr:
                    lines.append(line)
                    if match := re.search(r"http://127\.0\.0\.1:\d+", line):
                        break
                else:
                    raise SystemExit("".join(lines))
                for _again in range(600):
                    with contextlib.suppress(httpx.TransportError):
                        httpx.get(f"{match[0]}/healthz", timeout=5)
                        break
                    time.sleep(0.1)
                os.set_blocking(server.stderr.fileno(), False)
                lines += server.stderr.readlines()
                yield match[0], lines
            finally:
                server.terminate()

    def record_studio(self) -> None:
        """Record the studio: its description, routes by role, and its pages in both languages."""
        roles = {"ann": "steward", "rob": "reviewer", "rea": "reader"}
        added = [["studio", "user", "add", who, "--role", roles[who], "--data-dir", "studio"] for who in roles]
        self.call(*added)
        with self.served("studio", "--data-dir", "studio", "--no-samples") as (address, _lines):
            people = {"nobody": client(address)}
            for login in roles:
                people[login] = client(address)
                token = re.findall(r'name="csrf" value="([^"]+)"', people[login].get("/login").text)
                people[login].post("/login", data={"login": login, "password": PASSWORD, "csrf": token[0]})
            self._routes("studio", people)
            project = make_project(people["ann"], self.work / "shop.csv")
            for lang in ("en", "ja"):
                self.write(f"studio-pages-{lang}.txt", pages(people["ann"], f"/projects/{project}/data", lang))

    def record_arena(self) -> None:
        """Record the arena: its description, routes by role, and the pages of the contest that was simulated."""
        with self.served("contest", "serve", "--data-dir", "arena", "--no-work") as (address, lines):
            code = re.search(r"\b[a-z2-9]{12}\b", "".join(lines).replace(address, ""))
            people = {"nobody": client(address)}
            for login in ("org", "mia"):
                person = people[login] = client(address)
                token = {"X-CSRF-Token": person.get("/api/v1/session").json()["csrf"], "Origin": address}
                body = {"login": login, "name": login, "password": PASSWORD}
                body["code"] = code[0] if code and login == "org" else ""
                person.post("/api/v1/accounts", json=body, headers=token)
            self._routes("arena", people)
            for lang in ("en", "ja"):
                self.write(f"arena-pages-{lang}.txt", pages(people["nobody"], "/", lang))

    def _routes(self, name: str, people: dict[str, httpx.Client]) -> None:
        description = list(people.values())[1].get("/api/docs.json").json()
        self.write(f"{name}-openapi.json", json.dumps(description, indent=1, sort_keys=True))
        lines = []
        for path, operations in sorted(description["paths"].items()):
            for method in sorted(operations):
                if path.endswith("/session") and method != "get":
                    continue  # it would log somebody out
                address = re.sub(r"\{[^}]+\}", "aaaaaaaaaaa2", path)
                codes = [answer_code(person, method, address) for person in people.values()]
                lines.append(f"{method.upper():6} {path:70} {' '.join(map(str, codes))}")
        self.write(f"{name}-routes.txt", "\n".join([" ".join(people), *lines]))


def shape_of(value: Any) -> Any:
    """Return the fields of an entry of a log with the kinds of their values; lists by their first element."""
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape_of(item) for item in value[:1]]
    return type(value).__name__


def client(address: str) -> httpx.Client:
    """Return somebody who has a session of his or her own."""
    return httpx.Client(base_url=address, timeout=60, follow_redirects=True, headers={"Origin": address})


def answer_code(person: httpx.Client, method: str, path: str) -> int:
    """Return how the server answers an empty request for something that is not there."""
    token = person.get("/api/v1/session").json().get("csrf", "")
    body: dict[str, str] | None = None if method == "get" else {}
    answer = person.request(method, path, headers={"X-CSRF-Token": token}, follow_redirects=False, json=body)
    return answer.status_code


def make_project(person: httpx.Client, data: Path) -> str:
    """Upload data, protect them once with a fixed seed, wait for both, and return the project's identifier."""
    token = {"X-CSRF-Token": person.get("/api/v1/session").json()["csrf"]}
    project = person.post("/api/v1/projects", json={"name": "Shop"}, headers=token).json()["id"]
    job = person.put(
        f"/api/v1/projects/{project}/file", params={"name": data.name}, content=data.read_bytes(), headers=token
    ).json()
    wait_for(person, job["id"])
    order = {"steps": [{"method": "generalize-by-count", "parameters": {"k": 3}}], "seed": 1}
    run = person.post(f"/api/v1/projects/{project}/runs", json=order, headers=token).json()
    wait_for(person, run["id"])
    return str(project)


def wait_for(person: httpx.Client, job: str) -> None:
    """Wait until a job is over."""
    for _again in range(1200):
        if person.get(f"/api/v1/jobs/{job}").json().get("state") not in {"waiting", "running", "queued"}:
            return
        time.sleep(0.1)
    raise SystemExit(f"job {job} did not end")


def pages(person: httpx.Client, start: str, lang: str) -> str:
    """Return the texts of the pages that can be reached by links from one of them, in the order in which they come."""
    waiting, known = [start], {start}
    texts: list[str] = []
    while waiting and len(texts) < 60:
        path = waiting.pop(0)
        answer = person.get(path, headers={"Accept-Language": lang, "Accept": "text/html"})
        if "text/html" not in answer.headers.get("content-type", ""):
            texts.append(f"== {path}: {answer.status_code} {answer.headers.get('content-type')}")
            continue
        texts.append(f"== {path}: {answer.status_code}\n{visible(answer.text)}")
        for link in re.findall(r'href="(/[^"#?]*)', answer.text):
            if link not in known and not link.startswith(("/static", "/language", "/logout", "/api")):
                known.add(link)
                waiting.append(link)
    return "\n\n".join(texts)


PARTS = ("help", "releases", "commands", "studio", "arena")


def record(source: Path, out: Path, parts: list[str]) -> None:
    """Write the record of a source tree."""
    with tempfile.TemporaryDirectory(prefix="noren-same-") as name:
        recorder = Recorder(source, out, Path(name).resolve())
        recorder.make_data()
        for part in parts:
            getattr(recorder, f"record_{part}")()


def against(commit: str, parts: list[str], out: Path) -> int:
    """Record a commit and the working tree, print the differences, and return how many files differ."""
    with tempfile.TemporaryDirectory(prefix="noren-tree-") as name:
        subprocess.run(["git", "worktree", "add", "--detach", name, commit], cwd=ROOT, check=True, capture_output=True)
        try:
            record(Path(name) / "src", out / "before", parts)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", name], cwd=ROOT, check=True)
    record(ROOT / "src", out / "after", parts)
    differing = 0
    for name in sorted({path.name for side in ("before", "after") for path in (out / side).iterdir()}):
        paths = [out / side / name for side in ("before", "after")]
        before, after = [path.read_text(encoding="utf-8").splitlines() if path.exists() else [] for path in paths]
        lines = list(difflib.unified_diff(before, after, f"before/{name}", f"after/{name}", lineterm="", n=1))
        differing += bool(lines)
        print("\n".join(lines[:200]))
    print(f"{differing} files differ")
    return differing


def main() -> None:
    """Run what the words of the command line say."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument(
        "act", choices=["write", "against", "run"], help="run: the commands of standard input, in a folder"
    )
    words.add_argument("what", help="a folder to write, or the commit to compare with")
    words.add_argument("--parts", default=",".join(PARTS), help="some of the parts, separated by commas")
    words.add_argument("--out", type=Path, help="where against keeps both records; a temporary folder if not given")
    chosen = words.parse_args()
    parts = chosen.parts.split(",")
    if chosen.act == "run":
        run_commands(Path(chosen.what), json.load(sys.stdin))
        return
    if chosen.act == "write":
        record(ROOT / "src", Path(chosen.what), parts)
        return
    with contextlib.ExitStack() as opened:
        out = chosen.out or Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="noren-record-")))
        sys.exit(1 if against(chosen.what, parts, out) else 0)


if __name__ == "__main__":
    main()
