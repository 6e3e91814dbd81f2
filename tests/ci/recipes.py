#!/usr/bin/env python3
"""recipes.py: does with the CI recipes what their runners do, as far as one file can.

    recipes.py action ACTION_YML EVENT_JSON [INPUT=VALUE...]    runs a composite action, prints its outputs
    recipes.py gitlab FILE JOB [VARIABLE=VALUE...]              runs a job's scripts
    recipes.py hook FILE ID FILENAME...                         runs a pre-commit hook

Each runs in the current directory. Exit status: of the first step that fails; 77 without a YAML parser.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def evaluate(expression, contexts):
    """Alternatives of dotted names, which is all of the expression language that the action uses."""
    for name in expression.split("||"):
        value = contexts
        for part in name.strip().split("."):
            if not re.fullmatch(r"[A-Za-z_][\w-]*", part):
                sys.exit(f"this is no dotted name: {name}")
            value = value.get(part) if isinstance(value, dict) else None
        if value:
            return str(value)
    return ""


def substitute(text, contexts):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda match: evaluate(match[1], contexts), str(text))


def read_outputs(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file)


def action(path, event_path, *inputs):
    document = load(path)
    if document["runs"]["using"] != "composite":
        sys.exit("the action is not composite")
    values = {name: entry.get("default", "") for name, entry in document["inputs"].items()}
    for pair in inputs:
        name, value = pair.split("=", 1)
        if name not in values:
            sys.exit(f"the action has no input {name}")
        values[name] = value
    with open(event_path, encoding="utf-8") as file:
        github = {"action_path": os.path.dirname(os.path.abspath(path)), "event": json.load(file)}
    contexts = {"inputs": values, "github": github, "steps": {}}
    for step in document["runs"]["steps"]:
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as script, tempfile.NamedTemporaryFile() as out:
            script.write(substitute(step["run"], contexts))
            script.flush()
            environment = {key: substitute(value, contexts) for key, value in step.get("env", {}).items()}
            environment["GITHUB_OUTPUT"] = out.name
            if step["shell"] != "bash":
                sys.exit("a step of a composite action has its shell")
            command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", script.name]
            status = subprocess.run(command, env={**os.environ, **environment}, check=False).returncode
            contexts["steps"][step["id"]] = {"outputs": read_outputs(out.name)}
        if status != 0:
            break
    for name, entry in document["outputs"].items():
        print(f"{name}={substitute(entry['value'], contexts)}", flush=True)
    sys.exit(status)


def gitlab(path, job_name, *variables):
    job = load(path)[job_name]
    given = dict(pair.split("=", 1) for pair in variables)
    environment = {**os.environ, **given}
    for name, value in job["variables"].items():
        environment.setdefault(name, re.sub(r"\$(\w+)", lambda match: environment.get(match[1], ""), value))
    script = "\n".join(job["before_script"] + job["script"])
    status = subprocess.run(["bash", "-eo", "pipefail", "-c", script], env=environment, check=False).returncode
    reports = job["artifacts"]["reports"]
    print(f"junit={reports['junit']}\ncodequality={reports['codequality']}", flush=True)
    sys.exit(status)


def hook(path, identity, *filenames):
    found = [entry for entry in load(path) if entry["id"] == identity]
    if len(found) != 1:
        sys.exit(f"there are {len(found)} hooks {identity}")
    entry = found[0]["entry"].split()
    if found[0]["language"] == "script":
        entry[0] = os.path.join(os.path.dirname(os.path.abspath(path)), entry[0])
    chosen = [name for name in filenames if re.search(found[0]["files"], name)]
    sys.exit(subprocess.run(entry + chosen, check=False).returncode if chosen else 0)


if __name__ == "__main__":
    {"action": action, "gitlab": gitlab, "hook": hook}[sys.argv[1]](*sys.argv[2:])
