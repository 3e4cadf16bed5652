// Tables: sorted by the column whose heading is pressed; and each figure's numbers as one.
"use strict";

{
  const { element, look } = report;
  const MOST_ROWS = 200;

  // What a cell is sorted by: its number, else its words; what has no value comes last either way.
  const key = (cell) => {
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    return cell.textContent.trim();
  };
  const missing = (value) => value === "–" || value === "";

  const compare = (a, b, sign) => {
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  };

  report.sortable = (table) => {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, k) => {
      const label = heading.textContent;
      const press = element("button", { type: "button", text: label, title: `Sort by ${label}` });
      press.addEventListener("click", () => {
        const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [key(row.cells[k]), row]);
        rows.sort(([a], [b]) => compare(a, b, sign));
        body.append(...rows.map(([, row]) => row));
      });
      heading.replaceChildren(press);
    });
  };

  // At most so many places, evenly from the first to the last.
  const spread = (length, most) =>
    length <= most
      ? Array.from({ length }, (_, k) => k)
      : Array.from({ length: most }, (_, k) => Math.round((k * (length - 1)) / (most - 1)));

  const rows = (figure) => {
    const most = Math.max(10, Math.floor(MOST_ROWS / figure.series.length));
    return figure.series.flatMap((series) =>
      spread(series.x.length, most).map((k) => {
        const x = figure.x.categories[Math.round(series.x[k])] ?? look.exact(series.x[k]);
        const half = series.half?.[k] > 0 ? ` ± ${look.number(series.half[k])}` : "";
        const cells = [series.label, x, look.exact(series.y[k]) + half, series.remarks?.[k] ?? ""];
        return element("tr", {}, ...cells.map((text, n) => element(n ? "td" : "th", n ? { text } : { text, scope: "row" })));
      }),
    );
  };

  // A figure's numbers as a table, made when it is opened.
  report.dataTable = (chart) => {
    const box = element("details", {}, element("summary", { text: "The numbers as a table" }));
    box.addEventListener("toggle", () => {
      box.querySelector(".scroll")?.remove();
      if (!box.open) return;
      const { figure } = chart;
      const all = figure.series.reduce((sum, series) => sum + series.x.length, 0);
      const heads = ["Series", figure.x.label, figure.y.label, "Remark"];
      const made = rows(figure);
      const said = made.length < all ? ` ${made.length} of ${all} points, evenly chosen; the CSV has the others.` : "";
      const table = element(
        "table",
        {},
        element("caption", { text: `${figure.title}.${said}` }),
        element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { text, scope: "col" })))),
        element("tbody", {}, ...made),
      );
      box.append(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Numbers of ${figure.title}` }, table));
    });
    chart.on("renewed", () => (box.open = false));
    return box;
  };
}
