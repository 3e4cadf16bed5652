// How quick the laboratory is, beside what is asked of it: measured, and written down with --out. No check fails by it: how
// long something takes depends on what else the machine does.
//
//   TRUCKEE=target/release/truckee node tests/lab/speed.mjs [--out docs/results/lab-speed.json]
//
// NATIVE is the released command where TRUCKEE, which makes the page, is another build.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as look from "./browsers.mjs";

const NATIVE = process.env.NATIVE ?? look.TRUCKEE;
const OPENED = 9;
const TURNED = 40;
const PAIRS = 15;
const PLAYED_S = 5;
// 20 s of simulated time, as the bound on a redrawing has it.
const SHORT = join(look.ROOT, "examples/wireless.toml");
const { values: wanted } = parseArgs({ options: { out: { type: "string" } } });

const quantile = (all, share) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(share * all.length))];
const rounded = (value) => Number(value.toPrecision(3));
const spread = (all) => ({ p05: rounded(quantile(all, 0.05)), median: rounded(quantile(all, 0.5)), p95: rounded(quantile(all, 0.95)), n: all.length });

// When the first figure stands on the screen: after the first drawing, at the second frame that follows.
const opened = async (browser, address) => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.evaluateOnNewDocument(() => {
    new MutationObserver((_, observer) => {
      if (!document.documentElement?.dataset.drawnA) return;
      observer.disconnect();
      requestAnimationFrame(() => requestAnimationFrame((now) => (window.seen = now)));
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-drawn-a"] });
  });
  await page.goto(address);
  await page.waitForFunction(() => window.seen);
  const seen = await page.evaluate(() => window.seen);
  await context.close();
  return seen;
};

// From a slider's move to the figures that show it, ms.
const turned = async (page) => {
  const all = [];
  for (let k = 0; k < TURNED; k++) {
    all.push(
      await page.evaluate(
        (k) =>
          new Promise((done) => {
            const slider = document.querySelector('#knobs-a input[aria-label$="delay"]');
            const since = performance.now();
            const before = Number(document.documentElement.dataset.drawnA);
            const observer = new MutationObserver(() => {
              if (Number(document.documentElement.dataset.drawnA) <= before) return;
              observer.disconnect();
              done(performance.now() - since);
            });
            observer.observe(document.documentElement, { attributes: true });
            slider.value = Number(slider.value) + (k % 2 ? -1 : 1) * 2 * Number(slider.step);
            slider.dispatchEvent(new Event("input"));
          }),
        k,
      ),
    );
  }
  return all;
};

// Frames while the path is played: between two of them, and what drawing one takes, ms.
const played = async (page) =>
  page.evaluate(
    (seconds) =>
      new Promise((done) => {
        const { path } = lab.sides.a.results;
        const [gaps, takes] = [[], []];
        const draw = path.look;
        path.look = function (...words) {
          const from = performance.now();
          draw.apply(this, words);
          takes.push(performance.now() - from);
        };
        path.seek(2);
        path.start();
        let [first, before] = [null, null];
        const frame = (now) => {
          first ??= now;
          if (before !== null) gaps.push(now - before);
          before = now;
          if (now - first < 1000 * seconds) return requestAnimationFrame(frame);
          path.stop();
          delete path.look;
          done({ gaps, takes });
        };
        requestAnimationFrame(frame);
      }),
    PLAYED_S,
  );

// The same run here and in WebAssembly, one after the other: how much of the native speed that has, once warm.
const beside = async () => {
  const { Engine } = createRequire(import.meta.url)(join(look.ROOT, "crates/web/page/engine.js"));
  const module = await WebAssembly.compile(readFileSync(look.ENGINE));
  const file = join(look.ROOT, "examples/wireless.toml");
  const scenario = { name: "wireless.toml", text: readFileSync(file, "utf8"), set: [["duration", "300s"]], series: false };
  const engine = new Engine(module);
  const once = async () => {
    const from = performance.now();
    const run = await engine.run(scenario);
    const took = performance.now() - from;
    const { digest } = engine.ask({ do: "result", run });
    engine.ask({ do: "end", run });
    return { took, digest };
  };
  const native = () => {
    const said = JSON.parse(execFileSync(NATIVE, ["run", file, "--set", "duration=300s", "--format", "json"], { encoding: "utf8" }));
    return { took: 1000 * said.wall_s, digest: said.digest };
  };
  for (let k = 0; k < 3; k++) await once();
  const ratios = [];
  for (let k = 0; k < PAIRS; k++) {
    const [here, there] = [native(), await once()];
    if (here.digest !== there.digest) throw new Error(`digests ${here.digest} and ${there.digest}: not the same run`);
    ratios.push(here.took / there.took);
  }
  return ratios;
};

const measured = async () => {
  const address = look.made("speed.html");
  const size = readFileSync(fileURLToPath(address)).length;
  const found = { machine: { cores: cpus().length, processor: cpus()[0]?.model ?? "", load: rounded(loadavg()[0]) }, page_bytes: size, browsers: {} };
  for (const which of look.browsers()) {
    const browser = await look.launched(which);
    const first = [];
    for (let k = 0; k < OPENED; k++) first.push(await opened(browser, address));
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(address);
    await look.drawn(page, "A", 1);
    const text = readFileSync(SHORT, "utf8").replace(/^duration *= *"[^"]*"/m, 'duration = "20s"');
    await look.write(page, text);
    await look.drawn(page, "A", 2);
    await turned(page); // warm
    const redrawn = await turned(page);
    const { gaps, takes } = await played(page);
    await browser.close();
    found.browsers[which.browser] = {
      first_figure_ms: spread(first),
      redrawn_ms: spread(redrawn),
      frames_per_s: rounded((1000 * gaps.length) / gaps.reduce((sum, gap) => sum + gap, 0)),
      frame_drawn_ms: spread(takes),
    };
  }
  found.of_native_speed = spread(await beside());
  return found;
};

const found = await measured();
const json = `${JSON.stringify(found, null, 1)}\n`;
process.stdout.write(json);
if (wanted.out) writeFileSync(wanted.out, json);
