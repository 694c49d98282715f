"use strict";
const specs = JSON.parse(document.getElementById("specs")?.textContent ?? "{}");
const NARROW = 560;
const ROOM = 90; // for the axis of a view

// A chart as wide as the page: a view that stands alone takes the container's width, of several as many stand in a row as fit.
function fitted(spec, width) {
  const copy = structuredClone(spec);
  const narrow = width < NARROW;
  if (narrow) copy.config = { ...copy.config, legend: { ...copy.config.legend, orient: "bottom", columns: 2 },
    axis: { ...copy.config.axis, labelLimit: 120 } };
  if (copy.spec) {
    const own = copy.spec.width;
    if (copy.columns) copy.columns = Math.max(1, Math.floor(width / (own + ROOM)));
    if (typeof own === "number") copy.spec.width = Math.max(140, Math.min(own, width - ROOM));
  } else if (typeof copy.width === "number") {
    copy.width = "container";
    copy.autosize = { type: "fit-x", contains: "padding" };
  }
  return copy;
}

function draw() {
  for (const place of document.querySelectorAll("[data-chart]")) {
    const width = place.parentElement.clientWidth;
    vegaEmbed(place, fitted(specs[place.dataset.chart], width), {
      renderer: "svg", actions: { export: true, source: false, compiled: false, editor: false },
      config: { background: "transparent" },
    }).then(() => { place.dataset.drawn = "yes"; }).catch((error) => { place.textContent = String(error); });
  }
}

function compare(a, b) {
  const [x, y] = [a, b].map((cell) => cell.dataset.value === undefined ? NaN : Number(cell.dataset.value));
  if (Number.isNaN(x) && Number.isNaN(y)) return a.textContent.localeCompare(b.textContent);
  return Number.isNaN(x) - Number.isNaN(y) || x - y;
}

function sortBy(heading) {
  const body = heading.closest("table").tBodies[0];
  const up = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  const rows = [...body.rows].sort((a, b) => compare(a.cells[heading.cellIndex], b.cells[heading.cellIndex]) * (up ? 1 : -1));
  body.append(...rows);
}

for (const heading of document.querySelectorAll("th")) heading.addEventListener("click", () => sortBy(heading));
if (window.vegaEmbed) {
  draw();
  let last = window.innerWidth < NARROW;
  window.addEventListener("resize", () => {
    const narrow = window.innerWidth < NARROW;
    if (narrow !== last) { last = narrow; draw(); }
  });
}
