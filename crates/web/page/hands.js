// Workers, each of which does one thing at a time.
"use strict";

const lab = {};

{
  // How long a worker may take to notice that its work is not wanted any more before it is ended, ms.
  const PATIENCE_MS = 400;

  const held = (id) => document.getElementById(id).textContent;

  // What the page holds compressed.
  const unpacked = (id) => {
    const raw = atob(held(id));
    const packed = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) packed[k] = raw.charCodeAt(k);
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
  };

  // The simulator within this page, compiled; begun once.
  const compile = async () => WebAssembly.compile(await unpacked("engine").arrayBuffer());
  let compiled;
  const source = () => URL.createObjectURL(new Blob([held("worker")], { type: "text/javascript" }));
  let address;

  // A worker. What it is asked while it is at something else ends that: only the last question counts.
  class Hand {
    constructor() {
      this.asked = 0;
      this.waiting = null;
    }

    async start() {
      compiled ??= compile();
      address ??= source();
      const module = await compiled;
      if (this.worker) return;
      this.worker = new Worker(address);
      this.worker.postMessage({ module });
      this.worker.onmessage = ({ data }) => {
        if (data.id !== this.waiting?.id) return;
        if (data.progress) this.waiting.progress?.(data.progress);
        else this.settle(data);
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.end();
        this.settle({ failed: event.message || "the worker has ended" });
      };
    }

    settle(said) {
      const { waiting } = this;
      this.waiting = null;
      clearTimeout(this.patience);
      waiting?.settle(said);
    }

    end() {
      this.worker?.terminate();
      this.worker = null;
    }

    // Has it do this, `{ ask }` or `{ scenario, wanted }`; what comes of it is `{ answer }`, `{ failed, problems }` or
    // `{ cancelled: true }`.
    async does(work, progress) {
      const id = ++this.asked;
      await this.cancel();
      await this.start();
      if (id !== this.asked) return { cancelled: true };
      return new Promise((settle) => {
        this.waiting = { id, settle, progress };
        this.worker.postMessage({ id, ...work });
      });
    }

    // Ends what it is at or about to begin.
    stop() {
      this.asked++;
      return this.cancel();
    }

    // Ends what it is at, if anything, and waits until it has.
    async cancel() {
      if (!this.waiting) return;
      this.worker.postMessage({ cancel: this.waiting.id });
      const { id, settle } = this.waiting;
      await new Promise((ended) => {
        this.waiting.settle = (said) => (settle({ ...said, cancelled: true }), ended());
        this.patience = setTimeout(() => {
          if (this.waiting?.id !== id) return;
          this.end();
          this.settle({ cancelled: true });
        }, PATIENCE_MS);
      });
    }
  }

  let more;

  lab.Hand = Hand;
  lab.held = held;
  // What is not needed to begin with: studies' figures and recorded runs.
  lab.more = () => (more ??= unpacked("more").json());
  lab.cores = () => Math.max(1, Math.min(navigator.hardwareConcurrency || 1, 32));
}
