// What a reader does with a figure: buttons, legend, keyboard, wheel, fingers, and the values under the pointer.
"use strict";

{
  const { look, reduce } = report;

  // A new element; `attributes` may hold text and event listeners.
  const element = (name, { text, on, html, ...attributes } = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    if (html !== undefined) made.innerHTML = html;
    for (const [event, then] of Object.entries(on ?? {})) made.addEventListener(event, then);
    made.append(...children);
    return made;
  };
  report.element = element;

  const button = (text, name, click, extra) =>
    element("button", { type: "button", "aria-label": name, title: name, text, on: { click }, ...extra });

  const tools = (chart) => {
    const { title } = chart.figure;
    return element(
      "div",
      { class: "tools", role: "group", "aria-label": `Controls of ${title}` },
      button("+", "Zoom in", () => chart.zoom(0.5)),
      button("−", "Zoom out", () => chart.zoom(2)),
      button("←", "Move left", () => chart.move(-0.25)),
      button("→", "Move right", () => chart.move(0.25)),
      button("All", "Show all of it", () => chart.reset()),
      button("SVG", "Save what is shown as SVG", () => report.save(chart, "svg"), { class: "end" }),
      button("CSV", "Save all numbers as CSV", () => report.save(chart, "csv")),
    );
  };

  const legend = (chart) => {
    const list = element("ul", { class: "legend", "aria-label": `Series of ${chart.figure.title}` });
    chart.figure.series.forEach((series, k) => {
      const entry = element("button", {
        type: "button",
        "aria-pressed": String(chart.shown[k]),
        title: "Show or hide",
        on: {
          click: () => {
            chart.toggle(k);
            entry.setAttribute("aria-pressed", String(chart.shown[k]));
          },
        },
      });
      const paint = () => (entry.innerHTML = look.swatch(series));
      const label = () => entry.append(series.label);
      paint();
      label();
      chart.on("painted", () => (paint(), label()));
      list.append(element("li", {}, entry));
    });
    return list;
  };

  // The points to tell of at a place: of lines the one that holds there, of markers those near the pointer.
  const under = (chart, x, near) =>
    chart.figure.series.flatMap((series, k) => {
      if (!chart.shown[k] || !series.x.length) return [];
      let place;
      if (series.kind === "points") place = near(series, k);
      else if (series.kind === "step") place = reduce.lower(series.x, x + Number.EPSILON * Math.abs(x)) - 1;
      else place = reduce.nearest(series, x);
      return place >= 0 ? [{ series, place }] : [];
    });

  const words = (chart, { series, place }) => {
    const unit = look.unit(chart.figure.y);
    const half = series.half && series.half[place] > 0 ? ` ± ${look.number(series.half[place])}` : "";
    const remark = series.remarks?.[place] ? `: ${series.remarks[place]}` : "";
    return `${series.label} ${look.exact(series.y[place])}${half}${unit && ` ${unit}`}${remark}`;
  };

  const where = (chart, x) => {
    const { categories } = chart.figure.x;
    if (categories.length) return categories[Math.round(x)] ?? "";
    const unit = look.unit(chart.figure.x);
    const digits = Math.max(0, Math.ceil(-Math.log10((chart.view.x[1] - chart.view.x[0]) / 5000)));
    return `${chart.figure.x.log ? look.number(x) : x.toFixed(Math.min(digits, 9))}${unit && ` ${unit}`}`;
  };

  // The marker nearest to the pointer among those within ten pixels.
  const nearPointer = (chart, left, top) => (series, k) => {
    const { u } = chart;
    const reach = 10;
    const [from, to] = [u.posToVal(left - reach, "x"), u.posToVal(left + reach, "x")];
    let [best, found] = [reach * reach, -1];
    for (const place of chart.places[k]) {
      if (series.x[place] < from || series.x[place] > to) continue;
      const dx = u.valToPos(series.x[place], "x") - left;
      const dy = u.valToPos(series.y[place], "y") - top;
      if (dx * dx + dy * dy <= best) [best, found] = [dx * dx + dy * dy, place];
    }
    return found;
  };

  const tip = (chart, plot) => {
    const box = element("div", { class: "tip", hidden: "" });
    plot.append(box);
    chart.on("cursor", (u) => {
      const { left, top } = u.cursor;
      if (!(left >= 0) || !u.over.matches(":hover")) {
        box.hidden = true;
        return;
      }
      const x = u.posToVal(left, "x");
      const found = under(chart, x, nearPointer(chart, left, top)).slice(0, 12);
      const lines = found.map((one) => element("p", { html: look.swatch(one.series) }, words(chart, one)));
      box.replaceChildren(element("p", { text: where(chart, x) }), ...lines);
      box.hidden = false;
      const right = left > u.over.clientWidth / 2;
      box.style.left = right ? "auto" : `${u.over.offsetLeft + left + 14}px`;
      box.style.right = right ? `${plot.clientWidth - u.over.offsetLeft - left + 14}px` : "auto";
      box.style.top = `${u.over.offsetTop + Math.min(top, u.over.clientHeight * 0.6)}px`;
    });
  };

  // Arrow keys read values aloud, with Shift they move; +, − and 0 zoom.
  const keys = (chart, plot) => {
    const heard = element("p", { class: "heard", role: "status" });
    plot.append(heard);
    let at = null;
    const read = (direction) => {
      const [from, to] = chart.view.x;
      const step = chart.figure.x.categories.length ? 1 : (to - from) / 40;
      at = at === null || at < from || at > to ? (direction > 0 ? from : to) : at + direction * step;
      if (chart.figure.x.categories.length) at = Math.round(at);
      at = Math.min(to, Math.max(from, at));
      const near = (series) => {
        const place = reduce.nearest(series, at);
        return Math.abs(series.x[place] - at) <= step / 2 ? place : -1;
      };
      chart.u.setCursor({ left: chart.u.valToPos(at, "x"), top: 0 });
      const said = under(chart, at, near).slice(0, 12).map((one) => words(chart, one));
      heard.textContent = `${where(chart, at)}: ${said.join("; ") || "nothing"}`;
    };
    const does = {
      ArrowLeft: (e) => (e.shiftKey ? chart.move(-0.1) : read(-1)),
      ArrowRight: (e) => (e.shiftKey ? chart.move(0.1) : read(1)),
      "+": () => chart.zoom(0.5),
      "=": () => chart.zoom(0.5),
      "-": () => chart.zoom(2),
      0: () => chart.reset(),
      Home: () => chart.reset(),
    };
    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !does[event.key]) return;
      event.preventDefault();
      does[event.key](event);
    });
  };

  const wheel = (chart, plot) =>
    plot.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return; // the page scrolls
        event.preventDefault();
        const by = event.deltaY || event.deltaX;
        if (event.shiftKey) chart.move(Math.sign(by) * 0.1);
        else chart.zoom(Math.exp(by * 0.002), chart.u.posToVal(event.clientX - chart.u.over.getBoundingClientRect().left, "x"));
      },
      { passive: false },
    );

  // Shift and drag moves; so does one finger sideways, and two fingers zoom.
  const fingers = (chart, plot) => {
    const down = new Map();
    const { over } = chart.u;
    const place = (event) => event.clientX - over.getBoundingClientRect().left;
    over.addEventListener("mousedown", (event) => event.shiftKey && event.stopImmediatePropagation(), true);
    over.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && !event.shiftKey) return;
      over.setPointerCapture(event.pointerId);
      down.set(event.pointerId, place(event));
      plot.classList.add("moving");
    });
    over.addEventListener("pointermove", (event) => {
      if (!down.has(event.pointerId)) return;
      const before = [...down.values()];
      down.set(event.pointerId, place(event));
      const after = [...down.values()];
      if (before.length === 1) chart.move((before[0] - after[0]) / over.clientWidth);
      if (before.length === 2) {
        const apart = (ends) => Math.max(20, Math.abs(ends[0] - ends[1]));
        chart.zoom(apart(before) / apart(after), chart.u.posToVal((after[0] + after[1]) / 2, "x"));
      }
    });
    for (const end of ["pointerup", "pointercancel"]) {
      over.addEventListener(end, (event) => {
        down.delete(event.pointerId);
        if (!down.size) plot.classList.remove("moving");
      });
    }
  };

  // Makes a figure of these numbers within an element of the page.
  report.show = (figure, holder) => {
    const plot = element("div", {
      class: "plot",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "figure",
      "aria-label": `${figure.title}. ${figure.y.label} against ${figure.x.label}. Arrow keys read values, plus and minus zoom, 0 shows all.`,
    });
    const body = element("div", { class: "body" }, plot);
    holder.append(body);
    const chart = new report.Chart(figure, plot);
    plot.before(tools(chart), legend(chart));
    tip(chart, plot);
    keys(chart, plot);
    wheel(chart, plot);
    fingers(chart, plot);
    if (figure.series.some((series) => series.thinned)) {
      const text = "Of the longest series the page holds the extremes of equal stretches; series.parquet has every point.";
      body.append(element("p", { class: "thinned", text }));
    }
    body.append(report.dataTable(chart));
    return chart;
  };
}
