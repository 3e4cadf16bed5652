// The numbers of a page: arrays as typed arrays, each decoded when it is first needed.
"use strict";

const report = {};

{
  const bytes = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const all = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) all[k] = raw.charCodeAt(k);
    return all;
  };

  // Numbers kept as differences of whole multiples: seven bits a byte, the last byte of each below 128, the sign in the
  // lowest bit. Products in place of shifts, which would be of 32 bits.
  const sums = (raw, scale) => {
    const all = new Float64Array(raw.reduce((count, byte) => count + (byte < 128), 0));
    let [k, sum, value, factor] = [0, 0, 0, 1];
    for (const byte of raw) {
      value += (byte & 127) * factor;
      factor *= 128;
      if (byte >= 128) continue;
      sum += value % 2 ? -(value + 1) / 2 : value / 2;
      all[k++] = sum / scale;
      [value, factor] = [0, 1];
    }
    return all;
  };

  // What a page holds (crates/look/src/report/embed.rs): figures as the scripts use them, each series with its numbers x, y
  // and, where there are intervals, half; grids and maps.
  report.decode = (embedded) => {
    const decoded = new Map();
    const array = (place) => {
      if (!decoded.has(place)) {
        const [kind, text] = embedded.arrays[place].split(":");
        const raw = bytes(text);
        if (kind === "32") decoded.set(place, new Float32Array(raw.buffer));
        else if (kind === "64") decoded.set(place, new Float64Array(raw.buffer));
        else decoded.set(place, sums(raw, Number(kind.slice(1))));
      }
      return decoded.get(place);
    };
    const figure = (place) => {
      const { data, ...figure } = embedded.figures[place];
      figure.series = figure.series.map((series, k) => ({
        ...series,
        x: array(data[k].x),
        y: array(data[k].y),
        half: data[k].half === null ? null : array(data[k].half),
        thinned: data[k].thinned,
      }));
      return figure;
    };
    return { figure, grid: (place) => embedded.grids[place], map: (place) => embedded.maps[place], title: embedded.title };
  };
}
