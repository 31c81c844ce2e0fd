// plots.ts - the column of plots: those the log has data for, all with the same time axis.
import { clusters, type EventList } from "../data/events";
import type { Drone } from "../data/run";
import type { Clock } from "../ui/clock";
import { make } from "../ui/dom";
import { onTheme } from "../ui/theme";
import { colorOfKind, isQuiet } from "../ui/events";
import { plotGroups, type PlotGroup } from "./lines";
import { Plot, type Mark, type PlotHost } from "./plot";

const MARK_SPACING = 1e-3; // of the flight: closer events of a kind have one mark
const VALUES_INTERVAL = 160; // [ms] numbers that change faster cannot be read

export class Plots {
  readonly element = make("div", "plots");
  plots: Plot[] = [];
  private groups: PlotGroup[] = [];
  private drones: Drone[] = [];
  private readonly host: PlotHost;
  private range?: [number, number];
  private valuesAt = 0; // [ms] when the shown values were last written
  private shownTime = NaN;
  private marks: Mark[] = [];
  private drone = ""; // the one that is shown
  private visible = new Set<Plot>();
  drawn = false; // those in sight
  private readonly watcher: IntersectionObserver;

  constructor(private readonly clock: Clock, private readonly events: EventList) {
    this.host = {
      sync: "volery",
      marks: () => this.marks,
      zoomed: (min, max) => this.zoom(min, max),
      seek: (time) => clock.seek(time),
    };
    this.watcher = new IntersectionObserver((entries) => this.sawEntries(entries), { rootMargin: "200px" });
    onTheme(() => this.redraw());
    events.onChange(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  /// Show these drones (one, or the same one of two runs).
  show(drones: Drone[]): void {
    for (const plot of this.plots) plot.destroy();
    this.visible.clear();
    this.drones = drones;
    this.drone = drones[0].name;
    this.markEvents();
    this.groups = plotGroups(drones);
    this.plots = this.groups.map((group) => new Plot(group, drones, this.host)).filter((plot) => plot.lines.length > 0);
    for (const plot of this.plots) {
      this.element.append(plot.element);
      this.watcher.observe(plot.element);
    }
    this.shownTime = NaN;
  }

  /// There are more records. Plots that have more lines by now, or had none, are made anew.
  grow(): void {
    this.groups = plotGroups(this.drones);
    this.markEvents();
    const knownIds = new Set(this.plots.map((plot) => plot.group.id));
    const hasMore = this.groups.some((group) => !knownIds.has(group.id) && group.lines(this.drones[0]).length > 0);
    if (hasMore || [...this.visible].some((plot) => !plot.grow(this.range, this.whole))) this.show(this.drones);
    this.shownTime = NaN;
  }

  /// Other flights of the same kind: lines change in place, plots that have others are made anew.
  replace(drones: Drone[]): void {
    this.drones = drones;
    this.groups = plotGroups(drones);
    this.markEvents();
    const shown = this.groups.filter((group) => group.lines(drones[0]).length > 0).map((group) => group.id);
    const same = shown.join("\n") === this.plots.map((plot) => plot.group.id).join("\n");
    if (!same || this.drone !== drones[0].name || !this.plots.every((plot) => plot.replace(drones, this.range, this.whole))) this.show(drones);
    this.shownTime = NaN;
  }

  // Only plots in sight are drawn: with many of them this is most of the work.
  private sawEntries(entries: IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      const plot = this.plots.find((p) => p.element === entry.target);
      if (!plot) continue;
      if (!entry.isIntersecting) {
        this.visible.delete(plot);
      } else if (!this.visible.has(plot)) {
        this.visible.add(plot);
        if (this.clock.live) plot.grow(this.range, this.whole);
        plot.draw();
        plot.setRange(this.range, this.whole);
        plot.setTime(this.clock.time, true);
      }
    }
    this.drawn = true;
  }

  private get whole(): [number, number] {
    return [this.clock.start, this.clock.end];
  }

  private markEvents(): void {
    const eventClusters = clusters(this.events.shownOf(this.drone), MARK_SPACING * (this.clock.end - this.clock.start));
    this.marks = eventClusters.map(({ kind, first }) => ({ time: first.time, color: colorOfKind(kind), quiet: isQuiet(kind) }));
  }

  private redraw(): void {
    this.markEvents();
    for (const plot of this.visible) {
      plot.draw();
      plot.setRange(this.range, this.whole);
    }
    this.shownTime = NaN;
  }

  zoom(min: number, max: number): void {
    const [first, last] = this.whole;
    const low = Math.max(first, min);
    const high = Math.min(last, max);
    this.range = high - low > 1e-6 && !(low === first && high === last) ? [low, high] : undefined;
    for (const plot of this.visible) plot.setRange(this.range, this.whole);
    this.shownTime = NaN;
  }

  update(now: number): void {
    if (this.clock.time === this.shownTime) return;
    const valuesAreDue = now - this.valuesAt > VALUES_INTERVAL || !this.clock.playing;
    if (valuesAreDue) this.valuesAt = now;
    this.shownTime = this.clock.time;
    for (const plot of this.visible) plot.setTime(this.clock.time, valuesAreDue);
  }
}
