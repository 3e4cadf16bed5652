// What is taken away: a figure as SVG, as it is shown, and all its numbers as CSV.
"use strict";

{
  const { look } = report;
  const WIDTH = 900;
  const FRAME = { left: 90, top: 70, width: 780, height: 400 };
  const INK = "#222222";
  const FAINT = "#e4e4e4";

  const escape = (text) =>
    String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

  // Round numbers between two ends.
  const ticks = ([from, to], log, most) => {
    if (log) {
      const decades = [];
      for (let k = Math.ceil(Math.log10(from)); k <= Math.floor(Math.log10(to)); k++) decades.push(10 ** k);
      if (decades.length > 1) return decades;
    }
    const raw = (to - from) / most;
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= raw);
    const all = [];
    for (let k = Math.ceil(from / step); k * step <= to * (1 + 1e-12); k++) all.push(Number((k * step).toPrecision(12)));
    return all;
  };

  const scale = ([from, to], log, begin, end) => {
    const f = log ? Math.log10 : (v) => v;
    return (v) => begin + ((f(v) - f(from)) / (f(to) - f(from))) * (end - begin);
  };

  const text = (x, y, words, extra = "") =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${extra}>${escape(words)}</text>`;

  const axes = (chart, x, y, atX, atY) => {
    const { left, top, width, height } = FRAME;
    const { categories } = chart.figure.x;
    const parts = [];
    for (const value of ticks(y, chart.figure.y.log, 6)) {
      parts.push(`<line x1="${left}" x2="${left + width}" y1="${atY(value)}" y2="${atY(value)}" stroke="${FAINT}"/>`);
      parts.push(text(left - 8, atY(value) + 5, look.number(value), 'text-anchor="end"'));
    }
    const across = categories.length ? categories.map((_, k) => k) : ticks(x, chart.figure.x.log, 8);
    for (const value of across) {
      if (value < x[0] || value > x[1]) continue;
      if (!categories.length) {
        parts.push(`<line y1="${top}" y2="${top + height}" x1="${atX(value)}" x2="${atX(value)}" stroke="${FAINT}"/>`);
      }
      parts.push(text(atX(value), top + height + 20, categories[value] ?? look.number(value), 'text-anchor="middle"'));
    }
    parts.push(`<path d="M${left},${top}V${top + height}H${left + width}" fill="none" stroke="${INK}"/>`);
    parts.push(text(left + width / 2, top + height + 44, chart.figure.x.label, 'text-anchor="middle"'));
    const middle = `transform="translate(22 ${top + height / 2}) rotate(-90)" text-anchor="middle"`;
    parts.push(text(0, 0, chart.figure.y.label, middle));
    return parts;
  };

  const drawn = (chart, k, atX, atY, y) => {
    const series = chart.figure.series[k];
    const colour = look.paper(series.colour);
    const { shift, width } = chart.beside(k);
    const places = chart.places[k];
    const at = (p) => [atX(series.x[p] + shift), atY(series.y[p])];
    const parts = [];
    if (series.half) {
      for (const p of places.filter((q) => series.half[q] > 0)) {
        const low = chart.figure.y.log ? Math.max(y[0], series.y[p] - series.half[p]) : series.y[p] - series.half[p];
        const [cx] = at(p);
        const [a, b] = [atY(low).toFixed(1), atY(series.y[p] + series.half[p]).toFixed(1)];
        const path = `M${(cx - 4).toFixed(1)},${a}h8M${cx.toFixed(1)},${a}V${b}m-4,0h8`;
        parts.push(`<path d="${path}" fill="none" stroke="${series.kind === "bars" ? INK : colour}" stroke-width="1.5"/>`);
      }
    }
    if (series.kind === "bars") {
      const ground = atY(Math.max(0, y[0]));
      const bars = places.map((p) => {
        const [left, right] = [-0.46, 0.46].map((share) => atX(series.x[p] + shift + share * width));
        const top = Math.min(ground, atY(series.y[p]));
        return `<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${(right - left).toFixed(1)}" height="${Math.abs(ground - atY(series.y[p])).toFixed(1)}" fill="${colour}"/>`;
      });
      parts.unshift(...bars);
    }
    if (look.lined(series)) {
      const points = places.map((p) => at(p).map((v) => v.toFixed(1)));
      const path = points.map(([px, py], n) => (n === 0 ? `M${px},${py}` : series.kind === "step" ? `H${px}V${py}` : `L${px},${py}`));
      const dash = look.dash(series.dash).join(" ");
      parts.push(`<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${dash}"/>`);
    }
    if (look.marked(series)) parts.push(...places.map((p) => look.markerSvg(series, ...at(p), colour)));
    return parts;
  };

  const legend = (chart) => {
    const parts = [];
    let [x, y] = [FRAME.left, 52];
    chart.figure.series.forEach((series, k) => {
      if (!chart.shown[k]) return;
      const width = 44 + 7.6 * series.label.length;
      if (x > FRAME.left && x + width > WIDTH - 20) [x, y] = [FRAME.left, y + 20];
      const swatch = look.swatch(series, look.paper(series.colour));
      parts.push(swatch.replace("<svg ", `<svg x="${x}" y="${y - 12}" `), text(x + 34, y, series.label));
      x += width;
    });
    return { parts, below: y + 16 };
  };

  // A figure as SVG text, as it is on the screen now, in the colours of paper.
  report.svg = (chart) => {
    const x = chart.view.x;
    const y = chart.view.y ?? chart.height();
    const said = legend(chart);
    FRAME.top = said.below;
    const { left, top, width, height } = FRAME;
    const atX = scale(x, chart.figure.x.log, left, left + width);
    const atY = scale(y, chart.figure.y.log, top + height, top);
    const all = chart.figure.series.flatMap((_, k) => (chart.shown[k] ? drawn(chart, k, atX, atY, y) : []));
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top + height + 60}" width="${WIDTH}" height="${top + height + 60}" font-family="sans-serif" font-size="14" fill="${INK}">`,
      `<title>${escape(chart.figure.title)}</title><rect width="100%" height="100%" fill="#ffffff"/>`,
      text(left, 28, chart.figure.title, 'font-size="18" font-weight="bold"'),
      ...said.parts,
      ...axes(chart, x, y, atX, atY),
      `<clipPath id="frame"><rect x="${left}" y="${top}" width="${width}" height="${height}"/></clipPath>`,
      `<g clip-path="url(#frame)">`,
      ...all,
      "</g></svg>",
    ].join("\n");
  };

  // All numbers of a figure as CSV, one row a point.
  report.csv = (figure) => {
    const quoted = (words) => (/[",\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words);
    const halves = figure.series.some((series) => series.half);
    const remarks = figure.series.some((series) => series.remarks?.length);
    const head = ["series", figure.x.label, figure.y.label];
    const rows = [[...head, ...(halves ? ["half width"] : []), ...(remarks ? ["remark"] : [])].map(quoted).join(",")];
    const number = (v, array) => String(array instanceof Float32Array ? Number(v.toPrecision(7)) : v);
    for (const series of figure.series) {
      const label = quoted(series.label);
      for (let k = 0; k < series.x.length; k++) {
        const x = figure.x.categories.length ? quoted(figure.x.categories[Math.round(series.x[k])]) : number(series.x[k], series.x);
        let row = `${label},${x},${number(series.y[k], series.y)}`;
        if (halves) row += `,${series.half ? number(series.half[k], series.half) : ""}`;
        if (remarks) row += `,${quoted(series.remarks?.[k] ?? "")}`;
        rows.push(row);
      }
    }
    return `${rows.join("\n")}\n`;
  };

  // Hands the reader a file.
  report.save = (chart, kind) => {
    const made = kind === "svg" ? report.svg(chart) : report.csv(chart.figure);
    const type = kind === "svg" ? "image/svg+xml" : "text/csv";
    const link = report.element("a", {
      href: URL.createObjectURL(new Blob([made], { type })),
      download: `${chart.figure.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "")}.${kind}`,
    });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };

  report.ticks = ticks;
}
