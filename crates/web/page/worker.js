// What a worker does: it asks the simulator, and runs scenarios until they are over or no longer wanted.
"use strict";

{
  // How often at most a run says how far it is, ms.
  const TELL_MS = 80;

  let compiled;
  let engine;
  const unwanted = new Set();

  // Lets messages in. Timers would wait four milliseconds each time.
  const turn = () =>
    new Promise((go) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (port1.close(), go());
      port2.postMessage(null);
    });

  const run = async (id, scenario, wanted) => {
    const began = performance.now();
    let told = began;
    const progress = async (at) => {
      await turn();
      if (performance.now() - told >= TELL_MS) {
        told = performance.now();
        postMessage({ id, progress: { ...at, elapsed_ms: told - began } });
      }
      return !unwanted.has(id);
    };
    const number = await engine.run({ ...scenario, series: Boolean(wanted.page) }, progress);
    if (number === null) return { cancelled: true };
    const took_ms = performance.now() - began;
    // A metric that this run does not have leaves a question open, and no run without its page.
    const measured = () => (wanted.metrics?.length ? engine.ask({ do: "measure", run: number, metrics: wanted.metrics }) : null);
    const answer = wanted.page
      ? { ...engine.expect(null, { do: "page", run: number }), measured: measured(), took_ms }
      : { ...engine.expect("measured", { do: "measure", run: number, metrics: wanted.metrics }), took_ms };
    engine.ask({ do: "end", run: number });
    return { answer };
  };

  const does = async ({ id, ask, scenario, wanted }) => {
    engine ??= new Engine(compiled);
    try {
      return ask ? { answer: engine.ask(ask) } : await run(id, scenario, wanted);
    } catch (error) {
      if (error instanceof Ended) engine = null;
      return { failed: error.message, problems: error.problems };
    }
  };

  self.onmessage = async ({ data }) => {
    if (data.module) compiled = data.module;
    else if (data.cancel !== undefined) unwanted.add(data.cancel);
    else {
      postMessage({ id: data.id, ...(await does(data)) });
      unwanted.delete(data.id);
    }
  };
}
