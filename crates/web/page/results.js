// What a run showed: its facts, tables and figures, as its page has them; a figure that has changed only in its numbers is
// drawn anew in its place.
"use strict";

{
  const { element, look } = report;

  // `place` tells its table apart from others of the page.
  const table = (one, place) => {
    const heads = one.columns.map(({ name, number }) => element("th", { scope: "col", ...(number ? { class: "number" } : {}), text: name }));
    const cell = ({ text, sort, verdict }, k) =>
      element(k ? "td" : "th", {
        text,
        ...(k ? {} : { scope: "row" }),
        ...(one.columns[k].number ? { class: "number" } : {}),
        ...(sort === null ? {} : { "data-sort": sort }),
        ...(verdict ? { "data-verdict": verdict } : {}),
      });
    const rows = one.rows.map((row) => element("tr", {}, ...row.map(cell)));
    const made = element(
      "table",
      { class: "sortable" },
      element("caption", {}, element("span", { text: one.caption })),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows),
    );
    report.sortable(made);
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${place}: table` }, made);
  };

  // Whether a figure differs from another one in its numbers alone.
  const form = ({ title, x, y, series }) =>
    JSON.stringify([title, x.label, y.label, series.map(({ label, kind, colour, thinned }) => [label, kind, colour, thinned])]);

  class Results {
    // `title` is what the scenario is called.
    constructor(holder, title) {
      this.holder = holder;
      this.title = title;
      this.charts = new Map();
      this.maps = [];
    }

    // `live` is what crates/look/src/report.rs says of a run in memory.
    show({ page, data }) {
      const numbers = report.decode(data);
      const outline = JSON.stringify(page.sections.map(({ title, map, figures }) => [title, Boolean(map), figures.map((figure) => figure.title)]));
      if (outline !== this.outline || page.sections.some(({ map }) => map)) this.build(page, outline);
      this.facts(page);
      const figures = data.figures.map((_, k) => numbers.figure(k));
      let count = 0;
      page.sections.forEach((section, k) => {
        this.tables(section, this.places[k]);
        for (const holder of this.places[k].figures) this.figure(holder, figures[count++]);
      });
      this.path.show(figures);
      page.sections.filter(({ map }) => map).forEach((section, k) => {
        this.maps.push(report.showMap(numbers.map(k), this.mapHolders[k]));
      });
    }

    facts(page) {
      const all = page.facts.map(([name, value]) => element("div", {}, element("dt", { text: name }), element("dd", { text: value })));
      this.factsHolder.replaceChildren(...all);
    }

    build(page, outline) {
      this.clear();
      this.outline = outline;
      this.factsHolder = element("dl", { class: "facts" });
      this.path = new lab.Path(this.title);
      this.holder.append(this.factsHolder, this.path.holder);
      this.places = page.sections.map((section) => {
        const heading = element("h3", { text: section.title });
        const words = element("div");
        const figures = section.figures.map((figure) => {
          const holder = element("figure", { class: "chart" }, element("h4", { text: figure.title }), element("figcaption", { text: figure.says }));
          holder.setAttribute("aria-label", figure.title);
          return holder;
        });
        const map = section.map ? [element("figure", { class: "chart" }, element("h4", { text: section.map.title }))] : [];
        this.mapHolders.push(...map);
        return { words, figures, made: element("section", {}, heading, words, ...map, ...figures) };
      });
      // What moves comes first: who turns a knob looks at it.
      const drawn = (place, k) => place.figures.length > 0 || Boolean(page.sections[k].map);
      const [first, last] = [true, false].map((wanted) => this.places.filter((place, k) => drawn(place, k) === wanted));
      this.holder.append(...[...first, ...last].map(({ made }) => made));
    }

    tables(section, { words }) {
      const notes = section.notes.length ? [element("ul", { class: "notes" }, ...section.notes.map((text) => element("li", { text })))] : [];
      const says = section.says ? [element("p", { text: section.says })] : [];
      const tables = section.tables.map((one, k) => table(one, `${this.title}, ${section.title}${k ? ` ${k + 1}` : ""}`));
      words.replaceChildren(...says, ...notes, ...tables);
    }

    figure(holder, figure) {
      const before = this.charts.get(holder);
      if (before && form(before.figure) === form(figure)) return before.renew(figure);
      if (before) {
        const off = new Set(before.figure.series.filter((_, k) => !before.shown[k]).map(({ label }) => label));
        const known = new Set(before.figure.series.map(({ label }) => label));
        figure.series.forEach((series) => (series.off = known.has(series.label) ? off.has(series.label) : series.off));
        before.remove();
        holder.querySelector(".body").remove();
      }
      this.charts.set(holder, report.show(figure, holder));
    }

    clear() {
      this.path?.remove();
      this.maps.forEach((map) => map.remove());
      this.charts.forEach((chart) => chart.remove());
      this.charts.clear();
      this.maps = [];
      this.mapHolders = [];
      this.outline = null;
      this.holder.replaceChildren();
    }

    repaint() {
      this.path?.repaint();
      this.maps.forEach((map) => map.repaint());
    }
  }

  lab.Results = Results;
  lab.quantity = (value, unit) => (value === null ? "–" : `${look.number(value)}${unit && ` ${unit}`}`);
}
