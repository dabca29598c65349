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
from noren.web.guard import OPEN_TO_ALL
from noren.web.settings import LARGEST_UPLOAD

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
ROOT = DEPLOY.parent
UNITS = ("noren-contest.service", "noren-contest-work@.service", "noren-studio.service")
COMPOSED = {"compose.yaml": ("server", "8322"), "compose.studio.yaml": ("studio", "8321")}
"""Each with the service that the proxy leads to, and its port."""
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


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    found = yaml.safe_load(text(name))
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
    for file in COMPOSED:
        for name, service in compose(file)["services"].items():
            if service.get("image") == "noren":
                found[f"{file} {name}"] = [*entry, *service["command"]]
    return found | {name: command_of_unit(name) for name in UNITS}


@pytest.mark.parametrize("place", commands())
def test_commands_and_flags_exist(place: str) -> None:
    words = commands()[place]
    assert words[:2] == ["noren", "studio" if "studio" in place else "contest"]
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
    for name in UNITS:
        (file,) = (value for key, value in unit_of(name)["Service"] if key == "EnvironmentFile")
        known = set(re.findall(r"^(\w+)=", text(f"{Path(file).name}.example"), flags=re.MULTILINE))
        assert set(re.findall(r"\$\{(\w+)\}", text(name))) <= known
        assert (ENVIRONMENT in known) == ("contest" in name)


@pytest.mark.parametrize(("name", "file"), [("compose.yaml", "arena.env"), ("compose.studio.yaml", "studio.env")])
def test_variables_of_compose_are_in_its_file(name: str, file: str) -> None:
    known = set(re.findall(r"^(\w+)=", text(f"{file}.example"), flags=re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+)", text(name))) == known
    assert (ENVIRONMENT in known) == (file == "arena.env")


def test_a_real_server_is_behind_tls_and_never_a_rehearsal() -> None:
    for place, words in commands().items():
        assert "--rehearsal" not in words
        if ("serve" in words or "studio" in words) and place != "Dockerfile":
            assert "--https" in words
            assert any(word.startswith("--proxy") for word in words)
            assert any(word.startswith("--allow-host") for word in words)


@pytest.mark.parametrize("name", COMPOSED)
def test_the_proxy_that_is_believed_is_the_one_that_is_there(name: str) -> None:
    found, (server, _port) = compose(name), COMPOSED[name]
    (subnet,) = (one["subnet"] for one in found["networks"]["outside"]["ipam"]["config"])
    assert f"--proxy={subnet}" in found["services"][server]["command"]
    # who is on that network is believed, so the proxy is alone there with the server
    there = [name for name, one in found["services"].items() if "outside" in one.get("networks", ())]
    assert there == [server, "proxy"]


@pytest.mark.parametrize("name", COMPOSED)
def test_services_of_compose_hang_together(name: str) -> None:
    found, (server, port) = compose(name), COMPOSED[name]
    services = found["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        assert set(service["networks"]) <= set(found["networks"])
        named = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        assert {name for name in named if not name.startswith(".")} <= set(found["volumes"])
        assert all((DEPLOY / name).exists() for name in named if name.startswith("."))
    for needed in (one for service in services.values() for one in service.get("depends_on", {})):
        assert "healthcheck" in services[needed]
    addresses = {word for one in services.values() for word in one.get("command", ()) if "--database" in word}
    assert addresses == ({"--database=postgresql+psycopg://noren@database/arena"} if server == "server" else set())
    assert (DEPLOY / services[server]["build"]["context"] / services[server]["build"]["dockerfile"]).is_file()
    assert f"http://127.0.0.1:{port}/healthz" in services[server]["healthcheck"]["test"][-1]
    assert "/healthz" in OPEN_TO_ALL
    compile(services[server]["healthcheck"]["test"][-1], "healthcheck", "exec")


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
    arena, studio = (port for _server, port in COMPOSED.values())
    assert dict(instructions())["EXPOSE"].split() == [studio, arena]
    assert f"127.0.0.1:{arena}" in text("nginx.conf")
    assert f"127.0.0.1:{arena}" in text("Caddyfile")
    for name, (server, port) in COMPOSED.items():
        assert compose(name)["services"]["proxy"]["environment"]["NOREN_SERVER"] == f"{server}:{port}"


def test_proxies_let_the_largest_file_through_and_not_much_more() -> None:
    largest = ContestSettings().largest_file
    (nginx,) = re.findall(r"client_max_body_size (\d+)m;", text("nginx.conf"))
    (caddy,) = re.findall(r"max_size \{\$NOREN_LARGEST:(\d+)MB\}", text("Caddyfile"))
    assert largest < int(nginx) * 2**20 < 2 * largest
    assert largest < int(caddy) * 10**6 < 2 * largest
    studio = compose("compose.studio.yaml")["services"]["proxy"]["environment"]["NOREN_LARGEST"]
    assert LARGEST_UPLOAD < int(studio.removesuffix("MB")) * 10**6 < 2 * LARGEST_UPLOAD


def test_proxies_log_no_addresses() -> None:
    assert "access_log off;" in text("nginx.conf")
    assert not re.search(r"^\s*log\b", text("Caddyfile"), flags=re.MULTILINE)


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
