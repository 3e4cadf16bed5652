// The laboratory as its users have it: typed into, dragged, shared, reloaded, broken.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { BROKEN } from "./broken.mjs";
import * as look from "./browsers.mjs";

const SHORT = `duration = "20s"

[[link]]
between = ["a", "b"]
rate    = "10Mbit/s"
delay   = "20ms"
queue   = { kind = "drop-tail", size = "bdp" }
channel = { kind = "bernoulli", per = 0.001 }

[[flow]]
from   = "a"
to     = "b"
sender = "newreno"
`;

const address = look.made();

for (const which of look.browsers()) {
  describe(`the laboratory in ${which.browser}`, () => {
    let browser;
    before(async () => (browser = await look.launched(which)));
    after(() => browser.close());

    const visit = (use, options) => look.visited(browser, address, async (page) => (await look.drawn(page, "A", 1), use(page)), options);
    // With the short scenario drawn.
    const short = (use, options) =>
      visit(async (page) => {
        await look.write(page, SHORT);
        await look.drawn(page, "A", 2);
        await use(page);
      }, options);

    test("it opens with a run that has the digest of the command's, and figures", () =>
      visit(async (page) => {
        const native = JSON.parse(look.truckee("run", join(look.ROOT, "examples/lossless.toml"), "--format", "json")).digest;
        assert.match(await look.text(page, "#results-a .facts"), new RegExp(native));
        const titles = await page.$$eval("#results-a figure h4", (all) => all.map((one) => one.textContent));
        assert.ok(titles.includes("flow-1: congestion window and threshold"), titles.join());
        assert.ok((await page.$$("#results-a canvas")).length >= 3);
        await page.screenshot({ path: join(look.ARTEFACTS, `lab-${which.browser}.png`), fullPage: true });
      }));

    test("what is typed runs, and what is wrong is told at its place", () =>
      short(async (page) => {
        // After the last character of the sender's name.
        await page.evaluate(() => {
          const { view } = lab.sides.a.editor;
          const at = view.state.doc.toString().indexOf('newreno"') + "newreno".length;
          view.focus();
          view.dispatch({ selection: { anchor: at } });
        });
        await page.keyboard.type("o");
        await page.waitForFunction(() => document.getElementById("problems-a").textContent.includes("did you mean"));
        assert.match(await look.text(page, "#problems-a"), /^Line 13: .*newrenoo/);
        await page.waitForSelector(".cm-lintRange-error");
        assert.equal(await look.text(page, ".cm-lintRange-error"), '"newrenoo"');
        const before = await look.drawings(page);
        await page.keyboard.press("Backspace");
        await look.drawn(page, "A", before + 1);
        assert.equal(await look.text(page, "#problems-a"), "");
      }));

    test("names are offered where they can stand", () =>
      short(async (page) => {
        await page.evaluate(() => {
          const { view } = lab.sides.a.editor;
          const text = view.state.doc.toString();
          const from = text.indexOf('"newreno"') + 1;
          view.focus();
          view.dispatch({ changes: { from, to: from + "newreno".length }, selection: { anchor: from } });
        });
        await page.keyboard.type("westw");
        await page.waitForSelector(".cm-tooltip-autocomplete li");
        const offered = await page.$$eval(".cm-tooltip-autocomplete li .cm-completionLabel", (all) => all.map((one) => one.textContent));
        assert.ok(offered.includes("westwood-2"), offered.join());
        assert.ok(!offered.includes("drop-tail"), offered.join());
        await page.keyboard.press("Escape");
      }));

    test("a slider that is dragged writes into the text and draws while it moves", () =>
      short(async (page) => {
        const slider = await page.$('input[aria-label="link 1, rate"]');
        await slider.scrollIntoView();
        const box = await slider.boundingBox();
        const y = box.y + box.height / 2;
        await page.mouse.move(box.x + box.width / 2, y);
        await page.mouse.down();
        for (const share of [0.45, 0.4, 0.35]) {
          const before = await look.drawings(page);
          await page.mouse.move(box.x + share * box.width, y, { steps: 3 });
          await look.drawn(page, "A", before + 1);
        }
        await page.mouse.up();
        const [, rate] = (await look.written(page)).match(/rate {4}= "([\d.]+)Mbit\/s"/);
        assert.ok(rate > 0.5 && rate < 8, rate);
        assert.match(await look.text(page, "#knobs-a"), new RegExp(`${rate} Mbit/s`));
        // What stands behind it in the text is still where its knob says.
        const before = await look.drawings(page);
        await page.focus('input[aria-label="link 1, delay"]');
        await page.keyboard.press("ArrowRight");
        await look.drawn(page, "A", before + 1);
        assert.match(await look.written(page), /delay {3}= "20\.\d+ms"/);
      }));

    test("a name is chosen from a list, and another kind comes with its parameters", () =>
      short(async (page) => {
        let before = await look.drawings(page);
        await page.select('select[aria-label="flow 1, sender"]', "cubic");
        await look.drawn(page, "A", before + 1);
        assert.match(await look.written(page), /sender = "cubic"/);
        before = await look.drawings(page);
        await page.select('select[aria-label="link 1, channel kind"]', "gilbert");
        await look.drawn(page, "A", before + 1);
        assert.match(await look.written(page), /channel = \{ kind = "gilbert", good = "1s", bad = "50ms"/);
      }));

    test("a link carries the scenario and its variant, and a damaged one says so", () =>
      short(async (page) => {
        await page.click("#vary");
        await look.drawn(page, "B", 1);
        await look.write(page, SHORT.replace("newreno", "vegas"), "b");
        await look.drawn(page, "B", 2);
        await page.click("#share");
        await page.waitForFunction(() => document.getElementById("address").value.includes("#lab=1."));
        const link = await page.$eval("#address", (field) => field.value);
        await look.visited(browser, link, async (other) => {
          await look.drawn(other, "B", 1);
          assert.equal(await look.written(other), SHORT);
          assert.match(await look.written(other, "b"), /vegas/);
        });
        const cut = link.slice(0, -7);
        for (const [bad, says] of [[cut, /damaged/], [link.replace("#lab=1.", "#lab=2."), /another version/], [`${address}#lab=1.zz.%%%`, /damaged/]]) {
          await look.visited(browser, bad, async (other) => {
            await look.drawn(other, "A", 1);
            assert.match(await look.text(other, "#said"), says);
          });
        }
      }));

    test("what is written survives a reload", () =>
      short(async (page) => {
        await page.evaluate(() => {
          document.getElementById("name").value = "mine.toml";
          document.getElementById("name").dispatchEvent(new Event("change"));
        });
        await page.reload();
        await look.drawn(page, "A", 1);
        assert.equal(await look.written(page), SHORT);
        assert.equal(await page.$eval("#name", (field) => field.value), "mine.toml");
      }));

    test("a run of an hour says how long it takes and is cancelled", () =>
      short(async (page) => {
        await look.write(page, SHORT.replace("20s", "3600s").replace("10Mbit/s", "1Gbit/s"));
        await page.waitForSelector("#cancel-a:not([hidden])");
        await page.waitForFunction(() => /left\.$/.test(document.getElementById("status-a").textContent));
        await page.click("#cancel-a");
        await page.waitForFunction(() => document.getElementById("status-a").textContent.startsWith("Cancelled"));
        await look.write(page, SHORT);
        await look.drawn(page);
      }));

    test("a scenario broken in twenty ways is refused in words, and the page goes on", () =>
      short(async (page) => {
        assert.ok(BROKEN.length >= 20);
        for (const [what, change] of BROKEN) {
          const broken = change(SHORT);
          assert.notEqual(broken, SHORT, what);
          await look.write(page, broken);
          await page.waitForFunction(() => document.getElementById("problems-a").textContent !== "", {}).catch(() => assert.fail(what));
          const before = await look.drawings(page);
          await look.write(page, SHORT);
          await look.drawn(page, "A", before + 1);
          assert.equal(await look.text(page, "#problems-a"), "", what);
        }
      }));

    test("names that look like markup are shown as text", () =>
      short(async (page) => {
        const name = "<img src=x onerror=alert(1)><script>alert(2)</script>";
        await look.write(page, SHORT.replace("[[flow]]", `[[flow]]\nname = "${name}"`));
        await look.drawn(page);
        assert.ok((await look.text(page, "#results-a")).includes(name));
        assert.equal((await page.$$("#results-a img, #results-a script")).length, 0);
      }));

    test("many seeds narrow the interval of a difference under common random numbers", () =>
      short(async (page) => {
        await look.write(page, SHORT.replace("20s", "5s"));
        await look.drawn(page);
        await page.click("#vary");
        await look.drawn(page, "B", 1);
        const before = await look.drawings(page, "B");
        await page.select('#knobs-b select[aria-label="flow 1, sender"]', "newreno-lp");
        await look.drawn(page, "B", before + 1);
        await page.select("#seeds", "10");
        await page.click("#many button");
        await page.waitForFunction(() => document.querySelector("#many [role=status]").textContent.startsWith("10 of 10"));
        const rows = await page.$$eval("#many tbody tr", (all) => all.slice(0, 3).map((row) => [...row.cells].map((cell) => cell.textContent)));
        assert.deepEqual(rows.map(([title]) => title), ["A", "B", "A − B, seed by seed"]);
        assert.ok(rows.every(([, mean, half, runs]) => /bit\/s$/.test(mean) && half.startsWith("±") && runs === "10"), JSON.stringify(rows));
        await page.click("#vary");
        assert.equal(await page.$eval("#variant", (one) => one.hidden), true);
      }));

    test("the path moves when it is played, says what struck it, and follows the pointer in the figures", () =>
      short(async (page) => {
        await page.waitForFunction(() => lab.sides.a.results.path.made);
        const time = () => page.$eval('input[aria-label="Scenario A: time of the path"]', (slider) => Number(slider.value));
        const play = () => page.$$eval("#results-a figure button", (all) => all.find((one) => /^(Play|Pause)$/.test(one.textContent)).click());
        await play();
        await page.waitForFunction(() => lab.sides.a.results.path.time > 0.02);
        await play();
        // At the first loss that the sender takes for what it was not, and at a slider's touch.
        const wrong = await page.evaluate(() => {
          const { path } = lab.sides.a.results;
          const event = path.made.events.find(({ verdict, right }) => verdict && !right);
          path.slider.value = event.time + 0.001;
          path.slider.dispatchEvent(new Event("input"));
          return [event.time, path.words.textContent];
        });
        assert.match(wrong[1], /takes the loss for congestion, wrongly: truly wireless.* Its window is now/);
        // Every segment that was lost is one that was sent.
        const lost = await page.evaluate(() => {
          const { made } = lab.sides.a.results.path;
          return [made.sent.filter((one) => one.lost).length, made.events.filter(({ cause }) => cause).length];
        });
        assert.equal(lost[0], lost[1]);
        assert.ok(lost[0] > 0);
        const before = await time();
        const plot = await page.$("#results-a .u-over");
        await plot.scrollIntoView();
        const box = await plot.boundingBox();
        await page.mouse.move(box.x + 0.8 * box.width, box.y + box.height / 2);
        await page.waitForFunction((before) => lab.sides.a.results.path.time !== before, {}, before);
        assert.ok(Math.abs((await time()) - 16) < 1, String(await time()));
        if (which.browser === "chrome") await (await page.$("#results-a figure")).screenshot({ path: join(look.ARTEFACTS, "lab-path.png") });
      }));

    test("the gallery opens a study's scenario", () =>
      visit(async (page) => {
        await page.select("#gallery", "wireless.toml");
        await look.drawn(page, "A", 2);
        assert.match(await look.written(page), /noisy/);
        assert.ok((await page.$$("#gallery option")).length > 40);
      }));

    test("the accessibility checker finds nothing, in light and in dark, with one scenario and with two", () =>
      short(async (page) => {
        await look.accessible(page);
        await page.click("#theme");
        await page.screenshot({ path: join(look.ARTEFACTS, `lab-${which.browser}-dark.png`), fullPage: true });
        await look.accessible(page, { runOnly: ["color-contrast"] });
        await page.click("#theme");
        await page.click("#vary");
        await look.drawn(page, "B", 1);
        await page.screenshot({ path: join(look.ARTEFACTS, `lab-${which.browser}-two.png`), fullPage: true });
        await look.accessible(page);
      }));

    test("it fits a phone", () =>
      short(
        async (page) => {
          await page.screenshot({ path: join(look.ARTEFACTS, `lab-${which.browser}-phone.png`), fullPage: true });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert.ok(wide <= 390, `the page is ${wide} pixels wide`);
        },
        { width: 390 },
      ));

    test("every control is reached and worked by the keyboard", () =>
      short(async (page) => {
        await page.focus("#gallery");
        const reached = new Set();
        for (let k = 0; k < 40; k++) {
          await page.keyboard.press("Tab");
          const at = await page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute("aria-label"));
          reached.add(at);
          // The editor keeps the Tab key to those who leave it: it inserts nothing.
        }
        for (const wanted of ["name", "vary", "share", "save", "Scenario A, as a file", "knob-knobs-a-link.0.rate"]) {
          assert.ok(reached.has(wanted), `${wanted} is not among ${[...reached].join(", ")}`);
        }
        assert.equal(await look.written(page), SHORT);
      }));

    test("the scenario and a figure are taken away as files", () =>
      short(async (page) => {
        const saved = await page.evaluate(async () => {
          const made = [];
          const click = HTMLAnchorElement.prototype.click;
          HTMLAnchorElement.prototype.click = function () {
            made.push([this.download, this.href]);
          };
          document.getElementById("save").click();
          document.querySelector("#results-a button[title='Save all numbers as CSV']").click();
          document.querySelector("#results-a button[title='Save what is shown as SVG']").click();
          HTMLAnchorElement.prototype.click = click;
          return made.map(([name]) => name);
        });
        assert.deepEqual(saved.map((name) => name.split(".").at(-1)), ["toml", "csv", "svg"]);
        assert.match(await look.text(page, "#command"), /^truckee run /);
      }));
  });
}

test("the page is no larger than 3 MB", () => {
  const size = readFileSync(join(look.ARTEFACTS, "lab.html")).length;
  writeFileSync(join(look.ARTEFACTS, "size.txt"), `${size}\n`);
  assert.ok(size <= 3_000_000, `${size} bytes`);
});
