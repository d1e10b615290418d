"use strict";
// Pointing at a cell, or walking to it with the arrow keys, lights up the same elements in both pictures.
(() => {
  let lit = [];
  const elements = (cell) => (cell.dataset.e ? cell.dataset.e.split("|") : []);

  const described = (cell) => {
    const row = cell.parentElement.querySelector("th");
    const heads = cell.closest("table").querySelectorAll("thead th[data-c]");
    const place = [row.textContent, heads[[...cell.parentElement.querySelectorAll("td")].indexOf(cell)].textContent];
    const held = elements(cell);
    const holds = held.length ? held.join(" and ") + " of the parameter" : "no element of the parameter";
    return `${cell.closest("figure").querySelector("figcaption").textContent} ` +
      `${place.filter((text) => text.trim()).join(" ")} (${cell.textContent}): ${holds}`;
  };

  const darken = () => {
    for (const cell of lit) cell.classList.remove("lit");
    lit = [];
  };

  const light = (cell) => {
    darken();
    const pair = cell.closest(".pair");
    const wanted = new Set(elements(cell));
    for (const other of pair.querySelectorAll("td")) {
      if (other === cell || elements(other).some((element) => wanted.has(element))) {
        other.classList.add("lit");
        lit.push(other);
      }
    }
    const readout = pair.querySelector(".readout");
    readout.dataset.still ??= readout.textContent;
    readout.textContent = described(cell);
  };

  const rest = (pair) => {
    darken();
    const readout = pair.querySelector(".readout");
    if (readout.dataset.still !== undefined) readout.textContent = readout.dataset.still;
  };

  const cellOf = (event) => (event.target.closest ? event.target.closest(".pair td") : null);

  const neighbour = (cell, key) => {
    const rows = [...cell.closest("tbody").rows].map((row) => [...row.querySelectorAll("td")]).filter((row) => row.length);
    const row = rows.findIndex((cells) => cells.includes(cell));
    const column = rows[row].indexOf(cell);
    switch (key) {
      case "ArrowLeft": return rows[row][column - 1];
      case "ArrowRight": return rows[row][column + 1];
      case "ArrowUp": return rows[row - 1]?.[column];
      case "ArrowDown": return rows[row + 1]?.[column];
      case "Home": return rows[row][0];
      case "End": return rows[row].at(-1);
      default: return undefined;
    }
  };

  document.addEventListener("pointerover", (event) => {
    const cell = cellOf(event);
    if (cell) light(cell);
  });
  document.addEventListener("pointerout", (event) => {
    const cell = cellOf(event);
    const pair = cell?.closest(".pair");
    if (!pair) return;
    if (pair.contains(document.activeElement)) light(document.activeElement);
    else rest(pair);
  });
  document.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    if (cell) light(cell);
  });
  document.addEventListener("focusout", (event) => {
    const cell = cellOf(event);
    if (cell) rest(cell.closest(".pair"));
  });
  document.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    const next = cell && neighbour(cell, event.key);
    if (!next) return;
    event.preventDefault();
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
})();
