"""Draws windows over time, programs side by side, one row a variant.

Not for: obtaining them (programs.py).
"""

from pathlib import Path

from programs import NS2, NS3, OURS, Trace

# Okabe and Ito's palette, which the colour-blind can tell apart.
COLOURS = {OURS: "#0072B2", NS2: "#D55E00", NS3: "#009E73"}
NAMES = {OURS: "Truckee", NS2: "ns-2", NS3: "ns-3"}
GREY = "#555555"


def draw(file: Path, title: str, windows: dict[str, dict[str, Trace]]) -> None:
    """`windows`: by variant, then by program. A program that lacks the variant leaves its panel empty."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "truckee"
    import matplotlib.pyplot as plt

    columns = [program for program in NAMES if any(program in row for row in windows.values())]
    size = (2.0 + 3.0 * len(columns), 1.0 + 1.5 * len(windows))
    drawn, axes = plt.subplots(
        len(windows), len(columns), squeeze=False, sharex=True, sharey="row", figsize=size, layout="constrained"
    )
    drawn.suptitle(title, fontsize=10)
    drawn.supxlabel("Time / s", fontsize=9)
    drawn.supylabel("Congestion window / segments", fontsize=9)
    for row, (variant, traces) in enumerate(windows.items()):
        for column, program in enumerate(columns):
            panel = axes[row][column]
            panel.spines[["top", "right"]].set_visible(False)
            panel.tick_params(labelsize=7, colors=GREY)
            if row == 0:
                panel.set_title(NAMES[program], fontsize=9, color=COLOURS[program])
            if program not in traces:
                panel.text(0.5, 0.5, "not there", transform=panel.transAxes, ha="center", fontsize=8, color=GREY)
                continue
            trace = traces[program]
            panel.plot(trace.times, trace.cwnd, color=COLOURS[program], linewidth=0.9)
            mean = sum(trace.cwnd) / len(trace.cwnd)
            panel.text(
                0.99, 0.03, f"{variant}, mean {mean:.3g}", transform=panel.transAxes, ha="right", fontsize=7.5, color=GREY,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1},
            )  # fmt: skip
        axes[row][0].set_ylim(bottom=0)  # once all of the row is drawn: it ends the scaling
    drawn.savefig(file, metadata={"Date": None})
    plt.close(drawn)
