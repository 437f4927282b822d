"use strict";

// Sort a table by the column whose heading button was pressed: up, down, then the paper's order.
// Rows without a key in that column stay below, and so does the footer with the means.
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
    const order = numeric ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
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

// A table has one tab stop: the cell that the keyboard was at last.
const moveStop = (table, next) => {
  const stops = table.querySelectorAll("[data-behind][tabindex='0']");
  for (const stop of stops) stop.tabIndex = -1;
  next.tabIndex = 0;
};

// Show the methods whose name holds what was typed and that are of the chosen group: rows or
// columns, whichever they are.
for (const form of document.querySelectorAll("form.controls")) {
  const tables = form.closest("article").querySelectorAll("table[data-methods]");
  const input = form.querySelector("input.filter");
  const choice = form.querySelector("select.group");
  const kept = (cell) =>
    cell.textContent.toLowerCase().includes(input.value.trim().toLowerCase()) &&
    (!choice || !choice.value || cell.dataset.group === choice.value);

  const filterRows = (table) => {
    for (const row of table.tBodies[0].rows) row.classList.toggle("filtered", !kept(row.cells[0]));
  };

  // A joined cell keeps as many columns as are shown of those that it spans.
  const filterColumns = (table) => {
    const shown = [...table.tHead.rows[0].cells].map((cell, column) => column === 0 || kept(cell));
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

  form.addEventListener("input", () => {
    for (const table of tables) {
      (table.dataset.methods === "rows" ? filterRows : filterColumns)(table);
      // The table's one tab stop is a cell that is shown.
      const stop = table.querySelector("[data-behind][tabindex='0']");
      if (!stop || stop.offsetParent !== null) continue;
      const next = [...table.querySelectorAll("[data-behind]")].find((c) => c.offsetParent !== null);
      if (next) moveStop(table, next);
    }
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

// What lies behind a cell, beside the cell that the pointer rests on or the keyboard is at: its
// numbers in words, and links to its log and its run. One tab stop per table; arrows move in it.
const behind = document.createElement("div");
behind.className = "behind";
behind.setAttribute("role", "group");
behind.setAttribute("aria-label", "Behind this number");
behind.hidden = true;
let at = null;
let timer = 0;

const hide = () => {
  behind.hidden = true;
  at = null;
};

const show = (cell) => {
  const words = document.createElement("p");
  words.textContent = cell.dataset.told || "";
  const links = document.createElement("p");
  for (const [label, address] of JSON.parse(cell.dataset.behind)) {
    const link = document.createElement("a");
    link.textContent = label;
    link.href = address;
    links.append(link, " ");
  }
  behind.replaceChildren(...(words.textContent ? [words] : []), links);
  behind.hidden = false;
  cell.closest(".scroll").after(behind);
  const place = cell.getBoundingClientRect();
  const room = document.documentElement.clientWidth - behind.offsetWidth - 8;
  behind.style.left = `${Math.max(8, Math.min(place.left, room)) + scrollX}px`;
  behind.style.top = `${place.bottom + scrollY}px`;
  at = cell;
};

const later = (action, milliseconds) => {
  clearTimeout(timer);
  timer = setTimeout(action, milliseconds);
};

const widthOf = (cell) => Number(cell.dataset.span || cell.colSpan);
const isReachable = (cell) => cell.dataset.behind && cell.offsetParent !== null;

// The cell of a row over a column; a joined cell spans several.
const cellOver = (row, column) => {
  let position = 0;
  for (const cell of row.cells) {
    position += widthOf(cell);
    if (column < position) return cell;
  }
  return undefined;
};

// The next cell in the arrow's direction that has something behind it and is shown.
const neighbour = (cell, key) => {
  const row = cell.parentElement;
  const cells = [...row.cells];
  let line;
  if (key === "ArrowLeft") line = cells.slice(0, cells.indexOf(cell)).reverse();
  else if (key === "ArrowRight") line = cells.slice(cells.indexOf(cell) + 1);
  else {
    const rows = [...row.closest("table").rows];
    const place = rows.indexOf(row);
    const others = key === "ArrowDown" ? rows.slice(place + 1) : rows.slice(0, place).reverse();
    const before = cells.slice(0, cells.indexOf(cell));
    const column = before.reduce((sum, other) => sum + widthOf(other), 0);
    line = others.map((other) => cellOver(other, column)).filter(Boolean);
  }
  return line.find(isReachable);
};

for (const table of document.querySelectorAll("table:has([data-behind])")) {
  const cells = [...table.querySelectorAll("[data-behind]")];
  for (const cell of cells) {
    cell.dataset.told = cell.title; // or the browser would show it too
    cell.removeAttribute("title");
    cell.tabIndex = -1;
  }
  cells[0].tabIndex = 0;
  const cellOf = (event) => event.target.closest("[data-behind]");

  table.addEventListener("pointerover", (event) => {
    const cell = cellOf(event);
    if (cell && event.pointerType === "mouse") later(() => show(cell), 250);
  });
  table.addEventListener("pointerleave", () => later(hide, 300));
  table.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    clearTimeout(timer);
    cell === at ? hide() : show(cell);
  });
  table.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    if (event.key === "Enter") {
      show(cell);
      behind.querySelector("a").focus();
    } else if (event.key.startsWith("Arrow")) {
      const next = neighbour(cell, event.key);
      if (!next) return;
      moveStop(table, next);
      next.focus();
    } else return;
    event.preventDefault();
  });
}
behind.addEventListener("pointerenter", () => clearTimeout(timer));
behind.addEventListener("pointerleave", () => later(hide, 300));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !at) return;
  if (behind.contains(document.activeElement)) at.focus();
  hide();
});
