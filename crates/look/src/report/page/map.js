// A map that moves: stations where they are at a time, frames between them in that stretch of it, and what was lost.
// The time is the slider's, or that under the pointer in the figures with the same axis.
"use strict";

{
  const { look, element } = report;
  const [WIDTH, HEIGHT, MARGIN] = [720, 420, 36];

  // Where a station is: straight on from each of its points to the next.
  const place = ({ t, x, y }, time) => {
    let k = 1;
    while (k < t.length && t[k] < time) k++;
    if (k >= t.length) return [x[t.length - 1], y[t.length - 1]];
    const share = t[k] > t[k - 1] ? Math.max(0, (time - t[k - 1]) / (t[k] - t[k - 1])) : 1;
    const between = (a) => a[k - 1] + share * (a[k] - a[k - 1]);
    return [between(x), between(y)];
  };

  // From metres to the picture, the same both ways; north is up.
  const scale = (stations) => {
    const range = (values) => [Math.min(...values), Math.max(...values)];
    const [left, right] = range(stations.flatMap(({ x }) => range(x)));
    const [low, high] = range(stations.flatMap(({ y }) => range(y)));
    const wide = (WIDTH - 2 * MARGIN) / Math.max(right - left, 1);
    const metre = Math.min(wide, (HEIGHT - 2 * MARGIN) / Math.max(high - low, 1));
    const [dx, dy] = [(WIDTH - metre * (right - left)) / 2, (HEIGHT - metre * (high - low)) / 2];
    return { metre, at: ([x, y]) => [dx + metre * (x - left), HEIGHT - dy - metre * (y - low)] };
  };

  // A round length that fits into a quarter of the picture.
  const bar = (metre) => {
    const most = WIDTH / 4 / metre;
    const ten = 10 ** Math.floor(Math.log10(most));
    return [5, 2, 1].map((k) => k * ten).find((length) => length <= most) ?? ten;
  };

  const made = (name, attributes, text) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    if (text !== undefined) shape.textContent = text;
    return shape;
  };

  // The way of a flow's data at a time: from station to station, each to whom it last went on.
  const way = ({ t, from, to }, time) => {
    const next = new Map();
    for (let k = 0; k < t.length && t[k] <= time; k++) next.set(from[k], to[k]);
    const stations = [];
    let at = next.size > 0 ? from[0] : undefined;
    while (at !== undefined && !stations.includes(at)) {
      stations.push(at);
      at = next.get(at);
    }
    return stations;
  };

  const draw = (map, svg, { metre, at }, time) => {
    const stretch = Math.min(map.stretches.length - 1, Math.floor((time / map.end) * map.stretches.length));
    const places = map.stations.map((station) => at(place(station, time)));
    const links = map.stretches[stretch] ?? [];
    const most = Math.max(1, ...links.map(({ sent }) => sent));
    const shapes = [];
    const line = (a, b, width, colour) =>
      made("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: colour, "stroke-width": width, "stroke-linecap": "round" });
    for (const { from, to, sent } of links) {
      shapes.push(line(places[from], places[to], 1 + 5 * Math.sqrt(sent / most), look.colour(0)));
    }
    for (const { to, sent, met, faded } of links) {
      const ring = (lost, colour) => {
        const attributes = { cx: places[to][0], cy: places[to][1], r: 7 + 14 * Math.sqrt(lost / sent) };
        if (lost > 0) shapes.push(made("circle", { ...attributes, fill: "none", stroke: colour, "stroke-width": 4 }));
      };
      ring(faded, look.colour(4));
      ring(met, look.colour(1));
    }
    map.ways.forEach((drawn, k) => {
      const stations = way(drawn, time);
      const points = stations.map((station) => places[station].join(",")).join(" ");
      const attributes = { fill: "none", stroke: look.colour(drawn.colour), "stroke-width": 3, "stroke-dasharray": "8 6" };
      const shape = made("polyline", { ...attributes, points, "stroke-dashoffset": 3 * k });
      shape.dataset.way = stations.map((station) => map.stations[station].name).join(" ");
      shape.append(made("title", {}, `${drawn.flow}: ${shape.dataset.way}`));
      if (stations.length > 1) shapes.push(shape);
      shapes.push(made("text", { x: WIDTH - 8, y: 16 + 16 * k, fill: look.colour(drawn.colour), "font-size": 13, "text-anchor": "end" }, drawn.flow));
    });
    map.stations.forEach(({ name }, k) => {
      const [x, y] = places[k];
      shapes.push(made("circle", { cx: x, cy: y, r: 5, fill: look.ink() }));
      // At the right edge a name stands to the left of its station.
      const [side, anchor] = x > 0.85 * WIDTH ? [-9, "end"] : [9, "start"];
      const attributes = { x: x + side, y: y - 9, fill: look.ink(), "font-size": 14, "text-anchor": anchor };
      shapes.push(made("text", attributes, name));
    });
    const length = bar(metre);
    shapes.push(line([16, HEIGHT - 14], [16 + length * metre, HEIGHT - 14], 2, look.quiet()));
    shapes.push(made("text", { x: 16, y: HEIGHT - 20, fill: look.quiet(), "font-size": 12 }, `${look.number(length)} m`));
    svg.replaceChildren(...shapes);
  };

  report.showMap = (map, figure) => {
    const svg = made("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": map.title, class: "map" });
    const scaled = scale(map.stations);
    const told = element("output", {});
    const slider = element("input", {
      type: "range",
      min: 0,
      max: map.end,
      step: map.end / map.stretches.length,
      value: 0,
      "aria-label": `Time in ${map.title}`,
    });
    let time = 0;
    const show = (next) => {
      time = Math.min(Math.max(next, 0), map.end);
      slider.value = time;
      told.textContent = `${look.number(time)} s`;
      draw(map, svg, scaled, time);
    };
    slider.addEventListener("input", () => show(Number(slider.value)));
    figure.append(svg, element("div", { class: "scrub" }, slider, told));
    const heard = { pub: (type, chart, left) => type === "mousemove" && left >= 0 && show(chart.posToVal(left, "x")) };
    uPlot.sync(map.link).sub(heard);
    show(0);
    return { repaint: () => show(time), remove: () => uPlot.sync(map.link).unsub(heard) };
  };
}
