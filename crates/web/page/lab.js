// The page: what is written, what it comes to, and what is kept of it.
"use strict";

{
  const { element, look } = report;
  const KEPT = "truckee-lab";
  // How long typing pauses before a scenario runs, ms; knobs do not wait.
  const PAUSE_MS = 250;

  const { names, examples, lessons: taught, studied } = JSON.parse(lab.held("known"));
  const known = lab.namesOf(names, examples.map(({ text }) => text));
  const by = (id) => document.getElementById(id);

  // One scenario with its editor, its knobs and its figures.
  class Side {
    constructor(letter, text) {
      this.letter = letter;
      this.checks = new lab.Hand();
      this.runs = new lab.Hand();
      this.status = by(`status-${letter}`);
      this.progress = by(`progress-${letter}`);
      this.cancel = by(`cancel-${letter}`);
      this.problems = by(`problems-${letter}`);
      const title = letter === "a" ? "Scenario A" : "Scenario B";
      this.results = new lab.Results(by(`results-${letter}`), title);
      this.editor = lab.editor(by(`editor-${letter}`), { text, label: `${title}, as a file`, names: known, changed: () => this.changed() });
      this.knobs = new lab.Knobs(by(`knobs-${letter}`), known, (from, to, insert) => {
        this.atOnce = true;
        this.editor.replace(from, to, insert);
      });
      this.cancel.addEventListener("click", () => this.runs.stop());
    }

    scenario() {
      return { name: state.name, text: this.editor.text(), files: state.files };
    }

    changed() {
      keep();
      this.since = performance.now();
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.look(), this.atOnce ? 0 : PAUSE_MS);
      this.atOnce = false;
    }

    // Reads what is written, and runs it if that can be.
    async look() {
      const since = (this.since ??= performance.now());
      const { name, text, files } = this.scenario();
      const slow = setTimeout(() => (this.status.textContent = "Reading …"), 500);
      const check = await this.checks.does({ ask: { do: "check", name, text, files } });
      clearTimeout(slow);
      if (check.cancelled) return;
      if (check.failed || check.answer.is !== "scenario") return this.wrong(check);
      const written = await this.checks.does({ ask: { do: "written", name, text, files } });
      if (written.cancelled) return;
      this.wrong({});
      if (written.answer?.is === "written") this.knobs.show(written.answer.written, text);
      await this.run({ name, text, files }, since);
    }

    async run(scenario, since) {
      const began = performance.now();
      // Shown only where a run takes long enough to ask how far it is.
      const appear = setTimeout(() => {
        this.progress.hidden = this.cancel.hidden = false;
        this.progress.removeAttribute("value");
      }, 200);
      const said = await this.runs.does({ scenario, wanted: { page: true, metrics: lessons.metrics(this.letter) } }, (at) => this.tell(at));
      clearTimeout(appear);
      if (said.cancelled && since !== this.since) return; // another one follows
      this.progress.hidden = this.cancel.hidden = true;
      if (said.cancelled) this.status.textContent = "Cancelled. The figures are those of the run before.";
      else if (said.failed) this.wrong(said);
      else {
        this.results.show(said.answer);
        this.wrong({});
        const [took, all] = [said.answer.took_ms, performance.now() - (since ?? began)];
        this.status.textContent = `${said.answer.page.says} Simulated and worked out in ${Math.round(took)} ms, shown after ${Math.round(all)} ms.`;
        document.documentElement.dataset[`drawn${this.letter.toUpperCase()}`] = String(++this.drawn);
        this.last = { took, all };
        this.stale(false);
        lessons.ran(this.letter, said.answer.measured?.is === "measured" ? said.answer.measured : null);
      }
    }

    drawn = 0;

    tell({ at_s, end_s, elapsed_ms }) {
      const share = end_s > 0 ? at_s / end_s : 0;
      this.progress.value = share;
      if (elapsed_ms < 500) return;
      const left = share > 0 ? (elapsed_ms * (1 / share - 1)) / 1000 : Infinity;
      const rest = left < 90 ? `${Math.ceil(left)} s` : left < 5400 ? `${Math.round(left / 60)} min` : `${look.number(left / 3600)} h`;
      this.status.textContent = `${look.number(at_s)} of ${look.number(end_s)} s simulated; about ${rest} left.`;
    }

    // Shows what is wrong, or that nothing is.
    wrong({ failed, problems, answer }) {
      const list = problems ?? answer?.problems ?? (failed || answer?.why ? [{ message: failed ?? answer.why }] : []);
      this.editor.problems(list.filter((one) => one.line));
      const said = list.map((one) =>
        element("li", { text: [one.line ? `Line ${one.line}: ${one.message}` : one.message, one.expected && `expected ${one.expected}`, one.help].filter(Boolean).join("; ") }),
      );
      this.problems.replaceChildren(...said);
      if (list.length) {
        this.status.textContent = this.drawn ? "The figures are those of the last scenario that could be run." : "";
        this.stale(Boolean(this.drawn));
      }
    }

    stale(is) {
      by(`results-${this.letter}`).classList.toggle("stale", is);
    }

    open(text) {
      this.editor.open(text);
      this.knobs.form = "";
      this.atOnce = true;
      this.changed();
    }

    close() {
      this.checks.stop();
      this.runs.stop();
      this.results.clear();
    }
  }

  // A run that was recorded, in the place of a variant.
  class Recorded {
    constructor({ says, live }) {
      by("variant").hidden = false;
      by("variant").classList.add("recorded");
      document.body.classList.add("two");
      this.heading = by("heading-b").textContent;
      by("heading-b").textContent = "Recorded run";
      by("recorded").textContent = `${says}.`;
      this.results = new lab.Results(by("results-b"), "Recorded run");
      this.results.show(live);
    }

    close() {
      this.results.clear();
      by("variant").classList.remove("recorded");
      by("heading-b").textContent = this.heading;
      by("recorded").textContent = "";
    }
  }

  const sides = {};
  // The recorded run beside the scenario, or none.
  let beside = null;
  let recording = null;
  let lessons;
  let study;
  let dropped;
  // What survives a reload and goes into a link: a name, a scenario, its variant or none.
  let state;

  const now = () => ({ name: state.name, text: sides.a.editor.text(), variant: sides.b ? sides.b.editor.text() : null, files: state.files });

  const keep = () => {
    if (!sides.a) return;
    try {
      localStorage.setItem(KEPT, JSON.stringify({ ...now(), lesson: lessons.kept() }));
    } catch {
      // A page from a file may have no storage: then it holds for this visit.
    }
    by("command").textContent = command();
  };

  const kept = () => {
    try {
      const { name, text, variant, files, lesson } = JSON.parse(localStorage.getItem(KEPT));
      const whole = typeof name === "string" && typeof text === "string";
      return whole ? { name, text, variant: typeof variant === "string" ? variant : null, files: lab.filesOf(files), lesson } : null;
    } catch {
      return null;
    }
  };

  const command = () => `truckee run ${/^[\w./-]+$/.test(state.name) ? state.name : "scenario.toml"} --out results`;

  const tell = (text) => (by("said").textContent = text);

  const title = () => {
    by("name").value = state.name;
    document.title = `${state.name} – Truckee's laboratory`;
    report.title = state.name;
  };

  const vary = (text) => {
    unrecorded();
    by("variant").hidden = false;
    document.body.classList.add("two");
    by("vary").textContent = "Without a variant";
    if (sides.b) sides.b.open(text);
    else {
      sides.b = new Side("b", text);
      sides.b.look();
    }
    keep();
  };

  const unrecorded = () => {
    recording = null;
    beside?.close();
    beside = null;
  };

  const single = () => {
    unrecorded();
    sides.b?.close();
    sides.b?.editor.view.destroy();
    delete sides.b;
    by("variant").hidden = true;
    for (const place of ["knobs-b", "problems-b", "status-b"]) by(place).replaceChildren();
    document.body.classList.remove("two");
    by("vary").textContent = "Compare with a variant";
    keep();
  };

  const open = ({ name, text, variant, files, recorded }) => {
    state = { name, files: files ?? {} };
    title();
    dropped.show(state.files);
    sides.a.open(text);
    if (variant === null) single();
    else vary(variant);
    record(recorded);
    study.show(studied.includes(name) ? name : null);
  };

  const record = async (name) => {
    unrecorded();
    if (!name) return;
    const wanted = (recording = {});
    const found = (await lab.more()).recordings.find((one) => one.name === name);
    // Another one, or none, may have been asked for since.
    if (found && wanted === recording) beside = new Recorded(found);
  };

  // What an address may ask for: `#open=NAME` a scenario of the gallery, `#lesson=ID` a lesson.
  const asked = (fragment) => {
    const [, what, name] = fragment.match(/^#(open|lesson)=(.*)$/s) ?? [];
    if (!what) return null;
    let plain = name;
    try {
      plain = decodeURIComponent(name);
    } catch {
      // Then it is looked for as it stands.
    }
    if (what === "lesson") {
      if (taught.some(({ id }) => id === plain)) return { lesson: plain };
      throw new Error(`This page has no lesson called "${plain.slice(0, 60)}".`);
    }
    const chosen = examples.find((one) => one.name === plain);
    if (chosen) return { name: chosen.name, text: chosen.text, variant: null, files: chosen.files };
    throw new Error(`This page has no scenario called "${plain.slice(0, 60)}".`);
  };

  const files = () => {
    const changed = () => {
      dropped.show(state.files);
      for (const side of Object.values(sides)) side.changed();
    };
    return new lab.Files(by("files"), {
      tell,
      open: (name, text) => {
        if (lessons.at) lessons.leave();
        // What was dropped before stays: it may be what this one names.
        open({ name, text, variant: null, files: state.files });
      },
      keep: (name, text) => {
        state.files = { ...state.files, [name]: text };
        changed();
      },
      drop: (name) => {
        const { [name]: _, ...rest } = state.files;
        state.files = rest;
        changed();
      },
    });
  };

  const course = () => {
    const page = {
      open,
      alone: single,
      record,
      seek: (time) => sides.a.results.path.seek(time),
      turn: async (turn) => {
        const { editor } = sides.a;
        const text = editor.text();
        const turned = await lab.turned(lessons.hand, text, [turn]);
        if (editor.text() === text) editor.replace(0, text.length, turned);
      },
    };
    lessons = new lab.Lessons(by("lesson"), taught, page, keep);
    by("lessons").append(...taught.map(({ id, title: text, says }, k) => element("option", { value: id, text: `${k + 1}. ${text}`, title: says })));
    by("lessons").addEventListener("change", () => {
      const { value } = by("lessons");
      by("lessons").value = "";
      if (value) begin(value);
    });
  };

  const begin = (id) => {
    lessons.begin(id);
    by("lesson").scrollIntoView({ block: "start" });
  };

  const save = (name, text) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  const share = async () => {
    const address = `${location.href.split("#")[0]}#${await lab.link.written(now())}`;
    by("address").value = address;
    by("shared").hidden = false;
    by("address").focus();
    by("address").select();
    try {
      await navigator.clipboard.writeText(address);
      tell("The link is copied. It carries the whole scenario; nothing is sent anywhere.");
    } catch {
      tell("Copy the link from the field. It carries the whole scenario; nothing is sent anywhere.");
    }
  };

  const gallery = () => {
    const groups = [...new Set(examples.map(({ group }) => group))].map((group) =>
      element("optgroup", { label: group }, ...examples.filter((one) => one.group === group).map((one) => element("option", { value: one.name, text: `${one.name}: ${one.title}` }))),
    );
    by("gallery").append(...groups);
    by("gallery").addEventListener("change", () => {
      const chosen = examples.find(({ name }) => name === by("gallery").value);
      by("gallery").value = "";
      if (!chosen) return;
      if (lessons.at) lessons.leave();
      open({ name: chosen.name, text: chosen.text, variant: null, files: chosen.files });
    });
  };

  const lights = () => {
    const button = by("theme");
    const say = () => (button.textContent = look.isDark() ? "Light" : "Dark");
    const change = (theme, keep) => {
      look.set(theme, keep);
      say();
      report.charts.forEach((chart) => chart.repaint());
      [...Object.values(sides), beside].forEach((side) => side?.results.repaint());
    };
    button.addEventListener("click", () => change(look.isDark() ? "light" : "dark", true));
    look.onChange((theme) => change(theme, false));
    say();
  };

  // What the address carries, or what is kept, or the first example.
  const first = async () => {
    try {
      const carried = asked(location.hash) ?? (await lab.link.read(location.hash));
      if (carried) {
        history.replaceState(null, "", location.href.split("#")[0]);
        // Of a lesson, what was answered in it before stays so.
        const answered = kept()?.lesson?.answered;
        return carried.lesson ? { ...usual(), lesson: { answered }, begin: carried.lesson } : { ...carried, lesson: { answered } };
      }
    } catch (error) {
      tell(error.message);
    }
    return kept() ?? usual();
  };

  const usual = () => ({ name: examples[0].name, text: examples[0].text, variant: null, files: examples[0].files });

  const start = async () => {
    gallery();
    lights();
    course();
    const { lesson, begin: begun, ...opened } = await first();
    state = { name: opened.name, files: opened.files ?? {} };
    dropped = files();
    dropped.show(state.files);
    sides.a = new Side("a", opened.text);
    title();
    study = new lab.Study(by("study"));
    study.show(studied.includes(state.name) ? state.name : null);
    if (opened.variant !== null) vary(opened.variant);
    if (lesson) lessons.resume(lesson);
    keep();
    if (begun) begin(begun);
    else sides.a.look();
    const scenarios = () => [sides.a, sides.b].filter(Boolean).map((side) => side.scenario());
    const metrics = names.filter(({ group, parameters }) => group === "metrics" && ["run", "flow"].includes(parameters.of));
    new lab.Seeds(by("many"), scenarios, metrics);
    by("vary").addEventListener("click", () => (sides.b ? single() : vary(sides.a.editor.text())));
    by("share").addEventListener("click", share);
    by("save").addEventListener("click", () => save(state.name, sides.a.editor.text()));
    by("save-b").addEventListener("click", () => save(state.name.replace(/(\.toml)?$/, "-b.toml"), sides.b.editor.text()));
    by("name").addEventListener("change", () => {
      state.name = by("name").value.trim().slice(0, 100) || "scenario.toml";
      title();
      keep();
    });
    by("copy").addEventListener("click", () => navigator.clipboard?.writeText(command()).then(() => tell("The command is copied."), () => {}));
    window.addEventListener("hashchange", async () => {
      try {
        const carried = asked(location.hash) ?? (await lab.link.read(location.hash));
        if (carried?.lesson) begin(carried.lesson);
        else if (carried) {
          if (lessons.at) lessons.leave();
          open(carried);
        }
      } catch (error) {
        tell(error.message);
      }
    });
    lab.sides = sides;
  };

  start();
}
