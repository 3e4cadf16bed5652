// How things look: colours for light and dark grounds, line styles, markers, numbers. The same language as the static
// figures: Okabe and Ito's colours, which readers with a colour vision deficiency tell apart, and for those who see
// none, markers and line styles beside.
"use strict";

{
  const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b87d00", "#3f9fd6", "#6f5fa8", "#1d2125"];
  const DARK = ["#4aa8e0", "#ff8a4a", "#2fc79b", "#e59ac4", "#f0b93a", "#8fd0f5", "#b3a4ea", "#e6e9ed"];
  const DASHES = [[], [9, 5], [3, 4], [16, 5]];

  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try {
      return localStorage.getItem("truckee-theme");
    } catch {
      return null; // a page from a file may have no storage
    }
  };

  let theme = kept() ?? (system.matches ? "dark" : "light");

  const look = {
    isDark: () => theme === "dark",
    set(next, keep) {
      theme = next;
      document.documentElement.dataset.theme = next;
      if (keep) {
        try {
          localStorage.setItem("truckee-theme", next);
        } catch {
          // Then it holds for this visit.
        }
      }
    },
    // What a figure on paper looks like, whatever the page does.
    paper: (colour) => LIGHT[colour % LIGHT.length],
    colour: (colour) => (theme === "dark" ? DARK : LIGHT)[colour % LIGHT.length],
    dash: (k) => DASHES[k % DASHES.length],
    ground: () => (theme === "dark" ? "#1e242b" : "#f5f6f8"),
    ink: () => (theme === "dark" ? "#e6e9ed" : "#1d2125"),
    quiet: () => (theme === "dark" ? "#a9b1bb" : "#565d66"),
    faint: () => (theme === "dark" ? "#343c46" : "#dde1e6"),
    onChange: (then) => system.addEventListener("change", (e) => kept() ?? then(e.matches ? "dark" : "light")),
  };
  look.set(theme, false);

  // A marker's outline around 0, 0 as corners; circles and dots have none.
  const CORNERS = {
    square: (r) => [[-r, -r], [r, -r], [r, r], [-r, r]],
    triangle: (r) => [[0, -1.3 * r], [1.2 * r, 0.9 * r], [-1.2 * r, 0.9 * r]],
    diamond: (r) => [[0, -1.4 * r], [1.2 * r, 0], [0, 1.4 * r], [-1.2 * r, 0]],
    inverted: (r) => [[0, 1.3 * r], [1.2 * r, -0.9 * r], [-1.2 * r, -0.9 * r]],
    cross: (r) => {
      const w = 0.38 * r;
      const arms = [[-r, -r + w], [-w, 0], [-r, r - w], [-r + w, r], [0, w], [r - w, r]];
      return [...arms, [r, r - w], [w, 0], [r, -r + w], [r - w, -r], [0, -w], [-r + w, -r]];
    },
  };
  look.corners = (marker, r) => CORNERS[marker]?.(r) ?? null;
  // Round markers and those that point down, which tell of verdicts, are seen around the diamonds and crosses beneath them.
  const RADII = { dot: 1.5, circle: 5.5, inverted: 5.5 };
  look.radius = (series) => (RADII[series.marker] ?? 4.5) + (series.hollow ? 1 : 0);
  look.marked = (series) => series.kind === "points" || series.kind === "curve";
  look.lined = (series) => ["line", "step", "curve"].includes(series.kind);

  // A series' sample for legends, as SVG text.
  look.swatch = (series, colour = look.colour(series.colour)) => {
    const parts = [];
    if (series.kind === "bars") parts.push(`<rect x="8" y="2" width="12" height="12" fill="${colour}"/>`);
    if (look.lined(series)) {
      const dash = look.dash(series.dash).join(" ");
      parts.push(`<line x1="0" y1="8" x2="28" y2="8" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>`);
    }
    if (look.marked(series)) parts.push(look.markerSvg(series, 14, 8, colour));
    return `<svg width="28" height="16" viewBox="0 0 28 16" aria-hidden="true">${parts.join("")}</svg>`;
  };

  look.markerSvg = (series, x, y, colour) => {
    const r = look.radius(series);
    const corners = look.corners(series.marker, r);
    const paint = series.hollow ? `fill="none" stroke="${colour}" stroke-width="2"` : `fill="${colour}"`;
    if (!corners) return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r}" ${paint}/>`;
    const points = corners.map(([dx, dy]) => `${(x + dx).toFixed(1)},${(y + dy).toFixed(1)}`).join(" ");
    return `<polygon points="${points}" ${paint}/>`;
  };

  const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const long = new Intl.NumberFormat("en", { maximumSignificantDigits: 9 });
  const tiny = (x) => x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e12);
  look.number = (x) => (tiny(x) ? x.toExponential(3) : short.format(x));
  look.exact = (x) => (tiny(x) ? x.toExponential(6) : long.format(x));
  // The unit of an axis: what comes after the last slash.
  look.unit = (axis) => (axis.label.includes(" / ") ? axis.label.slice(axis.label.lastIndexOf(" / ") + 3) : "");
  report.look = look;
}
