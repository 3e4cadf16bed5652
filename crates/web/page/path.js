// A flow's path as a picture that moves: segments on their way, the queue where they wait, ACKs that come back, what noise
// strikes, and what the sender makes of it.
//
// Drawn of what a run records: when a segment left, when it arrived, when and of what it was lost. Where it is in between is
// worked out from that, with all of its waiting in one queue; ACKs take what the smallest round trip leaves for the way back.
"use strict";

{
  const { element, look, reduce } = report;
  const [WIDTH, HEIGHT, LEFT, RIGHT, THERE, BACK] = [860, 300, 110, 750, 120, 215];
  // How much of the way there lies before the queue, of what is not waiting.
  const BEFORE = 0.25;
  // Where, at the nearest, what strikes a segment on its way is drawn: beyond the queue.
  const BEYOND = 0.55;
  // How long the last event is told of, and what was lost is seen, s on the screen.
  const HELD = 1.6;
  const [FILE, COLUMNS] = [10, 7]; // segments that wait in a column, and columns of the queue that is drawn
  // What is said beside a segment that is lost.
  const TAKEN = { queue: "no room", channel: "noise", outage: "outage" };

  const labelled = (figure, label) => figure?.series.find((series) => series.label === label) ?? { x: [], y: [] };
  const byte = (kilobytes) => Math.round(kilobytes * 1000);
  // The value of a step series at a time.
  const at = ({ x, y }, time) => {
    let k = reduce.lower(x, time);
    if (x[k] !== time) k -= 1;
    return k < 0 ? null : y[k];
  };

  // One-way delays of segments that waited for no other one: what came behind a hole was handed on late.
  const passages = (figure) => {
    const rtt = labelled(figure, "RTT");
    const { x, y } = labelled(figure, "delay of segments");
    const all = Array.from(x, (arrived, k) => ({ arrived, took: y[k] / 1000, left: arrived - y[k] / 1000 }));
    return all.filter(({ arrived, took }) => took <= (at(rtt, arrived) ?? Infinity) / 1000).sort((a, b) => a.left - b.left);
  };

  // What the page of a run knows of a flow, as journeys.
  const model = (figures, flow) => {
    const figure = (what) => figures.find(({ title }) => title === `${flow}: ${what}`);
    const [sequence, delays, windows] = ["segments and ACKs", "round-trip time and delay", "congestion window and threshold"].map(figure);
    const known = passages(delays);
    if (!sequence || !known.length) return null;
    const least = known.reduce((least, { took }) => Math.min(least, took), Infinity);
    const lefts = Float64Array.from(known, ({ left }) => left);
    const took = (left) => {
      const k = reduce.lower(lefts, left - 1e-6);
      const [before, after] = [known[k - 1] ?? known[0], known[k] ?? known.at(-1)];
      if (Math.abs(after.left - left) < 2e-6 || after.left === before.left) return after.took;
      const share = Math.min(1, Math.max(0, (left - before.left) / (after.left - before.left)));
      return before.took + share * (after.took - before.took);
    };
    const sent = ["sent", "sent again"].flatMap((label) => {
      const { x, y } = labelled(sequence, label);
      return Array.from(x, (left, k) => ({ left, first: byte(y[k]), took: took(left), again: label !== "sent", lost: null }));
    });
    sent.sort((a, b) => a.left - b.left);
    const of = new Map();
    for (const one of sent) {
      if (!of.has(one.first)) of.set(one.first, []);
      of.get(one.first).push(one);
    }
    const events = [];
    for (const { label, x, y, remarks } of sequence.series) {
      const cause = label.match(/^segment lost: (.*)$/)?.[1];
      const verdict = label.match(/^judged (\w+), (\w+)$/);
      for (let k = 0; k < x.length; k++) {
        if (cause) {
          const one = of.get(byte(y[k]))?.findLast(({ left }) => left <= x[k]);
          if (one) one.lost = { time: x[k], cause };
          events.push({ time: x[k], cause, where: remarks[k] });
        } else if (verdict) events.push({ time: x[k], verdict: verdict[1], right: verdict[2] === "rightly", remark: remarks[k] });
      }
    }
    events.sort((a, b) => a.time - b.time);
    const rtts = labelled(delays, "RTT").y;
    const round = rtts.reduce((least, rtt) => Math.min(least, rtt / 1000), Infinity);
    const back = Math.max(1e-4, (Number.isFinite(round) ? round : 2 * least) - least);
    return {
      flow,
      sent,
      lefts: Float64Array.from(sent, ({ left }) => left),
      longest: sent.reduce((most, { took }) => Math.max(most, took), 0),
      least,
      back,
      round: least + back,
      acks: labelled(sequence, "acknowledged").x,
      cwnd: labelled(windows, "cwnd"),
      flight: labelled(windows, "in flight"),
      events,
      times: Float64Array.from(events, ({ time }) => time),
      end: sequence.span?.[1] ?? sent.at(-1).left,
    };
  };

  // Where a segment is at a time: a share of the way, and whether it waits there.
  const where = ({ left, took }, { least }, time) => {
    const [gone, waits] = [time - left, Math.max(0, took - least)];
    if (gone < BEFORE * least) return [gone / least, false];
    if (gone < BEFORE * least + waits) return [BEFORE, true];
    return [(gone - waits) / least, false];
  };

  const LOSSES = {
    queue: (on) => `The queue is full: a segment is dropped (${on}).`,
    channel: (on) => `Noise destroys a segment (${on}).`,
    outage: (on) => `The link is silent: a segment is lost (${on}).`,
  };

  // What has just happened, in words.
  const told = (made, time, held) => {
    const { events, times } = made;
    const recent = events.slice(reduce.lower(times, time - held), reduce.lower(times, time + 1e-9));
    const last = recent.findLast(({ verdict }) => verdict) ?? recent.at(-1);
    if (!last) return "";
    if (last.cause) return (LOSSES[last.cause] ?? ((on) => `A segment is lost: ${last.cause} (${on}).`))(last.where);
    const [truth, noticed] = last.remark.split("; ");
    const judged = last.right ? `${last.verdict}, and it is right` : `${last.verdict}, wrongly: ${truth}`;
    const window = at(made.cwnd, time);
    return `The sender has ${(noticed ?? "noticed").replace("noticed", "noticed a loss")}. It takes the loss for ${judged}.${window === null ? "" : ` Its window is now ${look.number(window)} kB.`}`;
  };

  const cross = (pen, x, y, r) => {
    pen.beginPath();
    pen.moveTo(x - r, y - r);
    pen.lineTo(x + r, y + r);
    pen.moveTo(x + r, y - r);
    pen.lineTo(x - r, y + r);
    pen.stroke();
  };

  const dot = (pen, x, y, r) => {
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fill();
  };

  const across = (share) => LEFT + share * (RIGHT - LEFT);
  // The left edge of a column of the queue; the first one is served.
  const queueAt = (column) => across(BEFORE) - 4 - 9 * column;

  // Both ends, the wires between them and the queue; `size` is that of the words.
  const ground = (pen, made, time, size) => {
    pen.strokeStyle = look.quiet();
    pen.fillStyle = look.ink();
    pen.lineWidth = 1.5;
    for (const y of [THERE, BACK]) {
      pen.beginPath();
      pen.moveTo(LEFT, y);
      pen.lineTo(RIGHT, y);
      pen.stroke();
    }
    for (const x of [LEFT - 92, RIGHT]) pen.strokeRect(x, THERE - 30, 92, BACK - THERE + 64 + size);
    pen.textAlign = "center";
    pen.fillText("sender", LEFT - 46, THERE - 8);
    pen.fillText("receiver", RIGHT + 46, THERE - 8);
    pen.fillStyle = look.quiet();
    pen.fillText("segments →", (LEFT + RIGHT) / 2 + 90, THERE + 28);
    pen.fillText("← ACKs", (LEFT + RIGHT) / 2 + 90, BACK + 28);
    // The queue is open where segments come in, at its back.
    const [back, front, top] = [queueAt(COLUMNS - 1) - 4, queueAt(0) + 11, THERE - 9 * FILE - 8];
    pen.beginPath();
    pen.moveTo(back, top);
    pen.lineTo(front, top);
    pen.lineTo(front, THERE - 4);
    pen.stroke();
    // The window and what of it is on its way.
    const [window, flight] = [at(made.cwnd, time) ?? 0, at(made.flight, time) ?? 0];
    const most = made.most ??= made.cwnd.y.reduce((most, value) => Math.max(most, value), 1);
    const tall = BACK - THERE;
    pen.strokeRect(LEFT - 60, THERE + 4, 28, tall);
    pen.fillStyle = look.colour(0);
    pen.globalAlpha = 0.35;
    pen.fillRect(LEFT - 60, THERE + 4 + tall * (1 - window / most), 28, (tall * window) / most);
    pen.globalAlpha = 1;
    const filled = Math.min(1, flight / most);
    pen.fillRect(LEFT - 54, THERE + 4 + tall * (1 - filled), 16, tall * filled);
    pen.fillStyle = look.ink();
    pen.fillText("window", LEFT - 46, BACK + 24);
    pen.fillText(`${look.number(Math.round(window))} kB`, LEFT - 46, BACK + 25 + size);
  };

  // `shown` is how wide the picture is on the screen: on a small one its words are larger.
  const draw = (pen, made, time, held, shown) => {
    pen.clearRect(0, 0, WIDTH, HEIGHT);
    const size = Math.min(25, Math.max(17, Math.round((10.5 * WIDTH) / shown)));
    pen.font = `${size}px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif`;
    ground(pen, made, time, size);
    const from = reduce.lower(made.lefts, time - made.longest - held);
    let waiting = 0;
    for (let k = from; k < made.sent.length && made.sent[k].left <= time; k++) {
      const one = made.sent[k];
      if (one.lost && time >= one.lost.time) {
        const since = time - one.lost.time;
        if (since > held) continue;
        const share = one.lost.cause === "queue" ? BEFORE : Math.max(BEYOND, where(one, made, one.lost.time)[0]);
        pen.strokeStyle = look.colour(one.lost.cause === "queue" ? 1 : 3);
        pen.lineWidth = 3;
        const [x, y] = [across(Math.min(0.92, share)), THERE - 24 - 34 * (since / held)];
        // What finds no room is seen above the queue.
        const at = one.lost.cause === "queue" ? [queueAt(COLUMNS) - 26, THERE - 60 - 34 * (since / held)] : [x, y];
        cross(pen, ...at, 7);
        pen.fillStyle = pen.strokeStyle;
        pen.textAlign = "center";
        pen.fillText(TAKEN[one.lost.cause] ?? one.lost.cause, at[0], at[1] - 14);
        continue;
      }
      const [share, waits] = where(one, made, time);
      if (share >= 1) continue;
      pen.fillStyle = look.colour(one.again ? 4 : 0);
      if (waits) {
        const [column, row] = [Math.floor(waiting / FILE), waiting % FILE];
        if (column < COLUMNS) pen.fillRect(queueAt(column), THERE - 14 - 9 * row, 7, 7);
        waiting++;
      } else dot(pen, across(share), THERE, 4);
    }
    pen.fillStyle = look.ink();
    pen.textAlign = "center";
    pen.fillText(`queue: ${waiting}`, queueAt((COLUMNS - 1) / 2), THERE + 28);
    pen.fillStyle = look.colour(2);
    for (let k = reduce.lower(made.acks, time); k < made.acks.length && made.acks[k] - made.back <= time; k++) {
      dot(pen, across((made.acks[k] - time) / made.back), BACK, 3);
    }
    return waiting;
  };

  // Those on the page: where one is moved, the others follow.
  const all = new Set();

  class Path {
    // `title` is what the scenario is called.
    constructor(title) {
      this.canvas = element("canvas", { class: "path", role: "img", "aria-label": `${title}: the path at a moment` });
      this.flows = element("select", { "aria-label": `${title}: flow whose path is shown`, on: { change: () => this.choose() } });
      this.play = element("button", { type: "button", text: "Play", on: { click: () => (this.going ? this.stop() : this.start()) } });
      this.next = element("button", { type: "button", text: "Next loss", title: "Goes to shortly before the next loss and plays it", on: { click: () => this.loss() } });
      this.slider = element("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": `${title}: time of the path`, on: { input: () => (this.stop(), this.look(Number(this.slider.value))) } });
      this.clock = element("output");
      const paces = [["in two seconds a round trip", 2], ["in half a second a round trip", 0.5], ["in a tenth of a second a round trip", 0.1]];
      this.pace = element("select", { "aria-label": `${title}: how slowly the path is shown` }, ...paces.map(([text, value]) => element("option", { value, text })));
      this.words = element("p", { class: "told" });
      this.holder = element(
        "figure",
        { class: "chart", hidden: "" },
        element("h3", { text: "The path" }),
        element("figcaption", { text: "Blue dots are segments under way, green ones the ACKs for them; squares wait in the queue, crosses are lost. The bar is the sender's window, its dark part what is under way. Press Play, move the slider, or point at a time in the figures below." }),
        element("div", { class: "row" }, this.play, this.next, this.pace, this.flows),
        this.canvas,
        element("div", { class: "scrub" }, this.slider, this.clock),
        this.words,
      );
      // It begins where the others are.
      this.time = [...all][0]?.time ?? 0;
      this.wide = WIDTH;
      all.add(this);
      this.resized = new ResizeObserver(() => this.resize());
      this.resized.observe(this.canvas);
      this.heard = { pub: (type, chart, left) => type === "mousemove" && left >= 0 && !this.going && this.look(chart.posToVal(left, "x"), false) };
      uPlot.sync("time").sub(this.heard);
    }

    // Takes a run's figures; the picture is worked out when there is time.
    show(figures) {
      this.figures = figures;
      const flows = figures.flatMap(({ title }) => title.match(/^(.*): segments and ACKs$/)?.[1] ?? []);
      if (flows.join("\n") !== this.known) {
        this.known = flows.join("\n");
        this.flows.replaceChildren(...flows.map((flow) => element("option", { value: flow, text: flow })));
        this.flows.hidden = flows.length < 2;
      }
      clearTimeout(this.soon);
      this.soon = setTimeout(() => this.choose());
    }

    choose() {
      this.made = this.flows.value ? model(this.figures, this.flows.value) : null;
      this.holder.hidden = !this.made;
      if (!this.made) return this.stop();
      this.slider.max = this.made.end;
      this.next.disabled = !this.made.events.some(({ cause }) => cause);
      this.look(Math.min(this.time, this.made.end), false);
    }

    // How much time of the run goes by in a second.
    rate() {
      return this.made.round / Number(this.pace.value);
    }

    // As many pixels as are seen. Asked for here alone: to ask at each picture would have the page laid out each time.
    resize() {
      const wide = (this.wide = this.canvas.clientWidth || WIDTH);
      const width = Math.round(wide * (window.devicePixelRatio || 1));
      if (width !== this.canvas.width) Object.assign(this.canvas, { width, height: Math.round((width * HEIGHT) / WIDTH) });
      this.look(this.time, false);
    }

    // The picture of a moment; `led`: whether the others follow.
    look(time, led = true) {
      this.time = time;
      if (led) for (const other of all) if (other !== this && !other.going) other.look(Math.min(time, other.made?.end ?? time), false);
      if (!this.made) return;
      const pen = this.canvas.getContext("2d");
      pen.setTransform(this.canvas.width / WIDTH, 0, 0, this.canvas.height / HEIGHT, 0, 0);
      this.waiting = draw(pen, this.made, time, HELD * this.rate(), this.wide);
      this.slider.value = time;
      this.clock.textContent = `${time.toFixed(3)} s`;
      this.slider.setAttribute("aria-valuetext", this.clock.textContent);
      const words = told(this.made, time, HELD * this.rate());
      if (words !== this.words.textContent) this.words.textContent = words;
    }

    // Goes to a moment, also before there is anything to be seen.
    seek(time) {
      this.stop();
      this.look(time);
    }

    // Plays the next loss: from before it until the sender has noticed it.
    loss() {
      const { events, end, round } = this.made;
      const lost = events.filter(({ cause }) => cause);
      const next = lost.find(({ time }) => time > this.time + 1e-3) ?? lost[0];
      if (!next) return (this.words.textContent = "Nothing is lost in this run.");
      const seen = events.find(({ time, verdict }) => verdict && time > next.time)?.time ?? next.time;
      this.stop();
      this.look(Math.max(0, next.time - 0.6 * round));
      this.start(Math.min(end, Math.max(next.time, Math.min(seen, next.time + 4 * round)) + 0.5 * round));
    }

    // Plays until then, or to the end.
    start(until = this.made.end) {
      if (this.time >= this.made.end) this.time = 0;
      this.going = true;
      this.play.textContent = "Pause";
      // Who wants no motion gets pictures, four a second.
      const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 250 : 0;
      let before = performance.now();
      const step = (now) => {
        if (!this.going) return;
        const passed = Math.min(now - before, still + 100);
        if (passed >= still) {
          before = now;
          this.look(Math.min(until, this.time + (passed / 1000) * this.rate()));
          if (this.time >= until) return this.stop();
        }
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    }

    stop() {
      this.going = false;
      this.play.textContent = "Play";
    }

    repaint() {
      this.look(this.time, false);
    }

    remove() {
      all.delete(this);
      this.stop();
      clearTimeout(this.soon);
      this.resized.disconnect();
      uPlot.sync("time").unsub(this.heard);
    }
  }

  lab.Path = Path;
}
