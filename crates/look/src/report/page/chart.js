// One figure on the screen: what is in sight of it, handed to uPlot.
"use strict";

{
  const { look, reduce } = report;
  const FONT = '13px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif';
  const charts = new Set();

  class Chart {
    constructor(figure, host) {
      this.figure = figure;
      this.host = host;
      this.shown = figure.series.map((series) => !series.off);
      this.all = this.extent();
      this.view = { x: this.all, y: null };
      this.places = figure.series.map(() => []);
      this.listeners = [];
      this.stale = true;
      charts.add(this);
      this.u = new uPlot(this.options(), [this.all, ...figure.series.map(() => [null, null])], host);
      this.draw();
      const inSight = (entries) => {
        this.inSight = entries.at(-1).isIntersecting;
        if (this.inSight && this.stale) this.draw();
      };
      this.observers = [new ResizeObserver(() => this.resize()), new IntersectionObserver(inSight)];
      this.observers.forEach((one) => one.observe(host));
    }

    // From where to where the horizontal axis goes when all is in sight.
    extent() {
      const { x, series, span } = this.figure;
      if (span) return span;
      if (x.categories.length) return [-0.5, x.categories.length - 0.5];
      let [from, to] = [Infinity, -Infinity];
      for (const one of series) {
        for (const value of [one.x[0], one.x.at(-1)]) {
          if (value < from) from = value;
          if (value > to) to = value;
        }
      }
      if (!(from <= to)) return [0, 1];
      if (x.log) return from === to ? [from / 2, to * 2] : [from / (to / from) ** 0.03, to * (to / from) ** 0.03];
      const curves = series.some((one) => one.kind === "curve");
      const margin = from === to ? Math.abs(from) || 1 : curves ? 0.03 * (to - from) : 0;
      return [from - margin, to + margin];
    }

    size() {
      const width = Math.max(240, this.host.clientWidth);
      return { width, height: Math.round(Math.min(440, Math.max(260, 0.5 * width))) };
    }

    options() {
      const { figure } = this;
      const axis = (side, of) => ({
        side,
        label: of.label,
        labelFont: FONT,
        font: FONT,
        stroke: () => look.ink(),
        grid: { stroke: () => look.faint(), width: 1 },
        ticks: { stroke: () => look.faint(), width: 1 },
        // Of a logarithmic axis some are not labelled, and what is small is told as a power.
        values: (u, splits) => splits.map((v) => (v === null ? "" : of.log && v < 1e-3 ? Number(v.toPrecision(6)).toExponential() : look.exact(v))),
      });
      const x = axis(2, figure.x);
      if (figure.x.categories.length) {
        x.splits = (u, k, from, to) =>
          figure.x.categories.map((_, n) => n).filter((n) => n >= from && n <= to);
        x.values = (u, splits) => splits.map((n) => figure.x.categories[n]);
        x.grid = { show: false };
      }
      const y = { ...axis(3, figure.y), size: (u, values) => 22 + 7.5 * Math.max(3, ...(values ?? []).map((v) => String(v ?? "").length)) };
      return {
        ...this.size(),
        pxAlign: 0,
        legend: { show: false },
        padding: [12, 14, 0, 0],
        scales: {
          x: { time: false, auto: false, distr: figure.x.log ? 3 : 1, range: () => this.view.x },
          y: { auto: false, distr: figure.y.log ? 3 : 1, range: () => this.view.y ?? this.height() },
        },
        axes: [x, y],
        series: [{}, ...figure.series.map((series) => this.line(series))],
        cursor: {
          points: { show: false },
          drag: { setScale: false, x: true, y: true, uni: 40 },
          bind: { dblclick: () => () => (this.reset(), null) },
          ...(figure.link
            ? {
                sync: {
                  key: figure.link,
                  scales: ["x", null],
                  filters: { pub: (type) => type === "mousemove" || type === "mouseleave" },
                },
              }
            : {}),
        },
        hooks: {
          drawSeries: [(u, k) => this.shown[k - 1] && report.mark(u, this.figure.series[k - 1], this.places[k - 1], this.beside(k - 1))],
          setSelect: [(u) => this.select(u)],
          setCursor: [(u) => this.tell("cursor", u)],
        },
      };
    }

    line(series) {
      const { linear, stepped } = uPlot.paths;
      const paths = { line: linear?.(), curve: linear?.(), step: stepped?.({ align: 1 }) }[series.kind];
      return {
        label: series.label,
        show: !series.off,
        stroke: () => look.colour(series.colour),
        width: series.kind === "curve" ? 2 : 1.5,
        dash: look.dash(series.dash),
        paths: paths ?? (() => null),
        points: { show: false },
      };
    }

    // Where among its neighbours a series stands that stands at a name, and how wide it is.
    beside(k) {
      if (!this.figure.x.categories.length) return { shift: 0, width: 0 };
      const labels = [...new Set(this.figure.series.map((series) => series.beside ?? series.label))];
      const width = 0.8 / labels.length;
      const series = this.figure.series[k];
      return { shift: (labels.indexOf(series.beside ?? series.label) + 0.5) * width - 0.4, width };
    }

    // From where to where the vertical axis goes, for what is in sight.
    height() {
      const { series, y } = this.figure;
      let [low, high] = [Infinity, -Infinity];
      series.forEach((one, k) => {
        if (!this.shown[k]) return;
        const [from, to] = reduce.ends(one, ...reduce.seen(one, this.view.x, look.lined(one)));
        if (from < low) low = from;
        if (to > high) high = to;
      });
      if (!(low <= high)) return y.log ? [1, 10] : [0, 1];
      if (y.log) {
        const least = Math.min(...series.flatMap((one, k) => (this.shown[k] ? Array.from(one.y).filter((v) => v > 0) : [])));
        low = Math.max(low, least / 2);
        return [low / 1.3, high * 1.3];
      }
      if (y.from_zero || series.some((one) => one.kind === "bars")) {
        low = Math.min(0, low);
        high = Math.max(0, high);
      }
      const margin = 0.05 * (high - low || Math.abs(high) || 1);
      return [low === 0 ? 0 : low - margin, high + margin];
    }

    // Works out what is in sight and hands it to uPlot.
    draw() {
      this.stale = false;
      const { series } = this.figure;
      const { x } = this.view;
      const y = this.view.y ?? this.height();
      // Of the whole figure: uPlot does not know its plotting area before it has drawn.
      const { width: across, height: up } = this.size();
      const lines = [];
      series.forEach((one, k) => {
        const [first, last] = reduce.seen(one, x, look.lined(one));
        const cloud = one.kind === "points" && !this.figure.x.log && !this.figure.y.log;
        if (!this.shown[k]) this.places[k] = [];
        else if (cloud) this.places[k] = reduce.pixels(one, first, last, x, y, across, up);
        else this.places[k] = reduce.columns(one, first, last, x, across);
        lines.push(look.lined(one) ? this.pair(one, this.places[k], (x[1] - x[0]) * 1e-9) : [[x[0]], [null]]);
      });
      this.u.setData(uPlot.join([[x, [null, null]], ...lines]).toSpliced(1, 1), false);
      this.u.batch(() => {
        this.u.setScale("x", { min: x[0], max: x[1] });
        this.u.setScale("y", { min: y[0], max: y[1] });
      });
      this.tell("drawn");
    }

    // A line's numbers with rising x: uPlot aligns lines by x, and would let one of two equal ones go.
    pair(series, places, least) {
      const xs = new Float64Array(places.length);
      const ys = new Array(places.length);
      places.forEach((k, n) => {
        xs[n] = n > 0 && series.x[k] <= xs[n - 1] ? xs[n - 1] + least : series.x[k];
        ys[n] = series.y[k];
      });
      return [xs, ys];
    }

    select(u) {
      const { left, top, width, height } = u.select;
      if (width < 4 && height < 4) return;
      const view = { x: this.view.x, y: this.view.y };
      if (width >= 4) view.x = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
      if (height >= 4 && height < u.over.clientHeight - 1) {
        view.y = [u.posToVal(top + height, "y"), u.posToVal(top, "y")];
      }
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      this.look(view);
    }

    // Shows another part; figures with the same time axis come along.
    look(view) {
      const least = (this.all[1] - this.all[0]) * 1e-7;
      if (!(view.x[1] - view.x[0] > least)) return;
      const wide = view.x[1] - view.x[0] >= this.all[1] - this.all[0];
      this.view = { x: wide ? this.all : view.x, y: view.y };
      this.draw();
      for (const other of charts) {
        if (other === this || !this.figure.link || other.figure.link !== this.figure.link) continue;
        other.view = { x: wide ? other.all : this.view.x, y: null };
        if (other.inSight) other.draw();
        else other.stale = true;
      }
    }

    // Zooms by a factor about a place on the horizontal axis, which is its middle unless said.
    zoom(factor, about) {
      const [from, to] = this.view.x;
      if (this.figure.x.log) {
        const middle = about ?? Math.sqrt(from * to);
        this.look({ x: [middle * (from / middle) ** factor, middle * (to / middle) ** factor], y: null });
      } else {
        const middle = about ?? (from + to) / 2;
        this.look({ x: [middle - (middle - from) * factor, middle + (to - middle) * factor], y: null });
      }
    }

    // Moves by a share of what is in sight, not beyond the ends.
    move(share) {
      const [from, to] = this.view.x;
      if (this.figure.x.log) {
        const by = (to / from) ** share;
        this.look({ x: [from * by, to * by], y: this.view.y });
        return;
      }
      const wanted = share * (to - from);
      const by = Math.max(this.all[0] - from, Math.min(this.all[1] - to, wanted));
      this.look({ x: [from + by, to + by], y: this.view.y });
    }

    reset() {
      this.look({ x: this.all, y: null });
    }

    toggle(k) {
      this.shown[k] = !this.shown[k];
      this.u.setSeries(k + 1, { show: this.shown[k] });
      this.draw();
    }

    resize() {
      const { width, height } = this.size();
      if (width === this.u.width && height === this.u.height) return;
      this.u.setSize({ width, height });
      this.draw();
    }

    repaint() {
      this.u.redraw(false, true);
      this.tell("painted");
    }

    // Shows other numbers in the same form: as many series, of the same kinds. The part in sight stays, unless it is all.
    renew(figure) {
      const wide = this.view.x === this.all;
      this.figure = figure;
      this.all = this.extent();
      const [from, to] = this.view.x;
      const within = !wide && from >= this.all[0] && to <= this.all[1];
      this.view = { x: within ? this.view.x : this.all, y: null };
      if (this.inSight) this.draw();
      else this.stale = true;
      this.tell("renewed");
    }

    remove() {
      charts.delete(this);
      this.observers.forEach((one) => one.disconnect());
      this.u.destroy();
    }

    on(what, then) {
      this.listeners.push([what, then]);
    }

    tell(what, with_) {
      for (const [wanted, then] of this.listeners) if (wanted === what) then(with_);
    }
  }

  report.Chart = Chart;
  report.charts = charts;
}
