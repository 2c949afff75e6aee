"""Draws the figures of clients/bench/run: `charts.py VALUES FOLDER` writes clients-rows.png and clients-many.png."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FLOOR, OURS, OTHERS = "#9aa5b1", "#1f6feb", "#d1773c"
TITLES = {
    "rows one": "A single column",
    "rows nine": "Nine columns",
    "rows json": "JSON",
    "rows sixty": "Sixty timestamptz",
}


def main():
    benches = read(sys.argv[1])
    folder = Path(sys.argv[2])
    figure, axes = plt.subplots(2, 2, figsize=(13, 10), layout="constrained")
    for axis, (bench, title) in zip(axes.flat, TITLES.items()):
        bars(axis, benches.get(bench, {}), 0, f"{title}: 50,000 rows, CPU ms (less is better)")
    figure.savefig(folder / "clients-rows.png", dpi=100)

    figure, axes = plt.subplots(2, 2, figsize=(13, 8), layout="constrained")
    bars(axes.flat[0], benches.get("pool", {}), 0, "Pool: CPU us a query of 100 rows (less is better)")
    for axis, connections in zip(axes.flat[1:], (1, 16, 64)):
        title = f"HTTP with JSON, {connections} connection{'s' if connections > 1 else ''}: requests/s (more is better)"
        bars(axis, benches.get(f"http {connections}", {}), 0, title)
    figure.savefig(folder / "clients-many.png", dpi=100)


def read(path):
    """Ways and figures by bench, in the order in which they were measured."""
    benches = {}
    for line in Path(path).read_text().splitlines():
        bench, way, *figures = line.split("\t")
        benches.setdefault(bench, {})[way] = [float(figure) for figure in figures]
    return benches


def bars(axis, ways, index, title):
    names = list(ways)
    lengths = [ways[name][index] for name in names]
    drawn = axis.barh(names, lengths, color=[color(name) for name in names])
    axis.bar_label(drawn, labels=[f"{length:,.1f}" if length < 1000 else f"{length:,.0f}" for length in lengths], padding=3)
    axis.invert_yaxis()
    axis.margins(x=0.15)
    axis.set_title(title, fontsize=10, loc="right")
    axis.spines[["top", "right"]].set_visible(False)


def color(way):
    if way.startswith(("socket", "slab")):
        return FLOOR
    return OTHERS if "pgjdbc" in way or "vertx" in way else OURS


if __name__ == "__main__":
    main()
