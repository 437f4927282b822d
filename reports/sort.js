// Sort a table by the column whose heading button was pressed: up, down, then the paper's order.
// Rows without a key in that column stay below, and so does the footer with the means.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const headings = [...table.tHead.rows[0].cells];

  // A joined cell spans several columns, so the column is counted and not the cell.
  const keyOf = (row, column) => {
    let position = 0;
    for (const cell of row.cells) {
      if (position === column) return cell.dataset.sort;
      position += cell.colSpan;
    }
    return undefined;
  };

  const compare = (column, numeric, direction) => (one, other) => {
    const a = keyOf(one, column);
    const b = keyOf(other, column);
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    const order = numeric ? Number(a) - Number(b) : a.localeCompare(b, "en");
    return direction === "descending" ? -order : order;
  };

  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const numeric = heading.classList.contains("number");
      const turns = numeric
        ? { none: "descending", descending: "ascending", ascending: "none" }
        : { none: "ascending", ascending: "descending", descending: "none" };
      const direction = turns[heading.getAttribute("aria-sort")];
      for (const each of headings) each.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", direction);
      const rows = [...original];
      if (direction !== "none") rows.sort(compare(column, numeric, direction));
      body.append(...rows);
    });
  });
}
