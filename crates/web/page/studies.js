// A study's figures: what is published, at once; what the simulator makes of it, run by run, with intervals that narrow.
"use strict";

{
  const { element } = report;
  const MARKERS = ["circle", "square", "triangle", "diamond", "inverted"];
  // Intervals are worked out by the simulator's statistics: so often at most, ms.
  const PAUSE_MS = 250;

  const wait = (ms) => new Promise((go) => setTimeout(go, ms));

  class Study {
    constructor(holder) {
      this.holder = holder;
      this.hands = [];
      this.sums = new lab.Hand();
      this.going = 0;
      this.choice = element("select", { id: "study-figure", on: { change: () => this.choose() } });
      this.count = element("select", { id: "study-seeds" }, ...[1, 3, 10, 30].map((n) => element("option", { value: n, text: n === 1 ? "one seed" : `${n} seeds` })));
      this.count.value = 3;
      this.press = element("button", { type: "button", on: { click: () => (this.going ? this.stop() : this.start()) } });
      this.said = element("p", { role: "status", class: "quiet" });
      this.heading = element("h3");
      this.figure = element("figure", { class: "chart", hidden: "" }, this.heading);
      document.getElementById("study-runs").append(
        element("div", { class: "row" }, element("label", { for: "study-figure", text: "Figure" }), this.choice, element("label", { for: "study-seeds", text: "Seeds" }), this.count, this.press),
        this.said,
        this.figure,
      );
    }

    // Shows the figures of the study that this example is of, if it is of one.
    async show(name) {
      const wanted = (this.name = name);
      this.stop();
      this.holder.hidden = true;
      if (name === null) return;
      const sketches = (await lab.more()).studies[name];
      if (wanted !== this.name || !sketches?.length) return;
      this.sketches = sketches;
      this.choice.replaceChildren(...sketches.map(({ title }, k) => element("option", { value: k, text: title })));
      this.holder.hidden = false;
      this.choose();
    }

    choose() {
      this.stop();
      this.sketch = this.sketches[Number(this.choice.value)];
      const { curves, says, reference, title } = this.sketch;
      // One run for all that is measured under the same settings.
      const runs = new Map();
      this.spots = curves.map(({ spots }) => spots.map((spot) => ({ ...spot, values: [], mean: null, half: 0 })));
      for (const spot of this.spots.flat()) {
        const key = JSON.stringify(spot.set);
        if (!runs.has(key)) runs.set(key, { set: spot.set, spots: [] });
        runs.get(key).spots.push(spot);
      }
      this.runs = [...runs.values()];
      const known = this.spots.flat().some(({ published }) => published !== null);
      document.getElementById("study-says").textContent = [
        known ? `Hollow markers: ${reference}.` : "This figure has no published values.",
        `The study's quick form, ${this.runs.length} runs for each seed.`,
        says,
      ].join(" ");
      this.heading.textContent = title;
      this.said.textContent = "";
      this.clear();
      this.draw();
    }

    clear() {
      this.chart?.remove();
      this.chart = null;
      this.figure.querySelector(".body")?.remove();
      this.figure.hidden = true;
    }

    async start() {
      const round = (this.round = {});
      const { sketch, runs, name } = this;
      const wanted = () => this.round === round;
      this.going = true;
      this.press.textContent = "Stop";
      const first = await this.sums.does({ ask: { do: "check", name, text: sketch.scenario } });
      if (!wanted() || first.answer?.is !== "scenario") return;
      const count = Number(this.count.value);
      runs.forEach(({ spots }) => spots.forEach((spot) => (spot.values = [])));
      const jobs = Array.from({ length: count }, (_, k) => runs.map((run) => [run, first.answer.seed + k])).flat();
      const all = jobs.length;
      let [done, failed] = [0, null];
      while (this.hands.length < lab.cores()) this.hands.push(new lab.Hand());
      const work = async (hand) => {
        for (let job = jobs.shift(); job && wanted() && !failed; job = jobs.shift()) {
          const [{ set, spots }, seed] = job;
          const metrics = spots.map(({ metric }) => metric);
          const said = await hand.does({ scenario: { name, text: sketch.scenario, set, seed }, wanted: { metrics } });
          if (said.cancelled || !wanted()) return;
          if (said.failed) return (failed = said.failed);
          said.answer.values.forEach((value, k) => spots[k].values.push(value));
          spots.forEach((spot) => (spot.fresh = true));
          done++;
        }
      };
      let over = false;
      const working = Promise.all(this.hands.slice(0, lab.cores()).map(work)).then(() => (over = true));
      for (let last = false; !last && wanted(); ) {
        await Promise.race([working, wait(PAUSE_MS)]);
        last = over;
        await this.renew();
        if (!wanted()) return;
        this.said.textContent = failed ?? `${done} of ${all} runs.`;
      }
      if (wanted()) this.stop();
    }

    // Means and intervals of the points that have new values.
    async renew() {
      for (const spot of this.spots.flat().filter(({ fresh }) => fresh)) {
        spot.fresh = false;
        const said = await this.sums.does({ ask: { do: "estimate", values: spot.values } });
        if (said.answer?.is !== "estimates") continue;
        const { mean, half_width, incomplete } = said.answer.mean;
        // A mean over the runs that have a value would look like the mean over all.
        Object.assign(spot, { mean: incomplete ? null : mean, half: half_width ?? 0 });
      }
      this.draw();
    }

    stop() {
      this.round = null;
      this.going = false;
      this.press.textContent = "Run the study's figure";
      this.hands.forEach((hand) => hand.stop());
    }

    draw() {
      const { x, y, factor, curves, title, reference } = this.sketch;
      const named = x.categories.length > 0;
      const kind = !named ? "curve" : y.log ? "points" : "bars";
      const column = (spots, value) => Float64Array.from(spots, value);
      const series = curves.flatMap(({ label }, k) => {
        const name = label || "simulated";
        const style = { marker: MARKERS[k % MARKERS.length], dash: k % 4, off: false, remarks: [], thinned: false };
        const ours = this.spots[k].filter(({ mean }) => mean !== null);
        const theirs = this.spots[k].filter(({ published }) => published !== null);
        return [
          { ...style, label: name, kind, colour: k % 7, hollow: false, x: column(ours, (one) => one.x), y: column(ours, ({ mean }) => mean * factor), half: column(ours, ({ half }) => half * factor) },
          { ...style, label: `${name}, ${reference}`, kind: "points", colour: kind === "bars" ? 7 : k % 7, hollow: true, beside: name, x: column(theirs, (one) => one.x), y: column(theirs, ({ published }) => published), half: null },
        ].filter((one) => one.x.length > 0);
      });
      if (!series.length) return;
      const figure = { title, x: { ...x, from_zero: false }, y: { ...y, from_zero: true }, link: "", span: null, series };
      const form = JSON.stringify(series.map(({ label }) => label));
      if (this.chart && this.form === form) return this.chart.renew(figure);
      this.clear();
      this.form = form;
      this.figure.hidden = false;
      this.chart = report.show(figure, this.figure);
    }
  }

  lab.Study = Study;
}
