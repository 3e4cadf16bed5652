// What leads into the laboratory, and what is done in it step by step: lessons, links of the book, studies' figures, files.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as look from "./browsers.mjs";

const address = look.made("course.html");
const LESSONS = ["slow-start", "why-loss-misleads", "estimating-bandwidth", "judging-losses", "client-alone", "to-the-kernel"];
const TRACED = `duration = "2s"

[[link]]
between   = ["a", "b"]
delay     = "20ms"
channel   = { kind = "trace", file = "<b>cell.trace" }
rate_back = "1Mbit/s"

[[flow]]
from   = "a"
to     = "b"
sender = "newreno"
`;

const said = (page) => look.text(page, "#said");
const waits = (page, selector, pattern) =>
  page.waitForFunction((selector, source) => new RegExp(source).test(document.querySelector(selector)?.textContent ?? ""), {}, selector, pattern.source);
const press = (page, within, words) =>
  page.evaluate((within, words) => [...document.querySelectorAll(`${within} button`)].find((one) => one.textContent === words).click(), within, words);
// Lets files fall onto the page, as a hand does: names and contents.
const drop = (page, files) =>
  page.evaluate((files) => {
    const carried = new DataTransfer();
    for (const [name, bytes] of files) carried.items.add(new File([Uint8Array.from(bytes)], name));
    document.querySelector(".cm-content").dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
  }, files);
const bytes = (text) => [...Buffer.from(text)];

for (const which of look.browsers()) {
  describe(`the course in ${which.browser}`, () => {
    let browser;
    before(async () => (browser = await look.launched(which)));
    after(() => browser.close());

    const visit = (fragment, use, options) =>
      look.visited(browser, address + fragment, async (page) => (await look.drawn(page, "A", 1), use(page)), options);

    for (const lesson of LESSONS) {
      test(`the lesson ${lesson} is gone through: wrong answers get a hint, right ones are kept`, () =>
        visit(`#lesson=${lesson}`, async (page) => {
          const steps = await page.$$eval("#lesson .steps button", (all) => all.length);
          assert.ok(steps >= 4);
          for (let k = 0; k < steps; k++) {
            await page.waitForFunction((k) => document.querySelector("#lesson .steps [aria-current]")?.textContent.startsWith(String(k + 1)), {}, k);
            // What the step opened has been drawn.
            await page.waitForFunction(() => document.getElementById("status-a").textContent.includes("shown after") && !document.querySelector("#results-a.stale"));
            if (await page.$("#answer")) {
              await page.type("#answer", "<b>much");
              await press(page, "#lesson", "Check");
              await waits(page, "#lesson .said", /is no number/);
              await page.$eval("#answer", (field) => (field.value = "-12345"));
              await page.waitForFunction(() => {
                [...document.querySelectorAll("#lesson button")].find((one) => one.textContent === "Check").click();
                return document.querySelector("#lesson .said").dataset.verdict === "fail" && document.querySelector("#lesson .said").textContent.startsWith("Not quite");
              });
            }
            await page.evaluate(() => [...document.querySelectorAll("#lesson button")].find((one) => /^(Show the answer|Do it for me)$/.test(one.textContent)).click());
            await page.waitForFunction(() => document.querySelector("#lesson .said").dataset.verdict === "pass");
            if (k === 0 && which.browser === "chrome") await page.screenshot({ path: join(look.ARTEFACTS, `lesson-${lesson}.png`), fullPage: true });
            if (k + 1 < steps) await press(page, "#lesson", "Next");
          }
          const marks = await page.$$eval("#lesson .steps button", (all) => all.map((one) => one.textContent));
          assert.ok(marks.every((mark) => mark.endsWith("✓")), marks.join());
          // Where one has left is where one comes back to.
          await page.reload();
          await look.drawn(page, "A", 1);
          assert.equal(await page.$eval("#lesson .steps [aria-current]", (one) => one.textContent), `${steps} ✓`);
          await press(page, "#lesson", "Leave the lesson");
          assert.equal(await page.$eval("#lesson", (one) => one.hidden), true);
        }));
    }

    test("the lesson on the kernel plays a recorded run beside the simulator's, in step with it", () =>
      visit("#lesson=to-the-kernel", async (page) => {
        await page.waitForSelector("#results-b canvas.path");
        assert.match(await look.text(page, "#results-b .facts"), /kernel/);
        const time = (side) => page.$eval(`#results-${side} .scrub input`, (slider) => Number(slider.value));
        await page.waitForFunction(() => lab.sides.a.results.path.made && [...document.querySelectorAll(".scrub input")].length === 2);
        await page.$eval("#results-a .scrub input", (slider) => {
          slider.value = 4;
          slider.dispatchEvent(new Event("input"));
        });
        await page.waitForFunction(() => Math.abs(Number(document.querySelector("#results-b .scrub input").value) - 4) < 0.1);
        // Both lost what the same noise took.
        const lost = (side) =>
          page.$eval(`#results-${side}`, (one) => {
            const [head, ...rows] = one.querySelector("table").rows;
            const column = [...head.cells].findIndex((cell) => /channel/i.test(cell.textContent));
            return rows[0].cells[column].textContent;
          });
        assert.equal(await lost("a"), await lost("b"));
        const before = await time("b");
        await page.$$eval("#results-b figure button", (all) => all.find((one) => one.textContent === "Play").click());
        await page.waitForFunction((before) => Number(document.querySelector("#results-b .scrub input").value) > before, {}, before);
        await page.$$eval("#results-b figure button", (all) => all.find((one) => one.textContent === "Pause").click());
        await look.accessible(page);
      }));

    test("the accessibility checker finds nothing in a lesson, on a phone and in the dark", () =>
      visit(
        "#lesson=why-loss-misleads",
        async (page) => {
          await look.accessible(page);
          await page.click("#theme");
          await look.accessible(page, { runOnly: ["color-contrast"] });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
          await page.screenshot({ path: join(look.ARTEFACTS, `lesson-${which.browser}-phone-dark.png`), fullPage: true });
        },
        { width: 390 },
      ));

    test("a lesson is worked through by the keyboard alone", () =>
      visit("#lesson=slow-start", async (page) => {
        await page.focus("#answer");
        await page.keyboard.type("32");
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => document.querySelector("#lesson .said").dataset.verdict === "pass");
        for (let k = 0; k < 10; k++) {
          await page.keyboard.press("Tab");
          if ((await page.evaluate(() => document.activeElement.textContent)) === "Next") break;
        }
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => document.activeElement === document.querySelector("#lesson h3") && document.activeElement.textContent === "What the path holds");
      }));

    test("an address opens a scenario of the gallery, and one that is not there is told", () =>
      visit("#open=lp-goodput.toml", async (page) => {
        assert.match(await look.written(page), /^# lp-goodput: /);
        assert.equal(page.url().includes("#"), false);
        for (const [fragment, says] of [["#open=<img src=x>", /no scenario called/], ["#lesson=%E0%A4%A", /no lesson called/]]) {
          await page.evaluate((fragment) => (location.hash = fragment), fragment);
          await waits(page, "#said", says);
        }
        assert.equal((await page.$$("#said img")).length, 0);
      }));

    test("a link that the command prints opens its scenario with what is overridden", () => {
      const link = look.truckee("lab", "docs/scenarios/burst.toml", "--set", "flow.sender=reno", "--link").trim();
      return visit(`#${link}`, async (page) => {
        const text = readFileSync(join(look.ROOT, "docs/scenarios/burst.toml"), "utf8");
        const written = await look.written(page);
        assert.match(written, /sender\s*= "reno"/);
        assert.equal(written.split("\n")[0], text.split("\n")[0]);
        assert.equal(await page.$eval("#name", (field) => field.value), "burst.toml");
      });
    });

    test("a study's figure has its published points at once, and ours run by run", () =>
      visit("#open=bw-goodput.toml", async (page) => {
        await page.waitForSelector("#study:not([hidden])");
        await page.select("#study-seeds", "1");
        await press(page, "#study-runs", "Run the study's figure");
        await waits(page, "#study-runs [role=status]", /^[1-9]\d* of \d+ runs/);
        await page.waitForSelector("#study figure:not([hidden]) canvas");
        const labels = await page.evaluate(() => [...document.querySelectorAll("#study figure .legend button, #study figure label")].map((one) => one.textContent));
        assert.ok(labels.length >= 1, labels.join());
        await page.evaluate(() => [...document.querySelectorAll("#study-runs button")].find((one) => one.textContent === "Stop")?.click());
        await page.waitForFunction(() => [...document.querySelectorAll("#study-runs button")].some((one) => one.textContent === "Run the study's figure"));
        await look.accessible(page);
        if (which.browser === "chrome") await (await page.$("#study")).screenshot({ path: join(look.ARTEFACTS, "study.png") });
      }));

    test("a trace that is dropped is what the scenario names; what is no trace is refused in words", () =>
      visit("", async (page) => {
        for (const [files, says] of [
          [[["a.png", [137, 80, 78, 71, 0, 255]]], /^a\.png is no text/],
          [[["a.trace", bytes("1\n2\nx\n")]], /^a\.trace, line 3: "x".*Nothing was taken over/],
          [[["a.trace", bytes("5\n2\n")]], /^a\.trace is a table of delays.* no recorded capacity: a\.trace, line 2: 2 ms after 5 ms/],
          [[["a.trace", []]], /^a\.trace: empty/],
          [[["<b>a.trace", bytes("<b>\n")]], /^<b>a\.trace, line 1/],
        ]) {
          await drop(page, files);
          await waits(page, "#said", says);
        }
        const before = await look.drawings(page);
        await look.write(page, TRACED);
        await waits(page, "#problems-a", /cell\.trace: cannot be read: no file of this name was given/);
        await drop(page, [["<b>cell.trace", bytes("1\n3\n5\n")]]);
        await waits(page, "#said", /is a recorded capacity of 0\.005 s with room for 3 packets/);
        await look.drawn(page, "A", before + 1);
        assert.equal(await look.text(page, "#problems-a"), "");
        assert.equal((await page.$$("#files b, #said b")).length, 0);
        // It stays over a reload.
        await page.reload();
        await look.drawn(page, "A", 1);
        await page.evaluate(() => document.querySelector('#files button[aria-label="Remove <b>cell.trace"]').click());
        await waits(page, "#problems-a", /no file of this name was given/);
        // A scenario that is dropped is opened.
        await drop(page, [["mine.toml", bytes(TRACED.replace("2s", "3s"))], ["<b>cell.trace", bytes("2\n4\n")]]);
        await waits(page, "#said", /mine\.toml is opened.*recorded capacity/);
        await look.drawn(page);
        assert.match(await look.written(page), /"3s"/);
        await look.accessible(page);
        // It goes with the link.
        await page.click("#share");
        await page.waitForFunction(() => document.getElementById("address").value.includes("#lab="));
        const link = await page.$eval("#address", (field) => field.value);
        await look.visited(browser, link, async (other) => {
          await look.drawn(other, "A", 1);
          assert.match(await look.text(other, "#files"), /cell\.trace/);
        });
      }));

    test("who wants no motion gets four pictures a second, others each frame", () =>
      visit("", async (page) => {
        await page.waitForFunction(() => lab.sides.a.results.path.made);
        // A second of sixty frames on a clock of our own.
        const pictures = (reduced) =>
          page.evaluate((reduced) => {
            const { path } = lab.sides.a.results;
            const kept = [window.requestAnimationFrame, performance.now, window.matchMedia, path.look];
            let [now, frame, count] = [0, null, 0];
            window.requestAnimationFrame = (then) => (frame = then);
            performance.now = () => now;
            window.matchMedia = (query) => ({ matches: reduced && query.includes("reduced-motion") });
            path.look = function (...words) {
              count++;
              return kept[3].apply(this, words);
            };
            path.seek(0);
            count = 0;
            path.start();
            for (let k = 0; k < 60; k++) {
              now += 1000 / 60;
              const then = frame;
              frame = null;
              then?.(now);
            }
            path.stop();
            [window.requestAnimationFrame, performance.now, window.matchMedia] = kept;
            delete path.look;
            return count;
          }, reduced);
        assert.equal(await pictures(false), 60);
        const few = await pictures(true);
        assert.ok(few >= 3 && few <= 4, String(few));
      }));
  });
}
