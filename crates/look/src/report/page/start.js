// Brings the page to life: tables that sort, figures as they come into sight, light and dark.
"use strict";

{
  const { look } = report;
  Object.assign(report, report.decode(JSON.parse(document.getElementById("data").textContent)));
  document.querySelectorAll("table.sortable").forEach(report.sortable);

  const figures = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        figures.unobserve(target);
        report.show(report.figure(Number(target.dataset.figure)), target);
      }
    },
    { rootMargin: "600px" },
  );
  document.querySelectorAll("figure.chart[data-figure]").forEach((figure) => figures.observe(figure));
  document.querySelectorAll("[data-grid]").forEach((place) => report.explore(report.grid(Number(place.dataset.grid)), place));

  const maps = [...document.querySelectorAll("[data-map]")].map((place) => report.showMap(report.map(Number(place.dataset.map)), place));

  const button = document.getElementById("theme");
  const say = () => (button.textContent = look.isDark() ? "Light" : "Dark");
  const change = (theme, keep) => {
    look.set(theme, keep);
    say();
    report.charts.forEach((chart) => chart.repaint());
    maps.forEach((map) => map.repaint());
  };
  button.addEventListener("click", () => change(look.isDark() ? "light" : "dark", true));
  look.onChange((theme) => change(theme, false));
  say();
  button.hidden = false;
}
