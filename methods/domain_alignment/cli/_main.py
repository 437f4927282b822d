"""The command ``domain-alignment`` and its subcommands."""

import argparse
import sys
from importlib import import_module

import domain_alignment
from domain_alignment.exceptions import AlignmentError

# Name -> module with SUMMARY, add_arguments(parser) and run(arguments), which returns the status.
COMMANDS = {
    "compare": "domain_alignment.cli._compare",
    "predict": "domain_alignment.cli._predict",
}

# What the user can do something about; its message says what.
_EXPECTED = (ValueError, AlignmentError, ImportError, OSError)
_WRONG_INPUT = 2  # as argparse's own


def main(argv=None):
    """Run a subcommand.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    status : int
        0; 2 if the input is wrong, with a message on stderr.
    """
    argv = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args(argv)
    arguments.argv = argv
    try:
        return arguments.run(arguments)
    except _EXPECTED as error:
        print(f"domain-alignment {arguments.command}: {error}", file=sys.stderr)
        return _WRONG_INPUT


def _parser():
    parser = argparse.ArgumentParser(
        prog="domain-alignment", description="Domain adaptation by alignment."
    )
    version = f"%(prog)s {domain_alignment.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, address in COMMANDS.items():
        module = import_module(address)
        command = commands.add_parser(name, help=module.SUMMARY, description=module.SUMMARY)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser
