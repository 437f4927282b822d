"""Shared numerics: validation, neighbours, graphs, symmetric eigenproblems, rows."""
