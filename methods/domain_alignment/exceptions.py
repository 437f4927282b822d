"""Exceptions of the library."""


class AlignmentError(RuntimeError):
    """Valid data on which the method has no answer, such as a graph with an isolated sample."""
