"""The files in deploy/ name commands, flags, ports and sizes that exist."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.docs.commands import complaints

from noren.contest.state import ContestSettings
from noren.contest.store.encryption import ENVIRONMENT

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ROOT = DEPLOY.parent
UNITS = ("noren-contest.service", "noren-contest-work@.service")
PORT = "8322"
# of systemd.unit, systemd.service, systemd.exec and systemd.resource-control, those that we use
SYSTEMD = {
    "Unit": {"Description", "After", "Wants"},
    "Service": {
        "User", "Group", "EnvironmentFile", "Environment", "StateDirectory", "StateDirectoryMode", "CacheDirectory",
        "ExecStart", "Restart", "RestartSec", "TimeoutStopSec", "UMask", "NoNewPrivileges", "PrivateDevices",
        "PrivateTmp", "ProtectSystem", "ProtectHome", "ProtectControlGroups", "ProtectKernelModules",
        "ProtectKernelTunables", "RestrictAddressFamilies", "RestrictSUIDSGID", "LockPersonality", "LimitNOFILE",
    },
    "Install": {"WantedBy"},
}  # fmt: skip


def text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def compose() -> dict[str, Any]:
    found = yaml.safe_load(text("compose.yaml"))
    assert isinstance(found, dict)
    return found


def instructions(name: str = "Dockerfile") -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", text(name))
    lines = [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def unit_of(name: str) -> dict[str, list[tuple[str, str]]]:
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in text(name).splitlines():
        if line.startswith("["):
            sections[line.strip("[]")] = inside = []
        elif line.strip() and not line.startswith("#"):
            key, equals, value = line.partition("=")
            assert equals, line
            inside.append((key, value))
    return sections


def command_of_unit(name: str) -> list[str]:
    (start,) = (value for key, value in unit_of(name)["Service"] if key == "ExecStart")
    program, *rest = shlex.split(start)
    return [Path(program).name, *rest]


def commands() -> dict[str, list[str]]:
    """Every command of ours that the files start."""
    asked = dict(instructions())
    entry = json.loads(asked["ENTRYPOINT"])
    found = {"Dockerfile": [*entry, *json.loads(asked["CMD"])]}
    for name, service in compose()["services"].items():
        if service.get("image") == "noren":
            found[f"compose.yaml {name}"] = [*entry, *service["command"]]
    return found | {name: command_of_unit(name) for name in UNITS}


@pytest.mark.parametrize("place", commands())
def test_commands_and_flags_exist(place: str) -> None:
    words = commands()[place]
    assert words[:2] == ["noren", "contest"]
    assert complaints(words) == []


def test_the_check_can_fail() -> None:
    assert complaints(["noren", "contest", "serve", "--no-such-flag"]) != []
    assert complaints(["noren", "contest", "sevre"]) != []


@pytest.mark.parametrize("name", UNITS)
def test_units_of_systemd_have_keys_that_it_knows(name: str) -> None:
    found = unit_of(name)
    assert set(found) == set(SYSTEMD)
    for section, lines in found.items():
        assert {key for key, _value in lines} <= SYSTEMD[section]
        keys = [key for key, _value in lines]
        assert len(keys) == len(set(keys))


def test_variables_of_units_are_in_the_file_that_they_read() -> None:
    known = set(re.findall(r"^(\w+)=", text("contest.env.example"), flags=re.MULTILINE))
    for name in UNITS:
        assert set(re.findall(r"\$\{(\w+)\}", text(name))) <= known
    assert ENVIRONMENT in known


def test_variables_of_compose_are_in_its_file() -> None:
    known = set(re.findall(r"^(\w+)=", text("arena.env.example"), flags=re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+)", text("compose.yaml"))) == known
    assert ENVIRONMENT in known


def test_a_real_server_is_behind_tls_and_never_a_rehearsal() -> None:
    for place, words in commands().items():
        assert "--rehearsal" not in words
        if "serve" in words and place != "Dockerfile":
            assert "--https" in words
            assert any(word.startswith("--proxy") for word in words)
            assert any(word.startswith("--allow-host") for word in words)


def test_the_proxy_that_is_believed_is_the_one_that_is_there() -> None:
    found = compose()
    (subnet,) = (one["subnet"] for one in found["networks"]["outside"]["ipam"]["config"])
    assert f"--proxy={subnet}" in found["services"]["server"]["command"]
    # who is on that network is believed, so the proxy is alone there with the server
    assert [name for name, one in found["services"].items() if "outside" in one.get("networks", ())] == [
        "server",
        "proxy",
    ]


def test_services_of_compose_hang_together() -> None:
    found = compose()
    services = found["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        assert set(service["networks"]) <= set(found["networks"])
        named = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        assert {name for name in named if not name.startswith(".")} <= set(found["volumes"])
        assert all((DEPLOY / name).exists() for name in named if name.startswith("."))
    for needed in (one for service in services.values() for one in service.get("depends_on", {})):
        assert "healthcheck" in services[needed]
    (address,) = {word for one in services.values() for word in one.get("command", ()) if "--database" in word}
    assert address == "--database=postgresql+psycopg://noren@database/arena"
    assert (DEPLOY / services["server"]["build"]["context"] / services["server"]["build"]["dockerfile"]).is_file()


def test_the_image_copies_what_there_is_and_is_sent() -> None:
    ignored = text("Dockerfile.dockerignore").splitlines()
    for kind, said in instructions():
        assert kind in {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
        if kind == "COPY" and "--from" not in said:
            for name in said.split()[:-1]:
                assert (ROOT / name).exists(), name
                assert f"!{name}" in ignored, name
    stages = [said for kind, said in instructions() if kind == "FROM"]
    (python,) = {re.match(r"python:(3\.\d+)", said)[1] for said in stages}  # type: ignore[index]
    assert f"Python :: {python}" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_ports_agree() -> None:
    assert dict(instructions())["EXPOSE"] == PORT
    assert f"127.0.0.1:{PORT}" in text("nginx.conf")
    assert f"127.0.0.1:{PORT}" in text("Caddyfile")
    assert compose()["services"]["proxy"]["environment"]["ARENA_SERVER"] == f"server:{PORT}"


def test_proxies_let_the_largest_file_through_and_not_much_more() -> None:
    largest = ContestSettings().largest_file
    (nginx,) = re.findall(r"client_max_body_size (\d+)m;", text("nginx.conf"))
    (caddy,) = re.findall(r"max_size (\d+)MB", text("Caddyfile"))
    assert largest < int(nginx) * 2**20 < 2 * largest
    assert largest < int(caddy) * 10**6 < 2 * largest


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_blocks_are_closed(name: str) -> None:
    depth = 0
    for line in text(name).splitlines():
        said = re.sub(r"\{\$[^}]*\}", "", line.partition("#")[0])
        depth += said.count("{") - said.count("}")
        assert depth >= 0
        if name == "nginx.conf" and said.strip():
            assert said.strip()[-1] in "{};", line
    assert depth == 0


def test_a_client_cannot_say_who_it_is_through_nginx() -> None:
    assert "X-Forwarded-For $remote_addr;" in text("nginx.conf")
    assert "$proxy_add_x_forwarded_for" not in text("nginx.conf")
