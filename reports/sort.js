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
      position += Number(cell.dataset.span || cell.colSpan);
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

// Show the methods whose name holds what was typed: rows or columns, whichever they are.
for (const input of document.querySelectorAll("input.filter")) {
  const tables = input.closest("article").querySelectorAll("table[data-methods]");
  const kept = (name) => name.toLowerCase().includes(input.value.trim().toLowerCase());

  const filterRows = (table) => {
    for (const row of table.tBodies[0].rows) {
      row.classList.toggle("filtered", !kept(row.cells[0].textContent));
    }
  };

  // A joined cell keeps as many columns as are shown of those that it spans.
  const filterColumns = (table) => {
    const shown = [...table.tHead.rows[0].cells].map(
      (cell, column) => column === 0 || kept(cell.textContent),
    );
    for (const row of table.rows) {
      let column = 0;
      for (const cell of row.cells) {
        cell.dataset.span ||= cell.colSpan;
        const next = column + Number(cell.dataset.span);
        const width = shown.slice(column, next).filter(Boolean).length;
        cell.classList.toggle("filtered", width === 0);
        cell.colSpan = Math.max(width, 1);
        column = next;
      }
    }
  };

  input.addEventListener("input", () => {
    for (const table of tables) {
      (table.dataset.methods === "rows" ? filterRows : filterColumns)(table);
    }
  });
  input.form.addEventListener("submit", (event) => event.preventDefault());
}
