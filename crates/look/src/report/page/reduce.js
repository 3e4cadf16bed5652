// What of a long series must be drawn: no more points than the screen can show, and no extreme left out. This is what
// keeps a figure of a hundred thousand points as quick as one of a thousand.
"use strict";

{
  // The first place at which x is not below the value; x rises.
  const lower = (x, value) => {
    let [from, to] = [0, x.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (x[middle] < value) from = middle + 1;
      else to = middle;
    }
    return from;
  };

  // From where to where (exclusive) a series is in sight; lines with one point more on each side, so that they reach
  // the edge.
  const seen = (series, [from, to], lined) => {
    let first = lower(series.x, from);
    let last = lower(series.x, to);
    while (last < series.x.length && series.x[last] <= to) last++;
    if (lined) {
      first = Math.max(0, first - 1);
      last = Math.min(series.x.length, last + 1);
    }
    return [first, last];
  };

  // Places to draw of a line: of each column of pixels the first, the lowest, the highest and the last.
  const columns = (series, first, last, [from, to], width) => {
    const places = [];
    if (last - first <= 4 * width) {
      for (let k = first; k < last; k++) places.push(k);
      return places;
    }
    const scale = width / (to - from);
    let k = first;
    while (k < last) {
      const column = Math.floor((series.x[k] - from) * scale);
      const begin = k;
      let [low, high] = [k, k];
      for (; k < last && Math.floor((series.x[k] - from) * scale) === column; k++) {
        if (series.y[k] < series.y[low]) low = k;
        if (series.y[k] > series.y[high]) high = k;
      }
      const four = [begin, Math.min(low, high), Math.max(low, high), k - 1];
      four.forEach((place, n) => (n === 0 || place !== four[n - 1]) && places.push(place));
    }
    return places;
  };

  // Places to draw of a cloud of points: one for each pixel.
  const pixels = (series, first, last, x, y, width, height) => {
    const places = [];
    if (last - first <= width) {
      for (let k = first; k < last; k++) places.push(k);
      return places;
    }
    const taken = new Uint8Array((width + 1) * (height + 1));
    const across = width / (x[1] - x[0]);
    const up = height / (y[1] - y[0]);
    for (let k = first; k < last; k++) {
      const row = Math.round((series.y[k] - y[0]) * up);
      if (row < 0 || row > height) continue;
      const cell = row * (width + 1) + Math.round((series.x[k] - x[0]) * across);
      if (!taken[cell]) {
        taken[cell] = 1;
        places.push(k);
      }
    }
    return places;
  };

  // The lowest and the highest value of a series from place to place, intervals included.
  const ends = (series, first, last) => {
    let [low, high] = [Infinity, -Infinity];
    for (let k = first; k < last; k++) {
      const half = series.half ? series.half[k] : 0;
      if (series.y[k] - half < low) low = series.y[k] - half;
      if (series.y[k] + half > high) high = series.y[k] + half;
    }
    return [low, high];
  };

  // The place of the point nearest to x.
  const nearest = (series, x) => {
    const after = lower(series.x, x);
    if (after === 0) return 0;
    if (after === series.x.length) return after - 1;
    return x - series.x[after - 1] <= series.x[after] - x ? after - 1 : after;
  };

  report.reduce = { lower, seen, columns, pixels, ends, nearest };
}
