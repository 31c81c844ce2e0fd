// timeline.ts - the bar at the bottom: play, step, speed, loop, and a line of time with the events on it.
import { clusters, type EventCluster, type EventList } from "../data/events";
import { SPEEDS, type Clock } from "./clock";
import { formatTime, make, makeButton, makeIcon, write } from "./dom";
import { markOfKind, namedKind, rankOfKind } from "./events";

const MARKS_MAX = 400; // more would be a bar
const READOUT_INTERVAL = 100; // [ms] while it plays: to write costs the page a layout
const MARK_SPACING = 0.008; // of the line: events of a kind that are closer have one mark

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11h-3zM9 2.5h3v11h-3z",
  back: "M10.5 3v10l-6-5zM3 3h1.6v10h-1.6z",
  next: "M5.5 3v10l6-5zM11.4 3h1.6v10h-1.6z",
  loop: "M4 6a4.5 4.5 0 0 1 8-1M12 10a4.5 4.5 0 0 1-8 1M12.4 2v3.2h-3.2M3.6 14v-3.2h3.2",
};

export interface TimelineHost {
  step(by: number): void; // records of the chosen drone
}

export class Timeline {
  readonly element = make("footer", "timeline");
  private readonly play: HTMLButtonElement;
  private readonly loop: HTMLButtonElement;
  private readonly range = make("input", "scrub");
  private readonly readout = make("output", "readout");
  private readonly speed = make("select", "speed");
  private readonly marks = make("div", "marks");
  private readonly done = make("div", "done");
  private readonly way = make("div", "way", make("div", "knob"));
  private shown = "";
  private at = NaN; // [device pixels] of the knob
  private toldAt = 0; // [ms]
  private wide = 0; // [px]
  private readonly fold = makeButton("tool text fold", "", "show or hide the marks of the negligibility policy", () => this.events.toggle("nap"));

  constructor(private readonly clock: Clock, private readonly events: EventList, host: TimelineHost) {
    this.play = makeButton("round", makeIcon(ICONS.play), "play or pause (space)", () => clock.toggle());
    this.loop = makeButton("tool", makeIcon(ICONS.loop, false), "loop (l)", () => clock.toggleLoop());
    const back = makeButton("tool", makeIcon(ICONS.back), "one record back (left arrow)", () => host.step(-1));
    const next = makeButton("tool", makeIcon(ICONS.next), "one record on (right arrow)", () => host.step(1));
    for (const value of SPEEDS) {
      const option = make("option", "", `${value}×`);
      option.value = String(value);
      this.speed.append(option);
    }
    this.speed.title = "speed (+ and −)";
    this.speed.setAttribute("aria-label", "speed");
    this.speed.addEventListener("change", () => {
      clock.setSpeed(Number(this.speed.value));
      this.speed.blur();
    });
    this.range.type = "range";
    this.range.min = String(clock.start);
    this.range.max = String(clock.end);
    this.range.step = "any";
    this.range.setAttribute("aria-label", "time in seconds");
    this.range.addEventListener("input", () => clock.seek(Number(this.range.value)));
    // What moves lies over the input, which would be laid out and painted at every frame.
    const track = make("div", "track", this.marks, this.range, make("div", "rail", this.done), this.way);
    new ResizeObserver(([{ contentRect }]) => {
      this.wide = contentRect.width;
      this.update();
    }).observe(track);
    this.element.append(make("div", "buttons", back, this.play, next), this.readout, track, this.fold, this.speed, this.loop);
    clock.onChange(() => this.update());
    events.onChange(() => this.mark());
    this.mark();
    this.update();
  }

  private mark(): void {
    const folded = this.events.kinds.get("nap") ?? 0;
    this.fold.style.display = folded > 0 ? "" : "none";
    this.fold.classList.toggle("on", !this.events.isHidden("nap"));
    this.fold.replaceChildren(markOfKind("nap"), String(folded));
    const span = Math.max(this.clock.end - this.clock.start, 1e-9);
    const eventClusters = clusters(this.events.shown, MARK_SPACING * span).slice(0, MARKS_MAX);
    this.marks.replaceChildren(
      ...eventClusters.map((cluster) => {
        const { first, kind } = cluster;
        const mark = makeButton("event", markOfKind(kind), wordsOf(cluster), () => this.clock.seek(first.time));
        mark.dataset.kind = kind;
        mark.style.zIndex = String(rankOfKind(kind));
        mark.style.left = `${(100 * (first.time - this.clock.start)) / span}%`;
        return mark;
      }),
    );
  }

  private update(): void {
    const { clock } = this;
    const state = `${clock.playing} ${clock.loop} ${clock.speed}`;
    if (state !== this.shown) {
      this.shown = state;
      this.play.replaceChildren(makeIcon(clock.playing ? ICONS.pause : ICONS.play));
      this.play.setAttribute("aria-pressed", String(clock.playing));
      this.loop.classList.toggle("on", clock.loop);
      this.loop.setAttribute("aria-pressed", String(clock.loop));
      this.speed.value = String(clock.speed);
    }
    const share = (clock.time - clock.start) / Math.max(clock.end - clock.start, 1e-9);
    const knobPixel = Math.round(share * this.wide * devicePixelRatio);
    if (knobPixel !== this.at) {
      this.at = knobPixel;
      this.way.style.transform = `translateX(${knobPixel / devicePixelRatio}px)`;
      this.done.style.transform = `scaleX(${this.wide > 0 ? knobPixel / devicePixelRatio / this.wide : 0})`;
    }
    const now = performance.now();
    if (clock.playing && now < this.toldAt + READOUT_INTERVAL) return;
    this.toldAt = now;
    if (this.range.min !== String(clock.start)) this.range.min = String(clock.start);
    if (this.range.max !== String(clock.end)) this.range.max = String(clock.end);
    this.range.value = String(clock.time);
    write(this.readout, `${formatTime(clock.time)} / ${formatTime(clock.end)} s`);
  }
}

function wordsOf({ kind, first, last, count }: EventCluster): string {
  const summary = `${namedKind(kind)}${first.drone ? ` (${first.drone})` : ""}: ${first.text}`;
  const moreText = count > 1 ? `; ${count - 1} more until ${formatTime(last.time)} s` : "";
  return `${formatTime(first.time)} s  ${summary}${moreText}`;
}
