// Many seeds at once, in as many workers as there are cores: means whose intervals narrow while one watches, of one scenario
// or of two under common random numbers.
"use strict";

{
  const { element, look } = report;

  class Seeds {
    // `scenarios()` gives one or two, `metrics` those that can be asked for.
    constructor(holder, scenarios, metrics) {
      Object.assign(this, { holder, scenarios, going: false });
      const option = (one) => element("option", { value: one.name, text: one.name, title: one.summary });
      this.metric = element("select", { id: "metric" }, ...metrics.map(option));
      this.metric.value = "goodput_bps";
      this.count = element("select", { id: "seeds" }, ...[10, 30, 100, 300].map((n) => element("option", { value: n, text: `${n} seeds` })));
      this.count.value = 30;
      this.press = element("button", { type: "button", text: "Run many seeds", on: { click: () => (this.going ? this.stop() : this.start()) } });
      this.said = element("p", { role: "status", class: "quiet" });
      this.table = element("div");
      this.figureHolder = element("figure", { class: "chart", hidden: "" }, element("h3", { text: "Mean and interval by number of runs" }));
      holder.append(
        element("div", { class: "row" }, element("label", { for: "metric", text: "Metric" }), this.metric, element("label", { for: "seeds", text: "Seeds" }), this.count, this.press),
        this.said,
        this.table,
        this.figureHolder,
      );
      this.hands = [];
      this.sums = new lab.Hand();
    }

    async start() {
      this.going = true;
      this.press.textContent = "Stop";
      this.failed = null;
      const [scenarios, name, count] = [this.scenarios(), this.metric.value, Number(this.count.value)];
      const values = scenarios.map(() => new Array(count).fill(undefined));
      const jobs = Array.from({ length: count }, (_, seed) => scenarios.map((_, k) => [k, seed])).flat();
      let unit = "";
      this.means = scenarios.map(() => []);
      this.chart?.remove();
      this.chart = null;
      this.figureHolder.querySelector(".body")?.remove();
      const cores = lab.cores();
      while (this.hands.length < cores) this.hands.push(new lab.Hand());
      let shown = Promise.resolve();
      const work = async (hand) => {
        for (let job = jobs.shift(); job && this.going; job = jobs.shift()) {
          const [k, seed] = job;
          const said = await hand.does({ scenario: { ...scenarios[k], seed: seed + 1 }, wanted: { metrics: [name] } });
          if (said.cancelled) return;
          if (said.failed) {
            this.failed ??= said.failed;
            this.going = false;
            return;
          }
          values[k][seed] = said.answer.values[0];
          unit = said.answer.units[0];
          shown = shown.then(() => this.show(name, unit, values));
        }
      };
      await Promise.all(this.hands.slice(0, cores).map(work));
      await shown;
      this.going = false;
      this.press.textContent = "Run many seeds";
      if (this.failed) this.said.textContent = this.failed;
    }

    stop() {
      this.going = false;
      this.hands.forEach((hand) => hand.stop());
    }

    // What is known by now: of the seeds that all scenarios have run, in order, so that the same seeds stand side by side.
    async show(name, unit, values) {
      const whole = values[0].map((_, seed) => seed).filter((seed) => values.every((of) => of[seed] !== undefined));
      if (!whole.length || whole.length === this.means[0].at(-1)?.n) return;
      const [a, b] = values.map((of) => whole.map((seed) => of[seed]));
      const said = await this.sums.does({ ask: { do: "estimate", values: a, others: b ?? [] } });
      if (!said.answer || said.answer.is !== "estimates") return;
      const { mean, other, difference, confidence } = said.answer;
      this.said.textContent = `${whole.length} of ${values[0].length} seeds. Intervals of ${(100 * confidence).toFixed(1)} % confidence.`;
      const row = (title, { mean, half_width, n, incomplete }) =>
        element(
          "tr",
          {},
          element("th", { scope: "row", text: title }),
          element("td", { class: "number", text: lab.quantity(mean, unit) }),
          element("td", { class: "number", text: half_width === null ? "–" : `± ${lab.quantity(half_width, unit)}` }),
          element("td", { class: "number", text: `${n}` }),
          element("td", { class: "number", text: `${incomplete}` }),
        );
      const rows = [row("A", mean), ...(other ? [row("B", other), row("A − B, seed by seed", difference)] : [])];
      const heads = ["", `Mean of ${name}`, "Interval", "Runs", "Without a value"].map((text) => element("th", { scope: "col", text }));
      this.table.replaceChildren(
        element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Means over seeds" },
          element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows))),
      );
      [mean, other].forEach((one, k) => one && this.means[k].push({ n: whole.length, ...one }));
      if (this.means[0].length > 1) this.draw(name, unit);
    }

    draw(name, unit) {
      const series = this.means.map((means, k) => {
        const drawn = means.filter(({ mean, half_width }) => mean !== null && half_width !== null);
        return {
          label: "AB"[k],
          kind: "curve",
          colour: k,
          marker: k ? "square" : "circle",
          hollow: false,
          dash: k,
          off: false,
          remarks: [],
          x: Float64Array.from(drawn, ({ n }) => n),
          y: Float64Array.from(drawn, ({ mean }) => mean),
          half: Float64Array.from(drawn, ({ half_width }) => half_width),
          thinned: false,
        };
      });
      const axis = (label) => ({ label, log: false, categories: [], from_zero: false });
      const figure = { title: `${name} over seeds`, x: axis("Runs"), y: axis(unit ? `${name} / ${unit}` : name), link: "", span: null, series };
      if (!series.some(({ x }) => x.length > 1)) return;
      this.figureHolder.hidden = false;
      if (this.chart) this.chart.renew(figure);
      else this.chart = report.show(figure, this.figureHolder);
    }
  }

  lab.Seeds = Seeds;
}
