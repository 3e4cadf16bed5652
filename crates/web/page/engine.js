// The other side of the exports of truckee-web: questions and answers as objects. Runs in a worker or in Node.
"use strict";

// How long a run goes on, about, between two looks at whether it is still wanted, ms.
const SLICE_MS = 20;
// What a run may take of memory before it is given up, bytes: of a browser's tab there is not much more.
const MOST_MEMORY = 1 << 30;

// The simulator has ended by a fault of its own or for want of memory: nothing can be asked of it any more.
class Ended extends Error {}

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
      let said = "";
      try {
        said = this.text(last_words());
      } catch {
        // Then there was no room for words.
      }
      throw new Ended(said || "there is not enough memory for this scenario: make it shorter or smaller, or run it with the command");
    }
  }

  // The same, where `is` is the only answer that one can go on with.
  expect(is, question) {
    const answer = this.ask(question);
    if (is && answer.is !== is) {
      const why = answer.why ?? answer.problems?.map((one) => one.shown).join("\n") ?? `an answer that was not expected: ${answer.is}`;
      throw Object.assign(new Error(why), { problems: answer.problems });
    }
    return answer;
  }

  // Runs a scenario to its end, `{ name, text, set, seed, series }`, and returns the number to ask for its results by.
  // `progress` is told between slices how far it is, and may return false, or a promise of it, to end it: then there is no number.
  async run(scenario, progress = () => true) {
    const { run } = this.expect("run", { do: "begin", ...scenario });
    let [until, step] = [0, 1e-3];
    for (;;) {
      const from = performance.now();
      const at = this.expect("progress", { do: "advance", run, until_s: until });
      if (at.over) return run;
      const took = performance.now() - from;
      const memory = this.exports.memory.buffer.byteLength;
      if (memory > MOST_MEMORY || (await progress(at)) === false) {
        this.ask({ do: "end", run });
        if (memory <= MOST_MEMORY) return null;
        throw new Ended(
          `what this run records took more than ${MOST_MEMORY / 2 ** 30} GiB by ${at.at_s.toPrecision(3)} s of its ${at.end_s.toPrecision(3)} s: ` +
            "make it shorter, or run it with the command",
        );
      }
      step *= took < SLICE_MS / 2 ? 2 : took > 2 * SLICE_MS ? 0.5 : 1;
      until = at.at_s + step;
    }
  }
}

if (typeof module !== "undefined") module.exports = { Engine };
