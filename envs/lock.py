"""`make lock`: solve requirements.in, write requirements.lock and the pins of core.yaml."""

import os
import re
import subprocess
from pathlib import Path

ENVS = Path(__file__).resolve().parent
ADDRESS = re.compile(r"://|^--(index|extra-index|find-links)", re.MULTILINE)

# Where requirements.in begins with what no job of a run needs.
END_OF_RUN_TIME = "# Tests and formatting."

# One solution for every supported Python (--universal, fewest forks), and nothing in the file that
# depends on who made it: no header with the command, no comments, no index address.
COMPILE = (
    *("pip", "compile", "--quiet", "--universal", "--fork-strategy", "fewest"),
    *("--python-version", "3.11", "--no-header", "--no-annotate"),
)


def solve(uv: str, *words: str, asked: str | None = None) -> str:
    """Run uv and return what it has solved; ``asked`` is its standard input."""
    text = subprocess.run(
        # The project's [tool.uv] names the machines the lock is for.
        [uv, "--project", str(ENVS.parent), *COMPILE, *words],
        cwd=ENVS,
        check=True,
        text=True,
        input=asked,
        stdout=subprocess.PIPE,
    ).stdout
    # Every line carries the condition that the lock was solved for (Linux, CPython). Left in, pip
    # elsewhere would install nothing and call that a success.
    text = re.sub(r" ; implementation_name == 'cpython' and sys_platform == 'linux'", "", text)
    if found := ADDRESS.search(text):
        raise SystemExit(f"requirements.lock would hold an address near {found.group()!r}")
    return text


def run_time(requirements: str) -> str:
    """The part of requirements.in that the jobs of a run need."""
    before, mark, _ = requirements.partition(END_OF_RUN_TIME)
    if not mark:
        raise SystemExit(f"requirements.in: no line {END_OF_RUN_TIME!r}")
    return before


def pins(lock: str) -> dict[str, str]:
    """Versions by normalised name, from the text of a lock."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, flags=re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def with_pins(environment: str, versions: dict[str, str]) -> str:
    """Replace what pip installs in a conda environment file, the end of it, by these pins."""
    head, mark, _ = environment.partition("  - pip:\n")
    return head + mark + "".join(f"      - {name}=={versions[name]}\n" for name in sorted(versions))


def main() -> None:
    uv = os.environ.get("UV", "uv")
    lock = ENVS / "requirements.lock"
    lock.write_text(solve(uv, "--generate-hashes", "requirements.in"), encoding="utf-8")
    asked = run_time((ENVS / "requirements.in").read_text(encoding="utf-8"))
    needed = pins(solve(uv, "--constraint", lock.name, "-", asked=asked))
    core = ENVS / "core.yaml"
    core.write_text(with_pins(core.read_text(encoding="utf-8"), needed), encoding="utf-8")
    locked = len(pins(lock.read_text(encoding="utf-8")))
    print(f"envs/requirements.lock: {locked} packages; envs/core.yaml: {len(needed)} of them")


if __name__ == "__main__":
    main()
