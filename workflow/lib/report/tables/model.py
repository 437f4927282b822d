"""One table model, written as HTML, CSV, Markdown and LaTeX."""

import csv
import dataclasses
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from markupsafe import Markup, escape

from workflow.lib.results.text import fixed
from workflow.lib.storage.artifacts import atomic_write


@dataclasses.dataclass(frozen=True)
class TableCell:
    """One cell: what is printed, and the numbers behind it.

    ``kind`` becomes a class in HTML: ``absent`` (muted; equal neighbours are joined), ``failed``,
    ``verdict`` (a mark in the colour of its text), ``text`` (wraps), ``code``; ``baseline`` in the
    first cell shades its row. ``ends`` are those of the interval in ``count``. ``heat`` from 0 to 1
    shades a cell by its place in its row. ``link`` is an address that the text leads to; ``behind``
    are further ones, (words, address), that the page offers beside the title when the pointer or
    the keyboard is on the cell. ``group`` is that of the method which the cell names. ``markdown``
    stands in Markdown for the text, as it is.
    """

    text: str = ""
    value: float | None = None
    plus_minus: str = ""
    spread: float | None = None
    error: float | None = None
    count: str = ""
    ends: tuple[float, float] | None = None
    bold: bool = False
    title: str = ""
    kind: str = ""
    heat: float | None = None
    link: str = ""
    group: str = ""
    behind: tuple[tuple[str, str], ...] = ()
    markdown: str = ""


@dataclasses.dataclass(frozen=True)
class TableColumn:
    """One column; ``scores`` columns have a mean, its spread and error, and a status in CSV.

    ``counts`` says in CSV what stands in brackets behind its numbers.
    """

    label: str
    numeric: bool = False
    scores: bool = False
    counts: str = "trials ok"
    title: str = ""
    kind: str = ""
    group: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: ``footer`` rows (means) stay below however the rows are sorted.

    ``methods`` says where the methods stand, in ``"rows"`` or in ``"columns"`` after the first,
    so that a reader can choose among them.
    """

    name: str
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    footer: tuple[tuple[TableCell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    methods: str = ""


def transposed(table: Table, heading: str) -> Table:
    """Rows and columns exchanged, footer rows first, the highest of the first number on top.

    For tables of scores: the first column holds names, all others are numbers of one kind.
    """
    lines = (*table.footer, *table.rows)
    columns = [
        TableColumn(line[0].text, numeric=True, scores=True, title=line[0].title) for line in lines
    ]
    rows = [
        (
            TableCell(column.label, title=column.title, kind=column.kind, group=column.group),
            *(line[place] for line in lines),
        )
        for place, column in enumerate(table.columns)
        if place
    ]
    rows.sort(key=lambda row: -(row[1].value if row[1].value is not None else -1.0))
    return dataclasses.replace(
        table,
        columns=(TableColumn(heading), *columns),
        rows=tuple(rows),
        footer=(),
        methods="rows" if table.methods else "",
    )


def to_csv(table: Table) -> str:
    """Plain numbers in full; words that stand in their place are in a status column beside them."""
    columns = [_csv_column(column, cells) for column, cells in _by_column(table)]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [_harmless(field) for line in columns for field in line[place]]
        for place in range(1 + len(table.rows) + len(table.footer))
    )
    return stream.getvalue()


def _by_column(table: Table) -> list[tuple[TableColumn, list[TableCell]]]:
    lines = (*table.rows, *table.footer)
    return [(column, [line[i] for line in lines]) for i, column in enumerate(table.columns)]


def _csv_column(column: TableColumn, cells: list[TableCell]) -> list[list[str]]:
    """Fields of one column, line by line, the heading first; several where it holds several."""
    if not column.numeric:
        texts = [f"{cell.text} ({cell.count})" if cell.count else cell.text for cell in cells]
        return [[column.label], *([text] for text in texts)]
    parts = {"": [_full(cell.value) for cell in cells]}
    if column.scores:
        parts["std"] = [_full(cell.spread) for cell in cells]
    if column.scores and any(cell.error is not None for cell in cells):
        parts["standard error"] = [_full(cell.error) for cell in cells]
    if any(cell.ends for cell in cells):
        for place, end in enumerate(("low", "high")):
            numbers = [cell.ends[place] if cell.ends else None for cell in cells]
            parts[f"{column.counts} {end}"] = [*map(_full, numbers)]
    elif column.scores or any(cell.count for cell in cells):
        parts[column.counts] = [cell.count for cell in cells]
    if column.scores or any(_status(cell) not in ("", "ok") for cell in cells):
        parts["status"] = [_status(cell) for cell in cells]
    labels = [f"{column.label} {part}".rstrip() for part in parts]
    return [labels, *map(list, zip(*parts.values(), strict=True))]


def _full(number: float | None) -> str:
    return "" if number is None else f"{number:.10g}"


def _status(cell: TableCell) -> str:
    """``ok``, ``partial``, or the words that stand in the place of a number."""
    if cell.value is not None:
        return "partial" if cell.kind == "partial" else "ok"
    return "not compared" if cell.text == "–" else cell.text


def _harmless(field: str) -> str:
    """A text that a spreadsheet would take for a formula, marked as text; a number as it is."""
    text = field.replace("\r", "\n")  # the writer would not quote a lone carriage return
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text.lstrip()[:1] in _FORMULA_SIGNS else text
    return text


_FORMULA_SIGNS = ("=", "+", "-", "@")


def to_markdown(table: Table) -> str:
    """A pipe table with its caption above; below it what its columns are, and its notes."""
    rule = ["---:" if column.numeric else ":---" for column in table.columns]
    lines = [
        [markdown_text(column.label) for column in table.columns],
        rule,
        *([_markdown_cell(cell) for cell in row] for row in (*table.rows, *table.footer)),
    ]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    told = (*columns_told(table.columns), *table.notes)
    notes = "".join(f"\n{markdown_text(note)}\n" for note in told)
    return f"{markdown_text(table.caption)}\n\n{body}{notes}"


def columns_told(columns: Iterable[TableColumn]) -> tuple[str, ...]:
    """What a page says where one points at a column's name; columns that mean the same together."""
    by_title: dict[str, list[str]] = {}
    for column in columns:
        if column.title:
            by_title.setdefault(column.title, []).append(column.label)
    if not by_title:
        return ()
    told = "; ".join(f"{', '.join(labels)}: {title}" for title, labels in by_title.items())
    return (f"Columns. {told}.",)


def markdown_text(text: str) -> str:
    """Plain text as Markdown source, in one line."""
    return re.sub(r"([\\|*_<>`\[\]])", r"\\\1", " ".join(text.split()))


def _markdown_cell(cell: TableCell) -> str:
    text = cell.markdown or markdown_text(cell.text)
    marked = f"**{text}**" if cell.bold and text else text
    return marked + _tail(cell)


def _tail(cell: TableCell) -> str:
    spread = f" ± {cell.plus_minus}" if cell.plus_minus else ""
    return f"{spread}{f' ({cell.count})' if cell.count else ''}"


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "→": r"$\to$",
    "†": r"\dag{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "√": r"$\surd$",
    "Σ": r"$\Sigma$",
    "²": r"\textsuperscript{2}",
    "χ": r"$\chi$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "–": "--",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "·": r"$\cdot$",
    "\u00a0": "~",
}


def latex_text(text: str) -> str:
    """Plain text as LaTeX source."""
    return "".join(_LATEX.get(character, character) for character in text)


def to_latex(table: Table) -> str:
    """A ``table`` environment in the style of booktabs, caption above, notes below."""
    alignment = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{latex_text(table.caption)}}}",
        f"\\label{{tab:{table.name.replace('_', '-')}}}",
        f"\\begin{{tabular}}{{{alignment}}}",
        "\\toprule",
        _latex_line([latex_text(column.label) for column in table.columns]),
        "\\midrule",
        *(_latex_line([_latex_cell(cell) for cell in row]) for row in table.rows),
    ]
    if table.footer:
        lines.append("\\midrule")
        lines += [_latex_line([_latex_cell(cell) for cell in row]) for row in table.footer]
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"\\par\\smallskip{{\\footnotesize {latex_text(note)}}}" for note in table.notes]
    return "\n".join([*lines, "\\end{table}", ""])


def _latex_line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_cell(cell: TableCell) -> str:
    text = latex_text(" ".join(cell.text.split()))
    if cell.bold and text:
        text = f"\\textbf{{{text}}}"
    elif cell.kind == "absent":
        text = f"\\emph{{{text}}}"
    return text + latex_text(_tail(cell))


def without_column(table: Table, label: str) -> Table:
    """The same table without one column."""
    place = [column.label for column in table.columns].index(label)
    return dataclasses.replace(
        table,
        columns=table.columns[:place] + table.columns[place + 1 :],
        rows=tuple(row[:place] + row[place + 1 :] for row in table.rows),
        footer=tuple(row[:place] + row[place + 1 :] for row in table.footer),
    )


def to_html(table: Table) -> Markup:
    """A sortable table; the sort keys are in ``data-sort``, the buttons work by keyboard."""
    head = Markup("").join(_html_head(column) for column in table.columns)
    body = Markup("").join(_html_row(table, row) for row in table.rows)
    foot = Markup("").join(_html_row(table, row) for row in table.footer)
    notes = Markup("").join(Markup("<p class='note'>{}</p>").format(note) for note in table.notes)
    return Markup(
        "<div class='scroll' tabindex='0' role='region' aria-label='{caption}'>"
        "<table class='sortable table-{name}'{methods}><caption><span>{caption}</span></caption>"
        "<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>{notes}"
    ).format(
        caption=table.caption,
        name=table.name.replace("_", "-"),
        methods=Markup(" data-methods='{}'").format(table.methods) if table.methods else "",
        head=head,
        body=body,
        foot=Markup("<tfoot>{}</tfoot>").format(foot) if foot else "",
        notes=notes,
    )


def _html_head(column: TableColumn) -> Markup:
    title = Markup(" title='{}'").format(column.title) if column.title else ""
    title += Markup(" data-group='{}'").format(column.group) if column.group else ""
    kind = "number" if column.numeric else "words"
    return Markup(
        "<th scope='col' class='{kind}'{title} aria-sort='none'>"
        "<button type='button'>{label}</button></th>"
    ).format(kind=f"{kind} {column.kind}".strip(), title=title, label=column.label)


def _html_row(table: Table, row: tuple[TableCell, ...]) -> Markup:
    cells, position = [], 0
    while position < len(row):
        span = _span(row, position)
        cells.append(_html_cell(table.columns[position], row[position], span, position == 0))
        position += span
    shade = Markup(" class='baseline'") if row[0].kind == "baseline" else ""
    return Markup("<tr{}>{}</tr>").format(shade, Markup("").join(cells))


def _span(row: tuple[TableCell, ...], position: int) -> int:
    """Number of equal absent cells from here on: they are printed once, across their columns."""
    last = position + 1
    while row[position].kind == "absent" and last < len(row) and row[last] == row[position]:
        last += 1
    return last - position


def _html_cell(column: TableColumn, cell: TableCell, span: int, first: bool) -> Markup:
    kind = cell.kind
    if kind == "verdict":
        kind = f"verdict verdict-{cell.text.replace(' ', '-')}"
    classes = f"{'number' if column.numeric else 'words'} {kind}".strip()
    if cell.bold:
        classes += " best"
    if column.kind and span == 1:
        classes += f" {column.kind}"
    if cell.heat is not None:
        classes += f" heat-{round(cell.heat * HEAT_STEPS)}"
    key = cell.text if cell.value is None else repr(float(cell.value))
    attributes = Markup(" class='{}'").format(classes)
    unknown = cell.value is None and (column.numeric or not cell.text)
    if not (cell.kind == "absent" or unknown):
        attributes += Markup(" data-sort='{}'").format(key)
    if cell.title:
        attributes += Markup(" title='{}'").format(cell.title)
    if cell.behind:
        told = json.dumps(cell.behind, ensure_ascii=False)
        attributes += Markup(" data-behind='{}'").format(told)
    if cell.group:
        attributes += Markup(" data-group='{}'").format(cell.group)
    if span > 1:
        attributes += Markup(" colspan='{}'").format(span)
    if first:
        return Markup("<th scope='row'{}>{}</th>").format(attributes, _html_content(cell))
    return Markup("<td{}>{}</td>").format(attributes, _html_content(cell))


def _html_content(cell: TableCell) -> Markup:
    text = escape(cell.text)
    if cell.kind == "code" and cell.text:
        # A long path or name may break behind its separators, not inside a word.
        text = Markup("<code>{}</code>").format(Markup(re.sub(r"([./:])", r"\1<wbr>", str(text))))
    elif cell.kind == "verdict" and cell.text:
        text = Markup("<span>{}</span>").format(text)
    if cell.link:
        text = Markup("<a href='{}'>{}</a>").format(cell.link, text)
    if cell.bold:
        text = Markup("<b>{}</b>").format(text)
    if cell.plus_minus:
        text += Markup("<span class='spread sd'> ± {}</span>").format(cell.plus_minus)
    if cell.error is not None:
        text += Markup("<span class='spread se'> ± {}</span>").format(fixed(cell.error, 1))
    if cell.count:
        text += Markup("<span class='count'> ({})</span>").format(cell.count)
    return text


EMPTY = TableCell()
# What stands in brackets behind a gain or a loss.
INTERVAL = "95 % interval"


def ends_of(
    low: float | None, high: float | None, scale: float = 100.0
) -> tuple[float, float] | None:
    """Ends of an interval of fractions in points, as numbers beside `text.interval`."""
    return None if low is None or high is None else (scale * low, scale * high)


# Shades of a cell between the lowest and the highest of its row; each is a rule of style.css.
HEAT_STEPS = 5


def number_cell(value: float | None, digits: int) -> TableCell:
    """A number with a fixed number of decimals; empty for None."""
    return TableCell(fixed(value, digits), value=None if value is None else float(value))


WRITERS: dict[str, Callable[[Table], str]] = {
    "csv": to_csv,
    "md": to_markdown,
    "tex": to_latex,
}
_WORDS = {"csv": "CSV", "md": "Markdown", "tex": "LaTeX"}


def write_tables(tables: Iterable[Table], folder: Path | str) -> list[Path]:
    """Write tables as CSV, Markdown and LaTeX, each file whole or not at all; return the paths."""
    paths = []
    for table in tables:
        for ending, write in WRITERS.items():
            path = Path(folder) / f"{table.name}.{ending}"
            with atomic_write(path) as temporary:
                temporary.write_text(write(table), encoding="utf-8")
            paths.append(path)
    return paths


def with_downloads(table: Table, folder: str) -> Markup:
    """A table, and below it the links to its files in a folder, named relative to the page."""
    files = Markup(" ").join(
        Markup("<a href='{}/{}.{}' download>{}</a>").format(folder, table.name, ending, words)
        for ending, words in _WORDS.items()
    )
    return Markup("{}<p class='get'>Download: {}</p>").format(to_html(table), files)
