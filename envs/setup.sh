#!/bin/sh
# `make setup`: create .venv from the lock, or do nothing when it is up to date (some milliseconds).
# Usage, from the project's folder: PYTHON=python3.12 envs/setup.sh
set -eu

# What .venv was made from. The folder is part of it: a moved .venv still points at the old one.
locked() {
    pwd
    sha256sum envs/requirements.lock
}
wanted() {
    locked
    sha256sum pyproject.toml
}
holds() {
    [ -f ".venv/$1" ] && [ "$($1)" = "$(cat ".venv/$1")" ] && is_usable .venv/bin/python
}

fail() {
    echo "setup: $*" >&2
    exit 1
}

is_usable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Whether .venv has the Python that was asked for, if one was.
is_of_python() {
    [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON")" = "$(version_of .venv/bin/python)" ]
}
version_of() {
    "$1" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null || echo none
}

pip() {
    .venv/bin/python -m pip --disable-pip-version-check --quiet "$@"
}

# The project adds nothing to the lock: even its build backend is in there.
install_project() {
    pip install --no-deps --no-build-isolation --editable .
    wanted >.venv/wanted
}

if [ -n "${PYTHON:-}" ]; then
    is_usable "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or newer. Name another one: make setup PYTHON=python3.12"
fi
if is_of_python && holds wanted; then
    exit 0
elif is_of_python && holds locked; then
    install_project
    exit 0
fi

if [ -z "${PYTHON:-}" ]; then
    for candidate in python3.11 python3.12 python3.13 python3; do
        if is_usable "$candidate"; then
            PYTHON=$candidate
            break
        fi
    done
    [ -n "${PYTHON:-}" ] || fail "Python 3.11 or newer was not found. Debian 12, Ubuntu 24.04 or newer: sudo apt-get install python3 python3-venv. Elsewhere, name it: make setup PYTHON=/path/to/python3.11"
fi
"$PYTHON" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
    fail "$PYTHON cannot create environments. Debian, Ubuntu: sudo apt-get install python3-venv"

packages=$(grep -c '==' envs/requirements.lock)
echo "setup: installing $packages packages into .venv with $("$PYTHON" --version) (one to three minutes, 1.9 GB)"
"$PYTHON" -m venv --clear .venv
pip install --require-hashes -r envs/requirements.lock
locked >.venv/locked
install_project
