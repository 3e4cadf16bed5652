// Guided lessons: what is said, the scenario that goes with it, and questions that are checked against the run.
"use strict";

{
  const { element, look } = report;

  // The text with values in the place of those that are written there: `turns` are paths and texts.
  lab.turned = async (hand, text, turns) => {
    if (!turns.length) return text;
    const said = await hand.does({ ask: { do: "written", name: "", text } });
    const at = lab.places(text);
    const found = turns.flatMap(({ path, value }) => {
      const one = said.answer?.written?.find((one) => one.path === path);
      return one ? [{ from: at(one.at.start), to: at(one.at.end), value }] : [];
    });
    found.sort((a, b) => b.from - a.from);
    return found.reduce((text, { from, to, value }) => text.slice(0, from) + value + text.slice(to), text);
  };

  const near = (value, is, within) => Math.abs(value - is) <= within * Math.abs(is) + 1e-9;

  class Lessons {
    // `page` opens what a step wants; `changed` is told whenever there is something to be kept.
    constructor(holder, lessons, page, changed) {
      Object.assign(this, { holder, lessons, page, changed, at: null, answered: {} });
      this.hand = new lab.Hand();
      this.heading = element("h2", { id: "lesson-heading" });
      this.steps = element("ol", { class: "steps" });
      this.title = element("h3", { tabindex: "-1" });
      this.says = element("div");
      this.form = element("form", { on: { submit: (event) => (event.preventDefault(), this.check()) } });
      this.said = element("p", { role: "status", class: "said" });
      this.back = element("button", { type: "button", text: "Back", on: { click: () => this.go(this.at.step - 1) } });
      this.next = element("button", { type: "button", text: "Next", on: { click: () => this.go(this.at.step + 1) } });
      const leave = element("button", { type: "button", text: "Leave the lesson", on: { click: () => this.leave() } });
      this.source = element("p", { class: "quiet" });
      holder.append(
        element("div", { class: "row" }, this.heading, leave),
        this.steps,
        this.title,
        this.says,
        this.form,
        this.said,
        element("div", { class: "row" }, this.back, this.next),
        this.source,
      );
    }

    lesson() {
      return this.at && this.lessons.find(({ id }) => id === this.at.id);
    }

    step() {
      return this.lesson()?.step[this.at.step];
    }

    // Begins a lesson.
    begin(id) {
      this.enter(this.lessons.find((one) => one.id === id));
      this.go(0, false);
    }

    enter(lesson) {
      this.at = { id: lesson.id, step: 0 };
      this.holder.hidden = false;
      this.heading.textContent = lesson.title;
      this.source.textContent = `Sources: ${lesson.source}.`;
    }

    // Takes up what was kept: the scenario is that which was left, whatever the step began with.
    resume({ id, step, answered }) {
      if (answered && typeof answered === "object") {
        const steps = Object.entries(answered).filter(([, steps]) => Array.isArray(steps));
        this.answered = Object.fromEntries(steps);
      }
      const lesson = this.lessons.find((one) => one.id === id);
      if (!lesson || !lesson.step[step]) return;
      this.enter(lesson);
      Object.assign(this.at, { step });
      this.measured = {};
      this.seek = lesson.step[step].at_s;
      this.show(lesson);
      this.page.record(lesson.step[step].recorded);
    }

    kept() {
      return { ...this.at, answered: this.answered };
    }

    leave() {
      this.at = null;
      this.holder.hidden = true;
      this.page.alone();
      this.changed();
    }

    // Opens a step; `focus` goes to its heading where a button brought the reader there.
    async go(step, focus = true) {
      const lesson = this.lesson();
      this.at.step = step;
      this.measured = {};
      this.show(lesson);
      this.changed();
      if (focus) this.title.focus({ preventScroll: true });
      const { scenario, variant, recorded, at_s } = lesson.step[step];
      // A step without a scenario goes on with that of the one before: as it was written there, whatever was tried since.
      const written = scenario ?? lesson.step.slice(0, step).findLast((one) => one.scenario).scenario;
      const text = written.trimStart();
      const turned = await lab.turned(this.hand, text, variant);
      if (this.step() !== lesson.step[step]) return;
      this.seek = at_s ?? null;
      this.page.open({ name: `${lesson.id}.toml`, text, variant: variant.length ? turned : null, recorded });
    }

    show(lesson) {
      const { step } = this.at;
      const { title, says, question } = lesson.step[step];
      const marks = lesson.step.map((one, k) => {
        const done = this.answered[lesson.id]?.includes(k);
        const button = element("button", {
          type: "button",
          text: `${k + 1}${done ? " ✓" : ""}`,
          "aria-label": `Step ${k + 1}, ${one.title}${done ? ", answered" : ""}`,
          ...(k === step ? { "aria-current": "step" } : {}),
          on: { click: () => this.go(k) },
        });
        return element("li", {}, button);
      });
      this.steps.replaceChildren(...marks);
      this.title.textContent = title;
      this.says.replaceChildren(...says.trim().split(/\n\s*\n/).map((text) => element("p", { text })));
      this.back.disabled = step === 0;
      this.next.disabled = step === lesson.step.length - 1;
      this.tell("");
      this.ask(question);
    }

    ask(question) {
      this.field = null;
      this.form.replaceChildren();
      if (!question) return;
      const { asks, choose, reach } = question;
      const parts = [element("legend", { text: asks })];
      if (choose) {
        choose.forEach((one, k) => {
          const id = `answer-${k}`;
          parts.push(element("div", { class: "answer" }, element("input", { type: "radio", name: "answer", id, value: k }), element("label", { for: id, text: one.text })));
        });
      } else if (!reach) {
        const { unit } = question.number ?? question.measure;
        this.field = element("input", { type: "text", id: "answer", inputmode: "decimal", autocomplete: "off", maxlength: "30" });
        parts.push(element("div", { class: "row" }, element("label", { for: "answer", text: "Answer" }), this.field, element("span", { text: unit })));
      }
      const buttons = [
        ...(reach ? [] : [element("button", { type: "submit", text: "Check" })]),
        element("button", { type: "button", text: "Hint", on: { click: () => this.tell(question.hint) } }),
        element("button", { type: "button", text: reach ? "Do it for me" : "Show the answer", on: { click: () => this.reveal() } }),
      ];
      this.form.append(element("fieldset", {}, ...parts, element("div", { class: "row" }, ...buttons)));
    }

    tell(text, right = null) {
      this.said.textContent = text;
      this.said.dataset.verdict = right === null ? "" : right ? "pass" : "fail";
    }

    // The metrics that the question needs of a scenario.
    metrics(letter) {
      const { measure, reach } = this.step()?.question ?? {};
      if (measure?.of === letter) return [measure.metric];
      return reach && letter === "a" ? [reach.metric] : [];
    }

    // A scenario has been drawn; what was measured of it.
    ran(letter, measured) {
      const step = this.step();
      if (!step) return;
      if (letter === "a" && typeof this.seek === "number") this.page.seek(this.seek);
      if (letter === "a") this.seek = null;
      if (!measured) return;
      this.measured[letter] = { value: measured.values[0], unit: measured.units[0] };
      const { reach, right } = step.question ?? {};
      if (!reach || letter !== "a") return;
      const { value, unit } = this.measured.a;
      const there = value !== null && (reach.above === null || value > reach.above) && (reach.below === null || value < reach.below);
      if (there) return this.well(right);
      const bound = reach.above !== null ? `more than ${lab.quantity(reach.above, unit)}` : `less than ${lab.quantity(reach.below, unit)}`;
      this.tell(`It is ${lab.quantity(value, unit)} now; wanted is ${bound}.`);
    }

    well(words) {
      const { id, step } = this.at;
      const done = (this.answered[id] ??= []);
      const first = !done.includes(step);
      if (first) done.push(step);
      if (first) this.changed();
      const mark = this.steps.children[step].firstChild;
      mark.textContent = `${step + 1} ✓`;
      mark.setAttribute("aria-label", `Step ${step + 1}, ${this.step().title}, answered`);
      this.tell(words, true);
    }

    check() {
      const { choose, number, measure, right, hint } = this.step().question;
      const wrong = () => this.tell(`Not quite. ${hint}`, false);
      if (choose) {
        const chosen = this.form.querySelector("input:checked");
        if (!chosen) return this.tell("Choose an answer first.");
        return choose[Number(chosen.value)].right ? this.well(right) : wrong();
      }
      const written = this.field.value.trim().replace(/\s/g, "").replace(",", ".");
      const answer = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(written) ? Number(written) : NaN;
      if (!Number.isFinite(answer)) return this.tell(`“${this.field.value.slice(0, 30)}” is no number: write one like 3.14.`, false);
      const is = number ? number.is : this.value(measure);
      if (is === null) return this.tell("The run is not over yet: try again when it is.");
      return near(answer, is, (number ?? measure).within) ? this.well(right) : wrong();
    }

    value({ of, times }) {
      const value = this.measured[of]?.value;
      return value === null || value === undefined ? null : value * times;
    }

    reveal() {
      const { choose, number, measure, reach } = this.step().question;
      if (choose) this.form.querySelector(`input[value="${choose.findIndex(({ right }) => right)}"]`).checked = true;
      else if (reach) return this.page.turn(reach.turn);
      else {
        const is = number ? number.is : this.value(measure);
        if (is === null) return this.tell("The run is not over yet: try again when it is.");
        this.field.value = look.number(is).replaceAll(",", "");
      }
      this.check();
    }
  }

  lab.Lessons = Lessons;
}
