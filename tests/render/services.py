"""Readers of what services get: each counts findings its own way, from the rendered text alone."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from xml.etree import ElementTree

from tests.render.pages import read_page

LEFT_OUT = re.compile(r"(\d+) (?:is|are) left out of this page")
HEADING = re.compile(r"^(?:error|warning|undecided)\[", re.MULTILINE)
COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


@dataclass(frozen=True)
class Seen:
    """What a service makes of a run."""

    findings: int
    exit_code: int


@dataclass(frozen=True)
class Annotation:
    """A workflow command, decoded as the runner does it: the percent sign last."""

    level: str
    properties: dict[str, str]
    message: str


def annotations(text: str) -> list[Annotation]:
    """Every line has to be a command."""
    found = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        pairs = [pair.split("=", 1) for pair in match[2].split(",")]
        found.append(Annotation(match[1], {key: _property(value) for key, value in pairs}, _data(match[3])))
    return found


def _data(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def _property(text: str) -> str:
    return _data(text.replace("%3A", ":").replace("%2C", ","))


def github(text: str) -> Seen:
    *shown, notice = annotations(text)
    assert notice.level == "notice"
    left = sum(int(number) for number in re.findall(r"(\d+) more (?:error|warning)", notice.message))
    return Seen(len(shown) + left, int(notice.message.rpartition("exit code ")[2]))


def junit(text: str) -> Seen:
    root = ElementTree.fromstring(text)
    outputs = [found.text or "" for found in root.iter("system-out")]
    (code,) = [one.get("value") for one in root.iter("property") if one.get("name") == "exit-code"]
    return Seen(sum(len(HEADING.findall(output)) for output in outputs), int(code or "-1"))


def html(text: str) -> Seen:
    page = read_page(text)
    left = sum(map(int, LEFT_OUT.findall(page.text)))
    brief = sum(len(found.all("li")) for found in page.all("ul", "more"))
    (code,) = re.findall(r"^Exit code (\d+)\.", page.one("header").all("p")[1].text)
    return Seen(len(page.all("article")) + brief + left, int(code))


def sarif(text: str) -> Seen:
    (run,) = json.loads(text)["runs"]
    (invocation,) = run["invocations"]
    about_the_run = [one for one in invocation["toolExecutionNotifications"] if "descriptor" in one]
    return Seen(len(run["results"]) + len(about_the_run), invocation["exitCode"])
