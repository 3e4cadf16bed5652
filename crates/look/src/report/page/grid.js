// Figures of a sweep whose axes the reader chooses: any metric against any swept parameter.
"use strict";

{
  const { element, look } = report;
  const MARKERS = ["circle", "square", "triangle", "diamond", "inverted"];

  // The indices of each point of the grid, the last axis varying fastest.
  const points = (axes) =>
    axes.reduce((all, axis) => all.flatMap((at) => axis.labels.map((_, k) => [...at, k])), [[]]);

  // The figure of a metric against an axis, with a series for each combination of the axes in `by`; the other axes are
  // fixed at the values in `at`.
  const figureOf = (grid, { metric, x, by, at }) => {
    const axis = grid.axes[x];
    const { name, unit, summary, mean, half, n } = grid.metrics[metric];
    const numeric = axis.numbers.length > 0;
    const lines = new Map();
    points(grid.axes).forEach((place, k) => {
      const fixed = grid.axes.every((_, a) => a === x || by.includes(a) || place[a] === at[a]);
      if (!fixed || mean[k] === null) return;
      const label = by.map((a) => grid.axes[a].labels[place[a]]).join(", ") || name;
      if (!lines.has(label)) lines.set(label, []);
      lines.get(label).push([numeric ? axis.numbers[place[x]] : place[x], mean[k], half[k] ?? 0, n[k]]);
    });
    const series = [...lines].map(([label, values], k) => {
      const sorted = values.toSorted((a, b) => a[0] - b[0]);
      return {
        label,
        kind: numeric ? "curve" : "bars",
        colour: k % 7,
        marker: MARKERS[k % 5],
        hollow: false,
        dash: k % 4,
        off: false,
        x: Float64Array.from(sorted, (v) => v[0]),
        y: Float64Array.from(sorted, (v) => v[1]),
        half: Float64Array.from(sorted, (v) => v[2]),
        remarks: sorted.map((v) => `${v[3]} ${v[3] === 1 ? "run" : "runs"}`),
      };
    });
    return {
      title: `${name} against ${axis.name}`,
      says: summary,
      x: { label: axis.unit ? `${axis.name} / ${axis.unit}` : axis.name, log: axis.log, categories: numeric ? [] : axis.labels },
      y: { label: unit ? `${name} / ${unit}` : name, log: false, categories: [], from_zero: true },
      link: "",
      series,
    };
  };

  let choices = 0;
  const choice = (label, options, chosen, then) => {
    const id = `choice-${++choices}`;
    const select = element("select", { id, on: { change: () => then(Number(select.value)) } });
    options.forEach(([value, text]) => select.append(new Option(text, value, value === chosen, value === chosen)));
    return element("div", {}, element("label", { for: id, text: label }), select);
  };

  // One figure with its choices.
  const explorer = (grid, first, place) => {
    const state = { metric: first, x: longest(grid), by: [], at: grid.axes.map(() => 0) };
    const others = () => grid.axes.map((_, a) => a).filter((a) => a !== state.x);
    // All other axes make series, as long as these can be told apart.
    const spread = () => {
      state.by = [];
      let lines = 1;
      for (const a of others()) {
        if (lines * grid.axes[a].labels.length > 14) continue;
        lines *= grid.axes[a].labels.length;
        state.by.push(a);
      }
    };
    spread();
    const holder = element("figure", { class: "chart" });
    const chosen = element("div", { class: "choices", role: "group", "aria-label": "What the figure shows" });
    place.append(chosen, holder);
    let chart = null;
    const draw = () => {
      chart?.remove();
      const figure = figureOf(grid, state);
      const heading = element("h3", { text: figure.title });
      const percent = look.number(100 * grid.confidence);
      const said = `${figure.says ? `${figure.says}. ` : ""}Means with their ${percent} % confidence intervals.`;
      holder.setAttribute("aria-label", figure.title);
      holder.replaceChildren(heading, element("figcaption", { text: said }));
      chart = report.show(figure, holder);
      choose();
    };
    const choose = () => {
      const axes = grid.axes.map((axis, a) => [a, axis.name]);
      const focused = [...chosen.querySelectorAll("select")].indexOf(document.activeElement);
      const made = [
        choice("Metric", grid.metrics.map((m, k) => [k, m.name]), state.metric, (k) => ((state.metric = k), draw())),
        choice("against", axes, state.x, (a) => ((state.x = a), spread(), draw())),
        ...others().map((a) =>
          choice(
            grid.axes[a].name,
            [[-1, "each its own series"], ...grid.axes[a].labels.map((label, k) => [k, label])],
            state.by.includes(a) ? -1 : state.at[a],
            (k) => {
              state.by = state.by.filter((b) => b !== a);
              if (k < 0) state.by = [...state.by, a].sort();
              else state.at[a] = k;
              draw();
            },
          ),
        ),
      ];
      chosen.replaceChildren(...made);
      chosen.querySelectorAll("select")[focused]?.focus();
    };
    draw();
  };

  // The axis that makes the best horizontal one: numbers before names, many values before few.
  const longest = (grid) => {
    const worth = grid.axes.map((axis) => axis.labels.length + (axis.numbers.length ? 1000 : 0));
    return worth.indexOf(Math.max(...worth));
  };

  report.explore = (grid, place) => {
    if (!grid.axes.length) return;
    grid.first.forEach((metric) => explorer(grid, metric, place.appendChild(element("div"))));
  };
}
