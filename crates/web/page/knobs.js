// The numbers of a scenario as sliders, its names as lists: turning one writes the value where it stands in the text.
"use strict";

{
  const { element } = report;
  // Numbers that are shares or probabilities by their names, and end at 1.
  const SHARES = /^(per|per_good|per_bad|probability|max_probability|correlation|alpha|beta|gamma|weight|ber)$/;

  // Where each byte of the text stands in it as JavaScript counts.
  const places = (text) => {
    if (/^[\x00-\x7f]*$/.test(text)) return (byte) => byte;
    const at = [];
    let k = 0;
    for (const one of text) {
      const code = one.codePointAt(0);
      const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      for (let n = 0; n < bytes; n++) at.push(k);
      k += one.length;
    }
    at.push(k);
    return (byte) => at[byte] ?? k;
  };

  const rounded = (value) => Number(value.toPrecision(3));

  // From where to where a number goes, and how: by equal ratios where it is above 0.
  const scale = ({ path, number, whole }) => {
    const key = path.split(".").at(-1);
    if (key === "seed") return { least: 1, most: Math.max(100, number), step: 1 };
    const share = SHARES.test(key) && number <= 1;
    if (number > 0) {
      const [low, high] = [number / 100, share ? 1 : number * 100];
      return { log: true, least: whole ? Math.max(1, low) : low, most: Math.max(high, number), whole };
    }
    return { least: number < 0 ? 2 * number : 0, most: share ? 1 : whole ? 10 : number < 0 ? 0 : 10, step: whole ? 1 : 0.01 };
  };

  const shown = (one, number) => (one.is === "quantity" ? `"${number}${one.unit}"` : String(number));
  const said = (one, number) => (one.is === "quantity" ? `${number} ${one.unit}` : String(number));

  class Knobs {
    // `write(from, to, text)` changes the text.
    constructor(holder, names, write) {
      Object.assign(this, { holder, names, write, form: "", knobs: [] });
    }

    // Shows what is written in this text.
    show(written, text) {
      const at = places(text);
      const all = written.flatMap((one) => {
        const key = one.path.split(".").findLast((part) => !/^\d+$/.test(part));
        const placed = { ...one, from: at(one.at.start), to: at(one.at.end) };
        if (one.is !== "name") return [placed];
        const before = text.slice(0, placed.from).replace(/[\w-]+\s*=\s*\[?\s*$/, "");
        const options = this.names.of(key, this.names.owner(before));
        if (!options.some((option) => option.name === one.name)) return [];
        const table = key === "kind" && one.table ? { from: at(one.table.start), to: at(one.table.end) } : null;
        return [{ ...placed, options, table }];
      });
      const form = JSON.stringify(all.map(({ path, is, unit, options }) => [path, is, unit, options?.length]));
      if (form === this.form) this.renew(all);
      else this.build(all, form);
    }

    renew(all) {
      all.forEach((one, k) => {
        const knob = this.knobs[k];
        Object.assign(knob.one, one);
        if (knob.input !== document.activeElement || !knob.held) knob.put();
      });
    }

    build(all, form) {
      this.form = form;
      this.knobs = [];
      const groups = new Map();
      for (const one of all) {
        const parts = one.path.split(".");
        const title = /^\d+$/.test(parts[1] ?? "") ? `${parts[0]} ${Number(parts[1]) + 1}` : parts.length > 1 ? parts[0] : "run";
        const label = (title === "run" ? parts : parts.slice(/^\d+$/.test(parts[1]) ? 2 : 1)).join(" ").replaceAll("_", " ");
        const knob = this.knob(one, `${title === "run" ? "" : `${title}, `}${label}`, label);
        this.knobs.push(knob);
        if (!groups.has(title)) groups.set(title, []);
        groups.get(title).push(knob.row);
      }
      const made = [...groups].map(([title, rows]) => element("fieldset", {}, element("legend", { text: title }), ...rows));
      this.holder.replaceChildren(...made);
    }

    knob(one, name, label) {
      const id = `knob-${this.holder.id}-${one.path}`;
      const knob = { one, held: false };
      const head = element("label", { for: id, text: label });
      if (one.is === "name") this.list(knob, id, name);
      else if (one.is === "flag") this.flag(knob, id, name);
      else this.slider(knob, id, name);
      knob.row = element("div", { class: "knob" }, head, knob.input, ...(knob.output ? [knob.output] : []));
      knob.put();
      return knob;
    }

    list(knob, id, name) {
      const options = knob.one.options.map((option) => element("option", { value: option.name, text: option.name, title: option.summary }));
      knob.input = element("select", { id, "aria-label": name }, ...options);
      knob.put = () => (knob.input.value = knob.one.name);
      knob.input.addEventListener("change", () => {
        const chosen = knob.one.options.find((option) => option.name === knob.input.value);
        // Another kind has other parameters: it comes with all of them.
        if (knob.one.table) this.write(knob.one.table.from, knob.one.table.to, chosen.scenario.replace(/^[^=]*=\s*/, ""));
        else this.turn(knob, `"${chosen.name}"`);
      });
    }

    flag(knob, id, name) {
      knob.input = element("input", { id, type: "checkbox", "aria-label": name });
      knob.put = () => (knob.input.checked = knob.one.flag);
      knob.input.addEventListener("change", () => this.turn(knob, String(knob.input.checked)));
    }

    slider(knob, id, name) {
      const { one } = knob;
      const ends = scale(one);
      const [to, from] = ends.log ? [Math.log10, (x) => 10 ** x] : [(x) => x, (x) => x];
      const [min, max] = [to(ends.least), to(ends.most)];
      knob.input = element("input", { id, type: "range", min, max, step: ends.step ?? (max - min) / 400, "aria-label": name });
      knob.output = element("output", { for: id });
      knob.put = () => {
        knob.input.value = to(one.number);
        knob.output.textContent = said(one, one.number);
        knob.input.setAttribute("aria-valuetext", said(one, one.number));
      };
      for (const [event, held] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
        knob.input.addEventListener(event, () => (knob.held = held));
      }
      knob.input.addEventListener("input", () => {
        const value = from(Number(knob.input.value));
        const number = one.whole ? Math.round(value) : rounded(value);
        if (number === one.number) return;
        one.number = number;
        knob.output.textContent = said(one, number);
        knob.input.setAttribute("aria-valuetext", said(one, number));
        this.turn(knob, shown(one, number));
      });
    }

    // Writes a value in the place of the one before; what stands behind it moves.
    turn(knob, text) {
      const { from, to } = knob.one;
      const by = text.length - (to - from);
      for (const { one } of this.knobs) {
        if (one.from > from) one.from += by;
        if (one.to >= to) one.to += by;
        if (one.table?.from > from) one.table.from += by;
        if (one.table?.to >= to) one.table.to += by;
      }
      this.write(from, to, text);
    }
  }

  lab.Knobs = Knobs;
  lab.places = places;
}
