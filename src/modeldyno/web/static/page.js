// What all pages share: the menu on small screens, lists to look something up in, tables to sort, commands to copy.
const menu = document.querySelector(".menu-button");
menu?.addEventListener("click", () => {
  const open = document.getElementById("menu").classList.toggle("open");
  menu.setAttribute("aria-expanded", String(open));
});

for (const field of document.querySelectorAll("input.find")) {
  const list = field.parentElement.querySelector("ul");
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const item of list.children) item.hidden = wanted !== "" && !item.textContent.toLowerCase().includes(wanted);
  });
}

for (const box of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("code").textContent);
    button.textContent = "Copied";
  });
  box.append(button);
}

function valueOf(cell) {
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number.parseFloat(text.replaceAll(",", ""));
  return Number.isNaN(number) ? text.toLowerCase() : number;
}

function sortBy(table, place, button) {
  const head = button.closest("th");
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row.cells[place]), row]);
  rows.sort(([a], [b]) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1));
  if (down) rows.reverse();
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, place, button));
    head.append(button);
  });
}

// The form of a run asks for its estimate again whenever it changes.
const form = document.getElementById("run");
form?.addEventListener("change", async () => {
  const words = new URLSearchParams(new FormData(form));
  words.delete("csrf_token");
  for (const [name, value] of [...words]) if (value === "") words.delete(name);
  history.replaceState(null, "", `?${words}`);
  const answer = await fetch(`/dashboard/run.json?${words}`);
  if (!answer.ok) return;
  const told = await answer.json();
  const seconds = told.seconds ? `, about ${Math.round(told.seconds)} s by earlier runs` : told.cases ? "; how long it takes is not known yet" : "";
  document.getElementById("estimate").textContent = told.problem ?? (told.cases ? `${told.cases} case${told.cases === 1 ? "" : "s"}${seconds}.` : "Choose a model to see how long it takes.");
});
