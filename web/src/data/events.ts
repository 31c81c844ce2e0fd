// events.ts - the events of all runs in order, which of them are shown, and clusters of them for a line of time.
import type { RunEvent } from "./run";

/// An expectation is told at the end of a run; it belongs to the moment it speaks of, and is of another kind if it was missed.
export function momentOf(event: RunEvent): RunEvent {
  if (event.kind !== "expectation") return event;
  const timeMatch = [...event.text.matchAll(/ at (\d+(?:\.\d+)?) s\b/g)].pop();
  const kind = /: not met,/.test(event.text) ? "missed" : "expectation";
  return { ...event, kind, time: timeMatch ? Math.min(Number(timeMatch[1]), event.time) : event.time };
}

/// Events of one kind that are too close to be told apart on a line of time.
export interface EventCluster {
  kind: string;
  first: RunEvent;
  last: RunEvent;
  count: number;
}

/// All events; kinds can be switched off, and all but one drone's.
export class EventList {
  all: RunEvent[];
  private readonly hidden = new Set<string>();
  private drone = ""; // when set, only events of that drone and of the whole run
  private readonly listeners: (() => void)[] = [];

  constructor(events: RunEvent[]) {
    this.all = [...events].sort((a, b) => a.time - b.time);
  }

  /// More of them, of a flight that is under way.
  add(events: RunEvent[]): void {
    if (events.length === 0) return;
    this.all = [...this.all, ...events].sort((a, b) => a.time - b.time);
    this.changed();
  }

  /// Those of another flight.
  replace(events: RunEvent[]): void {
    this.all = [...events].sort((a, b) => a.time - b.time);
    this.changed();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  /// Kinds there are, each with how many.
  get kinds(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const event of this.all) counts.set(event.kind, (counts.get(event.kind) ?? 0) + 1);
    return counts;
  }

  isHidden(kind: string): boolean {
    return this.hidden.has(kind);
  }

  toggle(kind: string): void {
    if (!this.hidden.delete(kind)) this.hidden.add(kind);
    this.changed();
  }

  get only(): string {
    return this.drone;
  }

  /// Only this drone's; "" for all.
  setOnly(drone: string): void {
    if (drone === this.drone) return;
    this.drone = drone;
    this.changed();
  }

  get shown(): RunEvent[] {
    return this.all.filter((event) => !this.hidden.has(event.kind) && concerns(event, this.drone));
  }

  /// Those of a drone, for its plots.
  shownOf(drone: string): RunEvent[] {
    return this.all.filter((event) => !this.hidden.has(event.kind) && concerns(event, drone));
  }
}

function concerns(event: RunEvent, drone: string): boolean {
  return drone === "" || event.drone === "" || event.drone === drone;
}

/// Events of one kind that follow each other within `gap` [s] of their first, as one.
export function clusters(events: RunEvent[], gap: number): EventCluster[] {
  const openClusters = new Map<string, EventCluster>();
  const result: EventCluster[] = [];
  for (const event of events) {
    const cluster = openClusters.get(event.kind);
    if (cluster && event.time - cluster.first.time <= gap) {
      cluster.last = event;
      cluster.count += 1;
    } else {
      const next = { kind: event.kind, first: event, last: event, count: 1 };
      openClusters.set(event.kind, next);
      result.push(next);
    }
  }
  return result;
}
