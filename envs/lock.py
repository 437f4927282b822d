"""`make lock`: solve requirements.in, write requirements.lock and the equal pins of core.yaml."""

import os
import re
import subprocess
from pathlib import Path

ENVS = Path(__file__).resolve().parent
ADDRESS = re.compile(r"://|^--(index|extra-index|find-links)", re.MULTILINE)

# One solution for every supported Python (--universal, fewest forks), and nothing in the file that
# depends on who made it: no header with the command, no comments, no index address.
COMPILE = (
    *("pip", "compile", "--quiet", "--universal", "--fork-strategy", "fewest"),
    *("--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate"),
    "requirements.in",
)


def solve(uv: str) -> str:
    """Run uv and return the text of the lock."""
    text = subprocess.run(
        # The project's [tool.uv] names the machines the lock is for.
        [uv, "--project", str(ENVS.parent), *COMPILE],
        cwd=ENVS,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout
    # Every line carries the condition that the lock was solved for (Linux, CPython). Left in, pip
    # elsewhere would install nothing and call that a success.
    text = re.sub(r" ; implementation_name == 'cpython' and sys_platform == 'linux'", "", text)
    if found := ADDRESS.search(text):
        raise SystemExit(f"requirements.lock would hold an address near {found.group()!r}")
    return text


def pins(lock: str) -> dict[str, str]:
    """Versions by normalised name, from the text of a lock."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", lock, flags=re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def repin(environment: str, versions: dict[str, str]) -> str:
    """Replace the version of every ``name==version`` in a conda environment file."""

    def pin(match: re.Match) -> str:
        return f"{match[1]}=={versions[re.sub(r'[-_.]+', '-', match[1]).lower()]}"

    return re.sub(r"(?<=- )([A-Za-z0-9._-]+)==\S+", pin, environment)


def main() -> None:
    lock = solve(os.environ.get("UV", "uv"))
    (ENVS / "requirements.lock").write_text(lock, encoding="utf-8")
    core = ENVS / "core.yaml"
    core.write_text(repin(core.read_text(encoding="utf-8"), pins(lock)), encoding="utf-8")
    print(f"envs/requirements.lock: {len(pins(lock))} packages; envs/core.yaml has the same pins")


if __name__ == "__main__":
    main()
