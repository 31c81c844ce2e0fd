// plot.ts - one plot: lines over time with a legend that shows the values at the moment.
import uPlot from "uplot";
import type { Drone } from "../data/run";
import { indexAt } from "../data/table";
import { formatFixed, make, write } from "../ui/dom";
import { theme } from "../ui/theme";
import { align } from "./align";
import type { Dash, PlotGroup, PlotLine } from "./lines";

const DASHES: Record<Dash, number[]> = { solid: [], dashed: [7, 4], dotted: [2, 3] };
const HEIGHT = 150;
const QUIET_HEIGHT = 6; // [pixels] height of a quiet mark

/// A vertical line at an event; a quiet one is short.
export interface Mark {
  time: number;
  color: string;
  quiet: boolean;
}

export interface PlotHost {
  sync: string; // plots of one key share their cursor
  marks(): Mark[];
  zoomed(min: number, max: number): void;
  seek(time: number): void;
}

function formatTick(value: number): string {
  const size = Math.abs(value);
  const isExponential = size >= 1e5 || (size > 0 && size < 9.9e-4);
  const text = isExponential ? value.toExponential(3).replace(/\.?0*e\+?/, "e") : `${+value.toPrecision(6)}`;
  return text.replace(/-/g, "−");
}

// So many digits behind the point that a plot's values differ by them, always as many.
function digitsOf(largest: number): number {
  return largest > 0 ? Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(largest)))) : 3;
}

// The largest finite size.
function largestOf(lines: PlotLine[]): number {
  let largest = 0;
  for (const { values } of lines) for (const value of values) if (Math.abs(value) > largest && Math.abs(value) < Infinity) largest = Math.abs(value);
  return largest;
}

interface Entry {
  line: PlotLine;
  value: HTMLElement;
  key: HTMLElement;
}

// Of the numbers at an axis [px]: with the page's own.
function tickSize(): number {
  return Math.round(0.85 * parseFloat(getComputedStyle(document.documentElement).fontSize)) || 11;
}

export class Plot {
  readonly element = make("section", "plot");
  lines: PlotLine[];
  private readonly legend = make("div", "legend");
  private readonly area = make("div", "plot-area");
  private readonly now = make("div", "plot-now");
  private readonly entries: Entry[] = [];
  private digits = 0;
  private readonly hidden = new Set<number>();
  private chart?: uPlot;
  private range?: [number, number];
  private nowAt = NaN; // [device pixels] of the line of the present moment

  constructor(readonly group: PlotGroup, private drones: Drone[], private readonly host: PlotHost) {
    this.lines = this.makeLines();
    const head = make("header", "plot-head", make("h3", "", group.title, make("span", "unit", group.unit ? ` ${group.unit}` : "")), this.legend);
    this.element.dataset.plot = group.id;
    this.element.append(head, this.area);
    this.makeLegend();
    this.measure();
  }

  // Values have the width of the longest from the start: what they say then moves nothing around them.
  private measure(): void {
    const largest = largestOf(this.lines);
    this.digits = digitsOf(largest);
    for (const { value } of this.entries) value.style.width = `${formatFixed(-largest, this.digits).length + 0.5}ch`;
  }

  private makeLines(): PlotLine[] {
    const { group, drones } = this;
    const between = drones.length === 2 ? (group.between?.(drones[0], drones[1]) ?? []) : [];
    const single = drones.flatMap((drone, i) => {
      const ownLines = group.lines(drone).filter((line) => drones.length === 1 || !line.secondary);
      return ownLines.map((line) => ({ ...line, label: drones.length > 1 ? `${i === 0 ? "A" : "B"} ${line.label}` : line.label, dash: i > 0 ? ("dashed" as Dash) : line.dash }));
    });
    return [...between, ...single];
  }

  /// Take in what there is by now; false where that is other lines than before.
  grow(range: [number, number] | undefined, whole: [number, number]): boolean {
    const lines = this.makeLines();
    if (lines.map((line) => line.label).join("\n") !== this.lines.map((line) => line.label).join("\n")) return false;
    this.lines = lines;
    this.entries.forEach((entry, i) => (entry.line = lines[i]));
    this.measure();
    if (!this.chart) return true;
    const { time, values } = align(lines);
    this.chart.setData([time, ...values] as unknown as uPlot.AlignedData, false);
    const [min, max] = range ?? whole;
    this.chart.setScale("x", { min, max });
    return true;
  }

  /// The same of other drones; false where they have other lines.
  replace(drones: Drone[], range: [number, number] | undefined, whole: [number, number]): boolean {
    this.drones = drones;
    return this.grow(range, whole);
  }

  private makeLegend(): void {
    this.lines.forEach((line, i) => {
      const value = make("span", "value", "–");
      const key = make("button", "key", make("span", `swatch ${line.dash}`), make("span", "name", line.label), value);
      key.type = "button";
      key.title = `show or hide ${line.label}`;
      key.addEventListener("click", () => this.toggle(i));
      this.entries.push({ line, value, key });
      this.legend.append(key);
    });
    this.paintLegend();
  }

  private paintLegend(): void {
    const colors = theme().lines;
    for (const { line, key } of this.entries) key.style.setProperty("--line", colors[line.color % colors.length]);
  }

  private toggle(i: number): void {
    if (this.hidden.has(i)) this.hidden.delete(i);
    else this.hidden.add(i);
    this.entries[i].key.classList.toggle("off", this.hidden.has(i));
    this.chart?.setSeries(i + 1, { show: !this.hidden.has(i) });
  }

  /// Draw anew, as wide as there is room.
  draw(): void {
    this.chart?.destroy();
    this.paintLegend();
    const width = this.area.clientWidth;
    if (width < 40 || this.lines.length === 0) return;
    const { time, values } = align(this.lines);
    this.chart = new uPlot(this.options(width), [time, ...values] as unknown as uPlot.AlignedData, this.area);
    this.chart.over.append(this.now);
    if (this.range) this.chart.setScale("x", { min: this.range[0], max: this.range[1] });
  }

  private options(width: number): uPlot.Options {
    const colors = theme();
    const tick = tickSize();
    const axis = { stroke: colors.faint, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.grid, width: 1, size: 4 }, font: `${tick}px system-ui, sans-serif` };
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [6, 16, 0, 0],
      scales: { x: { time: false } },
      cursor: { sync: { key: this.host.sync, setSeries: false }, drag: { x: true, y: false }, points: { size: 6 }, bind: { dblclick: () => () => (this.host.zoomed(NaN, NaN), null) } },
      axes: [
        { ...axis, size: Math.round(2.2 * tick), space: 5.5 * tick, values: (_, ticks) => ticks.map((t) => `${+t.toPrecision(8)} s`.replace("-", "−")) },
        { ...axis, size: Math.round(4.7 * tick), space: 26, values: (_, ticks) => ticks.map(formatTick) },
      ],
      series: [
        {},
        ...this.lines.map((line, i) => ({
          label: line.label,
          show: !this.hidden.has(i),
          stroke: colors.lines[line.color % colors.lines.length],
          width: 1.5,
          dash: DASHES[line.dash],
          spanGaps: true,
          points: { show: false },
        })),
      ],
      hooks: {
        draw: [(chart) => this.drawMarks(chart)],
        setSelect: [(chart) => this.selected(chart)],
        ready: [(chart) => this.listen(chart)],
      },
    };
  }

  private drawMarks(chart: uPlot): void {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.setLineDash([]);
    for (const mark of this.host.marks()) {
      const x = Math.round(chart.valToPos(mark.time, "x", true)) + 0.5;
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = mark.color;
      ctx.globalAlpha = mark.quiet ? 0.8 : 0.6;
      ctx.lineWidth = devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(x, mark.quiet ? bbox.top + bbox.height - QUIET_HEIGHT * devicePixelRatio : bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  private selected(chart: uPlot): void {
    if (chart.select.width < 6) return;
    const min = chart.posToVal(chart.select.left, "x");
    const max = chart.posToVal(chart.select.left + chart.select.width, "x");
    this.host.zoomed(min, max);
  }

  // A click goes there; the wheel zooms about the pointer.
  private listen(chart: uPlot): void {
    const timeAt = (event: MouseEvent) => chart.posToVal(event.clientX - chart.over.getBoundingClientRect().left, "x");
    let downX = 0;
    chart.over.addEventListener("pointerdown", (event) => (downX = event.clientX));
    chart.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - downX) < 4) this.host.seek(timeAt(event));
    });
    chart.over.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return; // a plain wheel scrolls the list
        event.preventDefault();
        const pointerTime = timeAt(event);
        const { min, max } = chart.scales.x;
        if (min === undefined || max === undefined || min === null || max === null) return;
        const factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8;
        this.host.zoomed(pointerTime - (pointerTime - min) * factor, pointerTime + (max - pointerTime) * factor);
      },
      { passive: false },
    );
  }

  setRange(range: [number, number] | undefined, whole: [number, number]): void {
    this.range = range;
    const [min, max] = range ?? whole;
    this.chart?.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.chart?.setScale("x", { min, max });
  }

  /// Move the line of the present moment; the values follow when `values` is set.
  setTime(time: number, values: boolean): void {
    if (this.chart) {
      const { min, max } = this.chart.scales.x;
      const inside = min != null && max != null && time >= min && time <= max;
      const pixel = inside ? Math.round(this.chart.valToPos(time, "x") * devicePixelRatio) : -1;
      if (pixel !== this.nowAt) {
        this.nowAt = pixel;
        this.now.hidden = pixel < 0;
        this.now.style.transform = `translateX(${pixel / devicePixelRatio}px)`;
      }
    }
    if (!values) return;
    for (const { line, value } of this.entries) {
      const i = indexAt(line.time, time);
      write(value, line.time.length > 0 && line.time[0] <= time + 1e-9 ? formatFixed(line.values[i], this.digits) : "–");
    }
  }

  destroy(): void {
    this.chart?.destroy();
    this.element.remove();
  }
}
