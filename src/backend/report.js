// What a script adds to a report that is whole without it: sorting, a filter over derivations, printing
// with everything opened.
"use strict";
(() => {
  const value = (row, index) => {
    const cell = row.cells[index];
    if (!cell) return "";
    return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  const sort = (table, heading) => {
    const body = table.tBodies[0];
    const descending = heading.getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].filter((row) => !row.classList.contains("total"));
    const totals = [...body.rows].filter((row) => row.classList.contains("total"));
    rows.sort((a, b) => (descending ? -1 : 1) * compare(value(a, heading.cellIndex), value(b, heading.cellIndex)));
    body.append(...rows, ...totals);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  };
  // Rows that add up to a total are in the order of the sum; two rows need no sorting.
  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 3 || table.querySelector("tr.total:not(:last-child)")) continue;
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
      if (heading.dataset.quantity) heading.title = heading.dataset.quantity;
    }
  }

  const first = document.querySelector(".derivation");
  if (first) {
    const label = document.createElement("label");
    label.className = "find";
    label.textContent = document.documentElement.dataset.find || "Show only";
    const input = document.createElement("input");
    input.type = "search";
    input.placeholder = "tpot, memory, …";
    label.append(input);
    first.before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      for (const derivation of document.querySelectorAll(".derivation")) {
        let found = 0;
        for (const step of derivation.querySelectorAll(".steps > li")) {
          step.hidden = !step.textContent.toLowerCase().includes(wanted);
          if (!step.hidden) found++;
        }
        derivation.hidden = !found;
        if (wanted) derivation.open = found > 0;
      }
    });
  }

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });
})();
