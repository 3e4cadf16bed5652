#!/usr/bin/env node
// Runs scenario files in the simulator as a browser has it, and prints each one's digest and name: tools/digests.py compares
// them with those of other builds.
//
//   tools/browser_digests.js truckee_web.wasm examples/*.toml
"use strict";

const { readFileSync } = require("node:fs");
const { Engine } = require("../crates/web/js/engine.js");

const main = async ([wasm, ...files]) => {
  const module = new WebAssembly.Module(readFileSync(wasm));
  for (const file of files) {
    const engine = new Engine(module);
    const run = await engine.run({ name: file, text: readFileSync(file, "utf8") });
    console.log(`${engine.ask({ do: "result", run }).digest} ${file}`);
  }
};

main(process.argv.slice(2)).catch((error) => {
  console.error(error.answer?.problems?.map((one) => one.shown).join("\n") ?? error.message);
  process.exit(1);
});
