"""Pages as readers use them: seen, clicked, read aloud, taken away."""

import csv
import io
import json
import time
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # has no types
from pages import ARTEFACTS, Case, skip
from playwright.sync_api import Locator, Page

SVG = "{http://www.w3.org/2000/svg}"


def figure(page: Page, title: str) -> Locator:
    """The figure whose title holds this, drawn."""
    found = page.locator("figure.chart", has=page.locator("h3", has_text=title)).first
    found.scroll_into_view_if_needed()
    found.locator("canvas").wait_for()
    return found


def view(page: Page, title: str) -> list[float]:
    """From where to where the figure's horizontal axis goes."""
    ends: list[float] = page.evaluate(
        "title => [...report.charts].find(c => c.figure.title.includes(title)).view.x", title
    )
    return ends


def saved(page: Page, button: Locator) -> str:
    """The text of the file that the button hands out."""
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text()


class EveryPage(Case):
    def test_it_is_whole_and_the_accessibility_checker_finds_nothing(self) -> None:
        for name in self.made:
            with self.subTest(page=name), self.page(name, color_scheme="light") as page:
                self.show_all(page)
                page.screenshot(path=ARTEFACTS / f"{name}-light.png", full_page=True)
                page.locator("details").evaluate_all("all => all.slice(0, 1).forEach(d => { d.open = true })")
                self.check(page, {})
                page.locator("#theme").click()
                page.screenshot(path=ARTEFACTS / f"{name}-dark.png", full_page=True)
                self.check(page, {"runOnly": ["color-contrast"]})

    def check(self, page: Page, options: dict[str, list[str]]) -> None:
        found = Axe().run(page, options=options)
        self.assertEqual(found.violations_count, 0, found.generate_report())

    def test_it_fits_a_phone(self) -> None:
        for name in self.made:
            with self.subTest(page=name), self.page(name, 390) as page:
                self.show_all(page)
                page.screenshot(path=ARTEFACTS / f"{name}-phone.png", full_page=True)
                wide = page.evaluate("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, 390, "the page is wider than the window")

    def test_it_respects_who_wants_no_motion(self) -> None:
        with self.page("run", reduced_motion="reduce") as page:
            behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
            self.assertEqual(page.evaluate(behaviour), "auto")

    def test_light_and_dark_change_places(self) -> None:
        with self.page("run", color_scheme="light") as page:
            ground = "getComputedStyle(document.body).backgroundColor"
            before = page.evaluate(ground)
            page.get_by_role("button", name="Dark", exact=True).click()
            self.assertNotEqual(page.evaluate(ground), before)
            page.get_by_role("button", name="Light", exact=True).click()
            self.assertEqual(page.evaluate(ground), before)


class Figures(Case):
    def drag(self, page: Page, plot: Locator, begin: float, end: float) -> None:
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + begin * box["width"], y)
        page.mouse.down()
        page.mouse.move(box["x"] + end * box["width"], y, steps=5)
        page.mouse.up()

    def test_dragging_zooms_all_time_axes_and_a_double_click_shows_all(self) -> None:
        with self.page("run") as page:
            self.show_all(page)
            plot = figure(page, "flow-2: congestion window").locator(".u-over")
            self.drag(page, plot, 0.5, 0.75)
            begin, end = view(page, "flow-2: congestion window")
            self.assertAlmostEqual(begin, 60, delta=3)
            self.assertAlmostEqual(end, 90, delta=3)
            self.assertEqual(view(page, "Queue lengths"), [begin, end])
            plot.dblclick()
            self.assertEqual(view(page, "flow-2: congestion window"), [0, 120])
            self.assertEqual(view(page, "Queue lengths"), [0, 120])

    def test_a_map_shows_the_way_of_a_flow_as_it_changes(self) -> None:
        with self.page("air") as page:
            slider = page.get_by_label("Time in air: map")
            slider.scroll_into_view_if_needed()
            drawn = page.locator("svg.map polyline")
            for time, way in ((5, "a up b"), (44, "a down b")):
                slider.evaluate("(s, time) => { s.value = time; s.dispatchEvent(new Event('input')) }", time)
                self.assertEqual([one.get_attribute("data-way") for one in drawn.all()], [way])

    def test_shift_and_drag_moves(self) -> None:
        with self.page("run") as page:
            chart = figure(page, "flow-2: congestion window")
            chart.get_by_role("button", name="Zoom in").click()
            self.assertEqual(view(page, "flow-2: congestion window"), [30, 90])
            page.keyboard.down("Shift")
            self.drag(page, chart.locator(".u-over"), 0.6, 0.4)
            page.keyboard.up("Shift")
            begin, end = view(page, "flow-2: congestion window")
            self.assertAlmostEqual(begin, 42, delta=2)
            self.assertAlmostEqual(end - begin, 60)

    def test_buttons_zoom_and_move(self) -> None:
        with self.page("run") as page:
            chart = figure(page, "download: segments")
            steps = [("Zoom in", [30, 90]), ("Move right", [45, 105]), ("Move left", [30, 90])]
            for name, expected in [*steps, ("Zoom out", [0, 120]), ("Zoom in", [30, 90]), ("Show all of it", [0, 120])]:
                chart.get_by_role("button", name=name).click()
                self.assertEqual(view(page, "download: segments"), expected, name)

    def test_the_wheel_zooms_only_with_a_key(self) -> None:
        with self.page("run") as page:
            plot = figure(page, "download: segments").locator(".u-over")
            plot.hover()
            page.mouse.wheel(0, 50)
            self.assertEqual(view(page, "download: segments"), [0, 120])
            plot.hover()
            page.keyboard.down("Control")
            page.mouse.wheel(0, -300)
            page.keyboard.up("Control")
            page.wait_for_function("[...report.charts].some(c => c.view.x[1] < 119)")

    def test_series_are_switched_off_and_on(self) -> None:
        with self.page("run") as page:
            chart = figure(page, "download: congestion window")
            button = chart.get_by_role("button", name="cwnd")
            canvas = chart.locator("canvas").element_handle()
            frames = "() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
            page.evaluate(frames)
            before = page.evaluate("c => c.toDataURL()", canvas)
            button.click()
            self.assertEqual(button.get_attribute("aria-pressed"), "false")
            page.wait_for_function("([c, before]) => c.toDataURL() !== before", arg=[canvas, before])
            button.click()
            self.assertEqual(button.get_attribute("aria-pressed"), "true")
            page.mouse.move(0, 0)
            page.wait_for_function("([c, before]) => c.toDataURL() === before", arg=[canvas, before])

    def test_the_pointer_is_told_the_values(self) -> None:
        with self.page("run") as page:
            chart = figure(page, "download: congestion window")
            chart.locator(".u-over").hover()
            tip = chart.locator(".tip")
            tip.wait_for()
            self.assertRegex(tip.inner_text(), r"cwnd [\d.,]+ kB")
            page.mouse.move(0, 0)
            tip.wait_for(state="hidden")

    def test_the_keyboard_does_all_of_it(self) -> None:
        with self.page("run") as page:
            chart = figure(page, "download: round-trip time")
            chart.locator(".plot").focus()
            for _ in range(3):
                page.keyboard.press("ArrowRight")
            self.assertRegex(chart.get_by_role("status").inner_text(), r"^[\d.]+ s: RTT [\d.,]+ ms; delay")
            page.keyboard.press("+")
            self.assertEqual(view(page, "download: round-trip time"), [30, 90])
            page.keyboard.press("Shift+ArrowRight")
            self.assertEqual(view(page, "download: round-trip time"), [36, 96])
            page.keyboard.press("0")
            self.assertEqual(view(page, "download: round-trip time"), [0, 120])

    def test_a_finger_moves_and_two_zoom(self) -> None:
        with self.page("run", 390, has_touch=True) as page:
            chart = figure(page, "download: round-trip time")
            chart.get_by_role("button", name="Zoom in").click()
            over = chart.locator(".u-over")
            over.evaluate(
                """over => {
                    const fire = (type, id, x) => over.dispatchEvent(new PointerEvent(type, {
                        pointerId: id, pointerType: "touch", clientX: over.getBoundingClientRect().left + x }));
                    over.setPointerCapture = () => {};
                    fire("pointerdown", 1, 100); fire("pointermove", 1, 50); fire("pointerup", 1, 50);
                }"""
            )
            begin, end = view(page, "download: round-trip time")
            self.assertGreater(begin, 31)
            self.assertAlmostEqual(end - begin, 60)
            over.evaluate(
                """over => {
                    const fire = (type, id, x) => over.dispatchEvent(new PointerEvent(type, {
                        pointerId: id, pointerType: "touch", clientX: over.getBoundingClientRect().left + x }));
                    fire("pointerdown", 1, 80); fire("pointerdown", 2, 120); fire("pointermove", 2, 160);
                    fire("pointerup", 1, 80); fire("pointerup", 2, 160);
                }"""
            )
            begin, end = view(page, "download: round-trip time")
            self.assertAlmostEqual(end - begin, 30)


class TakenAway(Case):
    def test_the_csv_has_every_drop_with_its_cause(self) -> None:
        result = json.loads((ARTEFACTS / "run/result.json").read_text())
        for flow in result["flows"]:
            with self.page("run") as page:
                chart = figure(page, f"{flow['name']}: segments")
                text = saved(page, chart.get_by_role("button", name="CSV"))
                rows = list(csv.DictReader(io.StringIO(text)))
                self.assertEqual(list(rows[0]), ["series", "Time / s", "Sequence number / kB", "remark"])
                for cause, drops in flow["drops"].items():
                    found = [row for row in rows if row["series"] == f"segment lost: {cause}"]
                    self.assertEqual(len(found), drops, cause)
                again = [row for row in rows if row["series"] == "sent again"]
                self.assertEqual(len(again), flow["retransmitted_segments"])

    def test_the_csv_has_every_verdict(self) -> None:
        result = json.loads((ARTEFACTS / "run/result.json").read_text())
        with self.page("run") as page:
            for flow in result["flows"]:
                chart = figure(page, f"{flow['name']}: congestion window")
                text = saved(page, chart.get_by_role("button", name="CSV"))
                rows = list(csv.DictReader(io.StringIO(text)))
                for cause in ["congestion", "wireless"]:
                    found = [row for row in rows if row["series"] == f"judged {cause}, rightly"]
                    self.assertEqual(len(found), flow["loss_events"][f"{cause}_judged_right"])

    def test_the_svg_is_a_figure_with_its_axes_and_only_what_is_shown(self) -> None:
        with self.page("run") as page:
            chart = figure(page, "download: congestion window")
            chart.get_by_role("button", name="ssthresh").click()
            text = saved(page, chart.get_by_role("button", name="SVG"))
            (ARTEFACTS / "window.svg").write_text(text)
            words = [one.text for one in ET.fromstring(text).iter(f"{SVG}text")]
            for expected in ["download: congestion window and threshold", "Time / s", "Window / kB", "cwnd"]:
                self.assertIn(expected, words)
            self.assertNotIn("ssthresh", words)

    def test_bars_with_intervals_and_published_values_become_svg(self) -> None:
        with self.page("study") as page:
            text = saved(page, figure(page, "Download of 20 MB").get_by_role("button", name="SVG"))
            (ARTEFACTS / "bars.svg").write_text(text)
            drawing = ET.fromstring(text)
            self.assertGreaterEqual(len(list(drawing.iter(f"{SVG}rect"))), 8)
            self.assertIn("1s, published", [one.text for one in drawing.iter(f"{SVG}text")])


class Tables(Case):
    def test_a_column_sorts_up_and_down_with_the_missing_last(self) -> None:
        with self.page("study") as page:
            table = page.locator("table.sortable").first
            heading = table.get_by_role("columnheader", name="Measured")
            column = heading.evaluate("th => th.cellIndex")

            def values() -> list[float | None]:
                cells: list[float | None] = table.locator("tbody tr").evaluate_all(
                    "(rows, k) => rows.map(r => r.cells[k].dataset.sort === undefined ? null"
                    " : Number(r.cells[k].dataset.sort))",
                    column,
                )
                return cells

            for direction, sign in [("ascending", 1), ("descending", -1)]:
                heading.get_by_role("button").click()
                self.assertEqual(heading.get_attribute("aria-sort"), direction)
                found = values()
                numbers = [value for value in found if value is not None]
                self.assertEqual(numbers, sorted(numbers, reverse=sign < 0))
                self.assertEqual(found[: len(numbers)], numbers, "what is missing comes last")
                self.assertGreater(len(set(numbers)), 3)

    def test_every_figure_has_its_numbers_as_a_table(self) -> None:
        with self.page("sweep") as page:
            chart = figure(page, "goodput_bps against channel.per_bad")
            chart.get_by_text("The numbers as a table").click()
            chart.locator("tbody tr").first.wait_for()  # a browser says some time later that details were opened
            self.assertEqual(chart.locator("tbody tr").count(), 6)


class Sweeps(Case):
    def test_any_metric_goes_against_any_parameter(self) -> None:
        with self.page("sweep") as page:
            figure(page, "goodput_bps against channel.per_bad")
            page.get_by_label("Metric").first.select_option("overhead")
            figure(page, "overhead against channel.per_bad")
            page.get_by_label("against").first.select_option("flow.sender")
            chart = figure(page, "overhead against flow.sender")
            self.assertEqual(chart.locator(".legend button").count(), 3)
            page.get_by_label("channel.per_bad").first.select_option("0.3")
            self.assertEqual(figure(page, "overhead against flow.sender").locator(".legend button").count(), 1)

    def test_the_means_are_those_of_the_table(self) -> None:
        with self.page("sweep") as page:
            rows = list(
                csv.DictReader(io.StringIO(saved(page, figure(page, "goodput_bps").get_by_role("button", name="CSV"))))
            )
            cells = page.locator("#section-2 tbody tr").evaluate_all(
                "rows => rows.map(r => [r.cells[0].textContent, r.cells[1].textContent, Number(r.cells[2].dataset.sort)])"
            )
            means = {(row["series"], float(row["channel.per_bad"])): float(row["goodput_bps / Mbit/s"]) for row in rows}
            self.assertEqual(len(means), len(cells))
            for sender, per, goodput in cells:
                self.assertAlmostEqual(means[sender, float(per)], goodput / 1e6, places=5)


class Captures(Case):
    def test_a_capture_leads_to_its_connections(self) -> None:
        with self.page("capture") as page:
            links = page.locator("#section-1 tbody a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
            self.assertEqual(links, ["./connection-1.html", "./connection-2.html"])
            for link in links:
                self.assertTrue((self.made["capture"].parent / link).exists(), link)

    def test_each_retransmission_of_the_table_is_in_the_time_sequence_graph(self) -> None:
        with self.page("connection") as page:
            figure(page, "Segments and ACKs to the server")
            table = dict(
                page.locator("#section-1 tbody tr").evaluate_all(
                    "rows => rows.map(r => [r.cells[0].textContent, r.cells[1].textContent])"
                )
            )
            drawn = page.evaluate(
                """() => { const c = [...report.charts].find(c => c.figure.title.startsWith("Segments and ACKs"));
                    return Object.fromEntries(c.figure.series.map(s => [s.label, s.x.length])); }"""
            )
            for row, series in (("in fast retransmit", "fast retransmit"), ("after a timeout", "after a timeout")):
                points = sum(n for label, n in drawn.items() if label.startswith(f"sent again: {series}"))
                self.assertEqual(f"{points:,}" if points > 9999 else str(points), table[row], row)

    def test_what_algorithms_would_have_said_is_there(self) -> None:
        with self.page("connection") as page:
            for title in ("Estimates of bandwidth", "Verdicts on losses", "Slow start"):
                figure(page, title)


class Live(Case):
    def test_a_live_run_shows_over_time_what_a_simulated_one_does(self) -> None:
        if "live" not in self.made:
            skip("no live run is possible here")
        with self.page("live") as page:
            for title in ("congestion window", "segments and ACKs", "round-trip time", "Queue lengths"):
                figure(page, title)
            self.assertGreater(page.locator(".notes li").count(), 3)


class Long(Case):
    def test_a_hundred_thousand_points_are_there_and_few_are_drawn(self) -> None:
        began = time.monotonic()
        with self.page("long") as page:
            figure(page, "bulk: congestion window")
            opened = time.monotonic() - began
            self.show_all(page)
            counted = """() => [...report.charts].flatMap(c => c.figure.series.map((s, k) => ({
                all: s.x.length, drawn: c.places[k].length, kind: s.kind, width: c.u.over.clientWidth,
                height: c.u.over.clientHeight })))"""
            found = page.evaluate(counted)
            self.assertGreaterEqual(max(series["all"] for series in found), 90_000)
            self.assertGreater(page.get_by_text("series.parquet has every point").count(), 0)
            for series in found:
                if series["kind"] != "points":
                    self.assertLessEqual(series["drawn"], 5 * series["width"] + 1000)
                self.assertLessEqual(series["drawn"], series["all"])
            redraw = page.evaluate(
                """() => { const c = [...report.charts][0]; const t = performance.now();
                    for (let k = 0; k < 10; k++) c.zoom(k % 2 ? 2 : 0.5); return (performance.now() - t) / 10; }"""
            )
            print(f"100,000 points: open in {opened:.2f} s, all linked figures redrawn in {redraw:.0f} ms")

    def test_no_extreme_is_lost_however_far_one_looks(self) -> None:
        with self.page("long") as page:
            figure(page, "Queue lengths")
            highest = """() => { const c = [...report.charts].find(c => c.figure.title === "Queue lengths");
                const s = c.figure.series[0]; const top = places => places.reduce((a, k) => Math.max(a, s.y[k]), 0);
                return [top(c.places[0]), s.y.reduce((a, v) => Math.max(a, v), 0)]; }"""
            drawn, true = page.evaluate(highest)
            self.assertEqual(drawn, true)
            self.assertEqual(true, 50)


if __name__ == "__main__":
    unittest.main()
