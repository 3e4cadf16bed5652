// What is drawn beside uPlot's lines: markers, bars, intervals. Called by uPlot when it has drawn a series.
"use strict";

{
  const { look } = report;

  // Runs `paint` on uPlot's canvas within the plotting area, in its pixels.
  const within = (u, paint) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.setLineDash([]); // what uPlot has left of a line
    paint(ctx, (x) => u.valToPos(x, "x", true), (y) => u.valToPos(y, "y", true), uPlot.pxRatio);
    ctx.restore();
  };

  const markers = (u, series, places, shift) =>
    within(u, (ctx, atX, atY, ratio) => {
      const r = look.radius(series) * ratio;
      const corners = look.corners(series.marker, r);
      ctx.fillStyle = ctx.strokeStyle = look.colour(series.colour);
      ctx.lineWidth = 2 * ratio;
      if (series.marker === "dot") {
        for (const k of places) ctx.fillRect(atX(series.x[k]) - r, atY(series.y[k]) - r, 2 * r, 2 * r);
        return;
      }
      for (const k of places) {
        const x = atX(series.x[k] + shift);
        const y = atY(series.y[k]);
        ctx.beginPath();
        if (corners) {
          corners.forEach(([dx, dy]) => ctx.lineTo(x + dx, y + dy));
          ctx.closePath();
        } else {
          ctx.arc(x, y, r, 0, 2 * Math.PI);
        }
        if (series.hollow) ctx.stroke();
        else ctx.fill();
      }
    });

  // Intervals as a band behind a curve.
  const band = (u, series, places) =>
    within(u, (ctx, atX, atY) => {
      ctx.globalAlpha = 0.13;
      ctx.fillStyle = look.colour(series.colour);
      ctx.beginPath();
      places.forEach((k) => ctx.lineTo(atX(series.x[k]), atY(series.y[k] + series.half[k])));
      places.toReversed().forEach((k) => ctx.lineTo(atX(series.x[k]), atY(floor(u, series.y[k] - series.half[k]))));
      ctx.fill();
    });

  // A logarithmic axis has no place for what is not above 0: there the interval goes to the edge.
  const floor = (u, y) => (u.scales.y.distr === 3 && y <= 0 ? u.scales.y.min : y);

  const whiskers = (u, series, places, shift, colour) =>
    within(u, (ctx, atX, atY, ratio) => {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1.5 * ratio;
      const cap = 4 * ratio;
      ctx.beginPath();
      for (const k of places) {
        if (!(series.half[k] > 0)) continue;
        const x = atX(series.x[k] + shift);
        const low = atY(floor(u, series.y[k] - series.half[k]));
        const high = atY(series.y[k] + series.half[k]);
        ctx.moveTo(x, low);
        ctx.lineTo(x, high);
        for (const y of [low, high]) {
          ctx.moveTo(x - cap, y);
          ctx.lineTo(x + cap, y);
        }
      }
      ctx.stroke();
    });

  const bars = (u, series, places, shift, width) =>
    within(u, (ctx, atX, atY) => {
      ctx.fillStyle = look.colour(series.colour);
      for (const k of places) {
        const left = atX(series.x[k] + shift - 0.46 * width);
        const right = atX(series.x[k] + shift + 0.46 * width);
        const ground = atY(Math.max(0, u.scales.y.min));
        ctx.fillRect(left, atY(series.y[k]), right - left, ground - atY(series.y[k]));
      }
    });

  // All of a series that is not its line. `shift` moves what stands at a name beside its neighbours.
  report.mark = (u, series, places, { shift, width }) => {
    if (series.kind === "bars") bars(u, series, places, shift, width);
    if (series.kind === "curve" && series.half) band(u, series, places);
    if (series.half) {
      whiskers(u, series, places, shift, series.kind === "bars" ? look.ink() : look.colour(series.colour));
    }
    if (look.marked(series)) markers(u, series, places, shift);
  };
}
