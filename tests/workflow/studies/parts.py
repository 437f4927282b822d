"""The figures and tables that a study announces."""

from workflow.lib.report.tables.model import to_csv


def complete(module, records, arrays):
    """Draw every figure and write every table of a study; returns the tables."""
    tables, figures = module.tables(records, arrays), module.figures(records, arrays)
    assert tuple(tables) == tuple(module.TABLES)
    assert tuple(figures) == tuple(module.FIGURES)
    for name, table in tables.items():
        assert table.name == name
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert len(to_csv(table).splitlines()) == len(table.rows) + 1
    for draw in figures.values():
        draw()
    return tables
