"""docs/ci.md is true: its examples, the hooks and the action are tried in a scratch repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema.validators import validator_for

from tests.cli.command import CORPUS, ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION = ROOT / ".github" / "actions" / "shardproof"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
BROKEN = ("part = rows // ranks", "part = rows // ranks or 1")
"""Makes the constructor of the page wrong where no rank gets a row."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


PLANS, TESTS = blocks("python")
PRE_COMMIT, WORKFLOW = blocks("yaml")


@dataclass(frozen=True)
class Scratch:
    """A git repository of somebody else."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )

    def git(self, *arguments: str) -> None:
        ran = self.run("git", *arguments)
        assert ran.returncode == 0, ran.stderr

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """It holds the constructor of the page, a right map, and a JSON file that is no map."""
    commands = Path(sys.executable).parent
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT", "PYTEST_"))},
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    folder = tmp_path / "repository"
    folder.mkdir()
    found = Scratch(folder, environment)
    found.git("init", "--quiet")
    found.write("plans.py", PLANS)
    found.write("maps/right.json", (CORPUS / "maps" / "four-block-fused-qkv-tp2.json").read_text())
    found.write("package.json", "{}")
    return found


def map_json(name: str) -> str:
    return (CORPUS / "maps" / f"{name}.json").read_text()


def wrong(scratch: Scratch) -> None:
    assert BROKEN[0] in PLANS
    scratch.write("plans.py", PLANS.replace(*BROKEN))


# pytest


def test_the_tests_of_the_page_pass_and_fail_with_the_message(scratch: Scratch) -> None:
    scratch.write("test_plans.py", TESTS)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    passed = scratch.run(*command)
    assert passed.returncode == 0, passed.stdout
    assert "2 passed" in passed.stdout
    wrong(scratch)
    failed = scratch.run(*command)
    assert failed.returncode == 1
    assert "error[SM601] fails-at-size: cut_rows makes a wrong map at rows=0, ranks=1" in failed.stdout
    assert "1 failed, 1 passed" in failed.stdout


# pre-commit


def local_config() -> str:
    """The configuration of the page, with the hooks as they stand in the file, run from this environment."""
    hooks = {hook["id"]: hook for hook in yaml.safe_load(HOOKS.read_text(encoding="utf-8"))}
    document = yaml.safe_load(PRE_COMMIT)
    (repository,) = document["repos"]
    chosen = [{**hooks[one["id"]], **one, "language": "system"} for one in repository["hooks"]]
    return yaml.safe_dump({"repos": [{"repo": "local", "hooks": chosen}]})


def hooked(scratch: Scratch) -> dict[str, str]:
    """What pre-commit says of each hook for what is staged."""
    scratch.git("add", "--all")
    ran = scratch.run(sys.executable, "-m", "pre_commit", "run", "--color=never")
    said = re.findall(r"^(shardproof \w+)\.*(?:\(.*\))?(Passed|Failed|Skipped)$", ran.stdout, re.MULTILINE)
    assert (ran.returncode == 0) == ("Failed" not in dict(said).values()), ran.stdout + ran.stderr
    return {**dict(said), "output": ran.stdout}


def test_the_hooks_and_the_configuration_are_in_form(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(PRE_COMMIT)
    for command, file in (("validate-manifest", HOOKS), ("validate-config", config)):
        ran = subprocess.run(
            [sys.executable, "-m", "pre_commit", command, str(file)],
            capture_output=True,
            text=True,
            env={**os.environ, "PRE_COMMIT_HOME": str(tmp_path)},
            check=False,
        )
        assert ran.returncode == 0, ran.stdout


def test_hooks_run_on_what_is_staged(scratch: Scratch) -> None:
    scratch.write(".pre-commit-config.yaml", local_config())
    said = hooked(scratch)
    assert (said["shardproof audit"], said["shardproof gate"]) == ("Passed", "Passed"), said["output"]
    scratch.git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "-m", "right")

    scratch.write("maps/wrong.json", map_json("dest-collision-columns"))
    said = hooked(scratch)
    assert (said["shardproof audit"], said["shardproof gate"]) == ("Failed", "Skipped")
    assert "--> maps/wrong.json:12:53" in said["output"]
    assert "right.json" not in said["output"]  # only what changed
    scratch.git("rm", "--quiet", "--cached", "maps/wrong.json")
    (scratch.folder / "maps" / "wrong.json").unlink()

    wrong(scratch)
    said = hooked(scratch)
    assert (said["shardproof audit"], said["shardproof gate"]) == ("Skipped", "Failed")
    assert "--> plans.py:" in said["output"]


# GitHub


def schema_errors(document: Any, name: str) -> list[str]:
    text = files("check_jsonschema.builtin_schemas.vendor").joinpath(name).read_text(encoding="utf-8")
    schema = json.loads(text)
    return [error.message for error in validator_for(schema)(schema).iter_errors(document)]


def action() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    return document


def test_the_action_and_the_workflow_are_in_form() -> None:
    assert schema_errors(action(), "github-actions.json") == []
    workflow = yaml.safe_load(WORKFLOW)
    assert schema_errors(workflow, "github-workflows.json") == []
    (step,) = [step for step in workflow["jobs"]["layouts"]["steps"] if "/shardproof@" in step["uses"]]
    assert step["uses"].partition("@")[0].endswith(str(ACTION.relative_to(ROOT)))
    assert set(step["with"]) <= set(action()["inputs"])


def test_no_input_is_pasted_into_a_script() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step["run"]


@dataclass(frozen=True)
class Acted:
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


def acted(scratch: Scratch, **given: str) -> Acted:
    """The steps of the action, each by its shell, as the runner does it; pip is only told what to install."""
    inputs = {name: str(one.get("default", "")) for name, one in action()["inputs"].items()} | given
    scratch.write("../bin/python", '#!/bin/sh\necho "python $*"\n')
    (scratch.folder / "../bin/python").chmod(0o755)
    for name in ("output", "summary"):
        scratch.write(f"../{name}", "")
    runner = {
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_WORKSPACE": str(scratch.folder),
        "GITHUB_OUTPUT": str(scratch.folder.parent / "output"),
        "GITHUB_STEP_SUMMARY": str(scratch.folder.parent / "summary"),
    }
    log, code = "", 0
    for step in action()["runs"]["steps"]:
        if "if" in step:
            assert step["if"] == "${{ inputs.install != 'none' }}"
            if inputs["install"] == "none":
                continue
        environment = {**scratch.environment, **runner}
        for name, value in step["env"].items():
            (expression,) = re.findall(r"^\$\{\{ inputs\.(\w+) \}\}$", value)
            environment[name] = inputs[expression]
        scratch.write("../script", step["run"])
        script = str(scratch.folder.parent / "script")
        if step["shell"] == "bash":
            environment["PATH"] = f"{scratch.folder.parent / 'bin'}{os.pathsep}{environment['PATH']}"
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", script]
        else:
            command = [sys.executable, script]
        ran = Scratch(scratch.folder, environment).run(*command)
        log, code = log + ran.stdout + ran.stderr, ran.returncode
        if code:
            break
    outputs = dict(line.split("=", 1) for line in scratch.read("../output").splitlines())
    return Acted(code, log, outputs, scratch.read("../summary"))


def page_inputs() -> dict[str, str]:
    steps = yaml.safe_load(WORKFLOW)["jobs"]["layouts"]["steps"]
    (inputs,) = [step["with"] for step in steps if "/shardproof@" in step["uses"]]
    return dict(inputs)


def test_the_step_of_the_page_gates_the_constructor(scratch: Scratch) -> None:
    right = acted(scratch, **page_inputs(), install="none")
    assert (right.code, right.outputs) == (0, {"exit-code": "0"}), right.log
    assert right.log.startswith("::notice title=shardproof::proved: 1 constructor")
    assert "    proved: 1 constructor" in right.summary
    wrong(scratch)
    failed = acted(scratch, **page_inputs(), install="none", junit="gate.xml")
    assert (failed.code, failed.outputs) == (1, {"exit-code": "1"})
    assert re.match(r"::error file=plans\.py,line=\d+,col=5,title=SM601 fails-at-size::", failed.log)
    assert "    error[SM601] fails-at-size" in failed.summary
    (run,) = json.loads(scratch.read("gate.sarif"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["SM601"]
    assert 'failures="1"' in scratch.read("gate.xml")


def test_the_action_audits_what_wildcards_name(scratch: Scratch) -> None:
    scratch.write("maps/deeper/a map.json", map_json("dest-collision-columns"))
    found = acted(scratch, run='audit "maps/**/*.json"', install="none")
    assert found.code == 1
    assert "file=maps/deeper/a map.json,line=12" in found.log
    assert "checked 2 maps" in found.log


def test_the_action_says_when_it_could_not_run(scratch: Scratch) -> None:
    found = acted(scratch, run="gate plans.py:cut_rows --shape 8,2", install="none")
    assert (found.code, found.outputs) == (2, {"exit-code": "2"})
    assert "::error title=shardproof::could not run" in found.log
    assert found.summary == ""


def test_the_action_annotates_a_constructor_that_is_not_there(scratch: Scratch) -> None:
    found = acted(scratch, run="gate plans.py:nothing", install="none", sarif="gate.sarif")
    assert (found.code, found.outputs) == (2, {"exit-code": "2"})
    assert "::error file=plans.py,title=SM606 not-gated::plans.py:nothing: plans.py has no" in found.log
    assert "error[SM606] not-gated" in found.summary
    (run,) = json.loads(scratch.read("gate.sarif"))["runs"]
    assert run["invocations"][0]["exitCode"] == 2


def test_the_action_installs_its_own_release_unless_told_otherwise(scratch: Scratch) -> None:
    own = acted(scratch, run="audit maps/right.json")
    assert f"python -m pip install --quiet {ACTION}/../../..\n" in own.log
    assert (ACTION / "../../.." / "pyproject.toml").is_file()
    other = acted(scratch, run="audit maps/right.json", install="shardproof==0.1.0")
    assert "python -m pip install --quiet shardproof==0.1.0\n" in other.log


def test_no_test_forgets_modules() -> None:
    """What is imported while all modules are patched is imported again afterwards: two classes of a name."""
    forgets = "patch.dict(" + "sys.modules"
    found = [path for path in (ROOT / "tests").rglob("*.py") if forgets in path.read_text(encoding="utf-8")]
    assert not found
