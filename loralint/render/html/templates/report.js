"use strict";
const root = document.documentElement;
const theme = document.getElementById("theme");
const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
theme.hidden = false;
theme.setAttribute("aria-pressed", String(dark()));
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  theme.setAttribute("aria-pressed", String(dark()));
});

const target = () => {
  const found = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = found; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (found) found.scrollIntoView();
};
addEventListener("hashchange", target);
target();

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")].filter((one) => one.checkVisibility());
  opened.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));

const index = document.getElementById("index");
if (index) {
  const body = index.tBodies[0];
  const rows = [...body.rows];
  const runs = new Map(rows.map((row) => [row, document.getElementById("run-" + row.dataset.run)]));
  const texts = new Map(rows.map((row) => [row, (row.textContent + " " + [...runs.get(row).querySelectorAll(".finding .code")].map((one) => one.textContent).join(" ")).toLowerCase()]));
  const words = document.getElementById("words");
  const buttons = [...document.querySelectorAll("#filter button")];
  const show = () => {
    const asked = words.value.toLowerCase().split(/\s+/);
    const on = new Set(buttons.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.verdict));
    let count = 0;
    for (const row of rows) {
      const wanted = on.has(row.dataset.verdict) && asked.every((word) => texts.get(row).includes(word));
      row.hidden = runs.get(row).hidden = !wanted;
      count += wanted;
    }
    document.getElementById("shown").textContent = count + " of " + rows.length + " runs";
  };
  words.addEventListener("input", show);
  buttons.forEach((one) => one.addEventListener("click", () => {
    one.setAttribute("aria-pressed", String(one.getAttribute("aria-pressed") !== "true"));
    show();
  }));
  const order = ["block", "review", "pass"];
  const value = (row, column) => {
    const text = row.cells[column].textContent;
    return column === 2 ? order.indexOf(text) : column > 2 && column < 7 ? Number(text) : text.toLowerCase();
  };
  [...index.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const side = up ? 1 : -1;
      body.append(...rows.sort((a, b) => {
        const [x, y] = [value(a, column), value(b, column)];
        return (x < y ? -side : x > y ? side : 0) || a.dataset.run - b.dataset.run;
      }));
    });
  });
  document.getElementById("filter").hidden = false;
  show();
}
