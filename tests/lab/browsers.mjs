// A page of the laboratory, made by the command itself, and browsers to look at it with.
//
// TRUCKEE is the command, ENGINE the simulator that `make web` leaves, ARTEFACTS the directory that keeps the page and its
// screenshots.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
export const TRUCKEE = process.env.TRUCKEE ?? join(TARGET, "release/truckee");
export const ENGINE = process.env.ENGINE ?? join(TARGET, "wasm32-unknown-unknown/web/truckee_web.wasm");
export const ARTEFACTS = process.env.ARTEFACTS ?? join(TARGET, "lab");
// How long something that has to come is waited for; no bound on how long anything may take.
export const PATIENCE_MS = 180_000;
const NAMES = { chrome: ["chromium", "chromium-browser", "google-chrome"], firefox: ["firefox-esr", "firefox"] };
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const found = (names) => {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
};

export const truckee = (...words) => execFileSync(TRUCKEE, words, { cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 30 });

// The page's address.
export const made = (name = "lab.html") => {
  mkdirSync(ARTEFACTS, { recursive: true });
  const path = join(ARTEFACTS, name);
  truckee("lab", "--engine", ENGINE, "--out", path);
  return pathToFileURL(path).href;
};

// The browsers of this machine. One that is missing is counted as skipped; where CI is set, that is a failure.
export const browsers = () =>
  Object.entries(NAMES).flatMap(([browser, names]) => {
    const path = found(names);
    if (path) return [{ browser, path }];
    const why = `there is none of ${names.join(", ")}: tools/prepare.sh browser installs one`;
    if (process.env.CI) throw new Error(`in CI no test may be skipped: ${why}`);
    if (process.env.TRUCKEE_SKIPPED) appendFileSync(process.env.TRUCKEE_SKIPPED, `laboratory: ${why}\n`);
    return [];
  });

export const launched = ({ browser, path }) =>
  puppeteer.launch({
    browser,
    executablePath: path,
    headless: true,
    protocolTimeout: PATIENCE_MS,
    // Chromium's own sandbox does not start as root in a container; the pages are ours.
    args: browser === "chrome" ? ["--no-sandbox"] : [],
  });

// Has `use` work with the page at this address, in a visit of its own; afterwards it must have said nothing on the console
// and asked for nothing.
export const visited = async (browser, address, use, { width = 1280, features = [] } = {}) => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewport({ width, height: 900 });
  // Firefox's driver has no media features.
  if (features.length) await page.emulateMediaFeatures(features);
  const [said, asked] = [[], []];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(address);
  await use(page);
  assert.deepEqual(said, []);
  // What is within the page asks for nothing.
  const own = (url) => url.split("#")[0] === address.split("#")[0] || /^(blob|data):/.test(url);
  assert.deepEqual(asked.filter((url) => !own(url)), []);
  await context.close();
};

// Waits for as many drawings of a side as this, or one more than there are.
export const drawn = async (page, side = "A", count = undefined) => {
  const wanted = count ?? (await drawings(page, side)) + 1;
  await page.waitForFunction((side, wanted) => Number(document.documentElement.dataset[`drawn${side}`] ?? 0) >= wanted, {}, side, wanted);
};
export const drawings = (page, side = "A") => page.evaluate((side) => Number(document.documentElement.dataset[`drawn${side}`] ?? 0), side);

export const text = (page, selector) => page.$eval(selector, (one) => one.textContent);
export const written = (page, side = "a") => page.evaluate((side) => lab.sides[side].editor.text(), side);

// Puts a text in place of all that is written, as a paste does.
export const write = (page, scenario, side = "a") =>
  page.evaluate((side, scenario) => {
    const { editor } = lab.sides[side];
    editor.replace(0, editor.text().length, scenario);
  }, side, scenario);

// What the accessibility checker finds: nothing. The editor's scrolling part can be reached by its text.
export const accessible = async (page, rules = {}) => {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate((rules) => axe.run(document, rules), rules);
  const shown = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map(({ html }) => html).join(" ")}`);
  assert.deepEqual(shown, []);
};
