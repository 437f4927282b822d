"""Rows of a table by their label."""


def row_of(table, label):
    return {
        column.label: cell
        for column, cell in zip(
            table.columns,
            next(row for row in (*table.rows, *table.footer) if row[0].text == label),
            strict=True,
        )
    }
