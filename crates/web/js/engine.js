// The other side of the exports of truckee-web: questions and answers as objects. Runs in a page, a worker or Node.
"use strict";

// How long a run goes on, about, between two looks at whether it is still wanted, ms.
const SLICE_MS = 20;

class Engine {
  // `module` is the compiled WebAssembly. It has no imports: nothing of the page's is in its reach.
  constructor(module) {
    this.exports = new WebAssembly.Instance(module, {}).exports;
  }

  text(length) {
    const { memory, output } = this.exports;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, output(), length));
  }

  // The answer to a question: what may be asked, and what is said to it, crates/web/src/session.rs has.
  ask(question) {
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    const { memory, input, answer, last_words } = this.exports;
    try {
      const at = input(bytes.length); // first: it may move the memory
      new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
      return JSON.parse(this.text(answer()));
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      // A fault of ours; or the memory has come to its end, and there was no room for words.
      throw new Error(this.text(last_words()) || `the simulator has ended: ${error.message}`);
    }
  }

  // Runs a scenario to its end, `{ name, text, set, seed, series }`, and returns the number to ask for its results by.
  // `progress` is told between slices how far it is, and may return false, or a promise of it, to end it: then there is no number.
  async run(scenario, progress = () => true) {
    const begun = this.ask({ do: "begin", ...scenario });
    if (begun.is !== "run") throw Object.assign(new Error(begun.why ?? "no such run"), { answer: begun });
    const { run } = begun;
    let [until, step] = [0, 1e-3];
    for (;;) {
      const from = performance.now();
      const at = this.ask({ do: "advance", run, until_s: until });
      if (at.is !== "progress") throw Object.assign(new Error(at.why), { answer: at });
      if (at.over) return run;
      const took = performance.now() - from;
      if ((await progress(at)) === false) {
        this.ask({ do: "end", run });
        return null;
      }
      step *= took < SLICE_MS / 2 ? 2 : took > 2 * SLICE_MS ? 0.5 : 1;
      until += step;
    }
  }
}

if (typeof module !== "undefined") module.exports = { Engine };
