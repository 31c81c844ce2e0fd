// app.ts - the page: scene on one side, plots or the panel on the other, the timeline below.
import { differencesOf, namesOf } from "./data/differences";
import type { PageInfo } from "./data/embedded";
import { EventList, momentOf } from "./data/events";
import { Live, type LiveState } from "./data/live";
import type { Drone, Run, RunEvent } from "./data/run";
import { indexAt } from "./data/table";
import { Plots } from "./plots/plots";
import { View, type CameraMode } from "./scene/view";
import { Clock } from "./ui/clock";
import { Compass, formatLength } from "./ui/compass";
import { make, makeButton, write } from "./ui/dom";
import { EventPanel } from "./ui/event_panel";
import { Help, listenForKeys, type Shortcut } from "./ui/help";
import { Layers } from "./ui/layers";
import { readMoment, writeMoment } from "./ui/link";
import { InjectBox } from "./ui/inject_box";
import { LiveBar } from "./ui/live_bar";
import { wordsOf } from "./ui/message";
import { makePanel } from "./ui/panel";
import { onTheme, theme, toggleTheme } from "./ui/theme";
import { Timeline } from "./ui/timeline";

const CAMERAS: CameraMode[] = ["whole", "follow", "top"];
const SIDES = ["plots", "events", "run"] as const;
const LAYERS_INTERVAL = 100; // [ms]
const NAP_MARKS_MAX = 3; // marks of the negligibility policy beyond which they are folded away
const STANDSTILL_AFTER = 500; // [ms] without another moment: a flight that is under way may be held up
const DRAW_TIMEOUT = 5000; // [ms] for scene and plots to be drawn, before the flight plays all the same

const GROW_INTERVAL = 400; // [ms] a flight that is under way: between two looks at all of it
const GROW_COST_FACTOR = 8; // and so many times what that has taken

type Side = (typeof SIDES)[number];

export class App {
  readonly clock: Clock;
  readonly plots: Plots;
  readonly events: EventList;
  view?: View;
  private layers?: Layers;
  private compass?: Compass;
  private chosen: Drone[];
  readonly help: Help;
  private readonly sceneBox = make("div", "scene");
  private readonly side = make("aside", "side");
  private readonly sideBody = make("div", "side-body");
  private readonly cameraButtons = new Map<CameraMode, HTMLButtonElement>();
  private readonly droneSelect = make("select", "drone-select");
  private readonly note = make("div", "note");
  private readonly tabs: HTMLButtonElement[] = [];
  private readonly eventPanel: EventPanel;
  private sideShown: Side = "plots";
  private dirty = true;
  private layersAt = 0;
  private moved = false; // at the frame before
  private movedAt = 0; // [ms]
  private timeSeen = NaN;
  live?: Live; // the flight is under way
  private readonly liveBar?: LiveBar;
  private injectBox?: InjectBox;
  private readonly layerBox = make("details", "layer-box");
  private growAt = 0; // [ms] when to look at all of it again
  private eventsTaken = 0; // of the first run
  private recordsTaken = -1; // of those that were received

  constructor(public info: PageInfo, public runs: Run[]) {
    const difference = info.comparison?.difference;
    this.clock = new Clock(Math.min(...runs.map((run) => run.start)), Math.max(...runs.map((run) => run.end)));
    const moments = runMoments(runs);
    if (difference) {
      moments.push({ time: difference.time_s, kind: "difference", drone: "", text: `first difference${difference.field ? `, ${difference.field}` : ""}` });
    }
    this.chosen = this.counterparts(runs[0].drones[0]);
    this.events = new EventList(moments);
    if ((this.events.kinds.get("nap") ?? 0) > NAP_MARKS_MAX) this.events.toggle("nap");
    this.eventPanel = new EventPanel(this.events, this.clock, () => this.chosen[0].name);
    this.plots = new Plots(this.clock, this.events);
    if (info.live) this.liveBar = new LiveBar(() => this.clock.follow());
    this.eventsTaken = runs[0].events.length;
    this.help = new Help(this.shortcuts());
  }

  // The drone, and in the other run the one of the same name.
  private counterparts(drone: Drone): Drone[] {
    const namesakes = this.runs.filter((run) => run !== drone.run).map((run) => run.drones.find((d) => d.name === drone.name));
    return [drone, ...namesakes.filter((d): d is Drone => d !== undefined)].sort((a, b) => a.run.index - b.run.index);
  }

  /// Put it on the screen. Where `embedded`, another page has it inside: the head and the address are that page's.
  start(embedded = false): void {
    const app = document.getElementById("app")!;
    const stage = make("main", "stage", this.sceneBox);
    this.side.append(this.makeTabs(), this.sideBody);
    const timeline = new Timeline(this.clock, this.events, { step: (by) => this.step(by) });
    app.replaceChildren(...(embedded ? [] : [this.makeHeader()]), stage, this.side, timeline.element, this.help.element);
    this.makeScene();
    this.showSide("plots");
    const moment = embedded ? {} : readMoment(location.hash);
    this.choose(this.runs[0].drones.find((drone) => drone.name === moment.drone) ?? this.chosen[0]);
    if (moment.time !== undefined) this.clock.seek(moment.time);
    if (!embedded) window.addEventListener("hashchange", () => this.goTo(location.hash));
    listenForKeys(this.shortcuts(), this.help);
    onTheme((now) => {
      this.view?.paint(now);
      this.dirty = true;
    });
    this.clock.onChange(() => (this.dirty = true));
    if (this.liveBar) this.watch(this.liveBar);
    const startedAt = performance.now();
    const playsAtOnce = !this.live && moment.time === undefined && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    let lastFrameAt: number | undefined; // the first frame may be of a moment before this one
    const frame = (now: number) => {
      const elapsed = now - (lastFrameAt ?? now); // [ms]
      this.pace(now, elapsed);
      if (this.live) this.grow(now);
      this.clock.advance(elapsed / 1000);
      lastFrameAt = now;
      this.draw(now);
      // Nothing plays before it can be seen.
      if (document.documentElement.dataset.state !== "ready" && (this.plots.drawn || now - startedAt > DRAW_TIMEOUT)) {
        this.view?.finish();
        document.documentElement.dataset.state = "ready";
        if (playsAtOnce) this.clock.toggle();
      }
      if (!embedded && !this.clock.playing && !this.live) writeMoment(this.clock.time, this.chosen[0].name);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  // Frames are told how long they take while the flight moves; once it stands it is drawn once more, in full.
  private pace(now: number, elapsed: number): void {
    if (this.clock.time !== this.timeSeen) [this.timeSeen, this.movedAt] = [this.clock.time, now];
    const isMoving = this.clock.playing && now - this.movedAt < STANDSTILL_AFTER;
    if (isMoving || this.moved) this.view?.pace(isMoving ? elapsed : 0);
    if (this.moved && !isMoving) this.dirty = true;
    this.moved = isMoving;
  }

  /// Show other flights in place of these: camera, switches, zoom and the moment stay, as far as they can.
  replace(info: PageInfo, runs: Run[]): void {
    [this.info, this.runs] = [info, runs];
    const { name } = this.chosen[0];
    this.chosen = this.counterparts(runs[0].drones.find((drone) => drone.name === name) ?? runs[0].drones[0]);
    this.clock.setSpan(Math.min(...runs.map((run) => run.start)), Math.max(...runs.map((run) => run.end)));
    this.events.replace(runMoments(runs));
    this.listDrones();
    if (this.view) {
      this.view.replace(runs.flatMap((run) => run.drones));
      this.view.choose(this.chosen[0]);
      this.makeLayers(this.view);
      const compass = new Compass(runs[0].info.wind);
      this.compass?.element.replaceWith(compass.element);
      this.compass = compass;
    }
    this.plots.replace(this.chosen);
    if (this.sideShown === "run") this.showSide("run");
    this.dirty = true;
  }

  /// From the first moment, with all of it in sight.
  startAnew(): void {
    this.setCamera("whole");
    this.plots.zoom(NaN, NaN);
    this.clock.seek(this.clock.start);
  }

  // The rest of the flight comes as it happens.
  private watch(bar: LiveBar): void {
    this.clock.follow();
    const inject = (this.injectBox = new InjectBox(this.chosen[0], this.view?.drag));
    this.sceneBox.append(inject.element);
    if (this.view) this.view.drag.enabled = true;
    this.live = bar.live = inject.live = new Live(this.runs[0], {
      changed: (state) => this.onLiveState(bar, state),
      reported: (message) => bar.tell(message),
      closed: () => {
        this.clock.live = false;
        if (bar.live?.state.status === "flying") bar.lose();
        bar.end();
        inject.end();
        this.growAt = 0;
      },
    });
  }

  private onLiveState(bar: LiveBar, state: LiveState): void {
    bar.show(state);
    if (!state.set || state.status !== "flying") this.injectBox?.end();
    if (state.status === "flying") return;
    const [run] = this.runs;
    run.info.status = state.status;
    run.info.final_hash = state.hash ?? run.info.final_hash;
    run.info.last_tick = Math.round(run.end / run.info.dt);
    if (this.sideShown === "run") this.showSide("run");
  }

  // Where things are at each frame; lines, plots and events a few times a second.
  private grow(now: number): void {
    const [run] = this.runs;
    this.clock.end = Math.max(this.clock.end, run.end);
    this.view?.refresh();
    this.liveBar?.update(now);
    this.liveBar?.mark(this.clock.follows);
    if (now < this.growAt || (this.clock.live && this.live?.records === this.recordsTaken)) return;
    this.recordsTaken = this.live?.records ?? -1;
    const startedAt = performance.now();
    this.events.add(run.events.slice(this.eventsTaken).map(momentOf));
    this.eventsTaken = run.events.length;
    if (this.view?.grow()) this.makeLayers(this.view);
    if (this.sideShown === "plots") this.plots.grow();
    this.dirty = true;
    this.growAt = now + Math.max(GROW_INTERVAL, GROW_COST_FACTOR * (performance.now() - startedAt));
    if (!this.clock.live && this.clock.end === run.end) {
      this.live = undefined; // that was all
      const wasFollowing = this.clock.follows;
      this.clock.playing = this.clock.playing && !wasFollowing;
      this.clock.seek(wasFollowing ? this.clock.end : this.clock.time);
    }
  }

  // What there is to switch on and off may become more.
  private makeLayers(view: View): void {
    this.layers = new Layers(view, () => (this.dirty = true));
    this.layerBox.replaceChildren(make("summary", "", "show"), this.layers.element);
  }

  private makeHeader(): HTMLElement {
    const [nameA, nameB] = this.runs.map((run) => run.info.name || run.info.file);
    const distinctNames = nameB === undefined ? undefined : namesOf(differencesOf(this.runs[0].info.scenario, this.runs[1].info.scenario));
    const title = nameB === undefined || nameA === nameB ? nameA : `${nameA} · ${nameB}`;
    document.title = `${title} – Volery`;
    const status = this.runs[0].info.status;
    const chip = this.liveBar?.chip ?? make("span", `chip ${status === "completed" ? "good" : "bad"}`, status);
    const buttons = [
      makeButton("tool text", "?", "keys (h)", () => this.help.show()),
      makeButton("tool text", "◐", "light or dark (d)", toggleTheme),
    ];
    const header = make("header", "top", make("span", "brand", "Volery"), make("h1", "", title), chip);
    this.runs.forEach((run, i) => {
      if (this.runs.length < 2) return;
      const name = distinctNames?.[i] ?? run.info.file; // the same scenario: another seed or program has its own file
      header.append(make("span", "run-name", make("span", `run-mark run-${i}`, i === 0 ? "A" : "B"), name));
    });
    const thinned = this.runs.some((run) => run.info.thinned.truth > 1 || run.info.thinned.other > 1);
    if (thinned) header.append(make("span", "chip", "thinned"));
    if (this.liveBar) header.append(this.liveBar.element);
    header.append(make("span", "space"), ...buttons);
    return header;
  }

  private makeScene(): void {
    try {
      this.view = new View(this.sceneBox, this.runs.flatMap((run) => run.drones));
    } catch (error) {
      this.sceneBox.append(make("p", "no-scene", `The scene cannot be drawn here (${wordsOf(error)}). The plots work without it.`));
      return;
    }
    const view = this.view;
    view.paint(theme());
    view.onPick = (drone) => this.choose(drone);
    view.onDrag = () => (this.dirty = true);
    this.makeLayers(view);
    const cameras = make("div", "cameras");
    for (const mode of CAMERAS) {
      const button = makeButton("tool text", mode, `${mode} camera (c for the next)`, () => this.setCamera(mode));
      this.cameraButtons.set(mode, button);
      cameras.append(button);
    }
    this.listDrones();
    this.droneSelect.setAttribute("aria-label", "drone");
    this.droneSelect.title = "drone (n for the next)";
    this.droneSelect.addEventListener("change", () => {
      this.choose(this.runs[0].drones[Number(this.droneSelect.value)]);
      this.droneSelect.blur();
    });
    this.compass = new Compass(this.runs[0].info.wind);
    this.note.textContent = "";
    this.sceneBox.append(make("div", "scene-tools", cameras, this.droneSelect), this.layerBox, make("div", "scene-note", this.compass.element, this.note));
    view.resize(); // before the first frame: observers may be told after it
    new ResizeObserver(() => {
      view.resize();
      this.dirty = true;
      this.draw(performance.now()); // a canvas of another size is empty until then
    }).observe(this.sceneBox);
    this.setCamera("whole");
    this.sceneBox.addEventListener("pointermove", () => (this.dirty = true));
    this.sceneBox.addEventListener("wheel", () => (this.dirty = true), { passive: true });
  }

  private listDrones(): void {
    const options = this.runs[0].drones.map((drone, i) => {
      const option = make("option", "", drone.name);
      option.value = String(i);
      return option;
    });
    this.droneSelect.replaceChildren(...options);
    this.droneSelect.value = String(this.runs[0].drones.findIndex((drone) => drone.name === this.chosen[0].name));
  }

  private makeTabs(): HTMLElement {
    const tooltips = { plots: "plots (p)", events: "what happened (e)", run: "what the run was (i)" };
    for (const side of SIDES) this.tabs.push(makeButton("tab", side, tooltips[side], () => this.showSide(side)));
    const reset = makeButton("tool text reset", "whole flight", "show the whole flight in the plots (z)", () => this.plots.zoom(NaN, NaN));
    return make("nav", "tabs", ...this.tabs, make("span", "space"), reset);
  }

  private showSide(side: Side): void {
    this.sideShown = side;
    this.tabs.forEach((tab, i) => tab.classList.toggle("on", SIDES[i] === side));
    const bodies = { plots: () => this.plots.element, events: () => this.eventPanel.element, run: () => makePanel(this.runs, this.chosen, this.info.comparison) };
    this.sideBody.replaceChildren(bodies[side]());
    this.sideBody.scrollTop = 0;
    this.dirty = true;
  }

  choose(drone: Drone): void {
    this.chosen = this.counterparts(drone);
    this.view?.choose(drone);
    this.droneSelect.value = String(this.runs[0].drones.findIndex((d) => d.name === drone.name));
    this.plots.show(this.chosen);
    this.eventPanel.choose(drone.name);
    this.layers?.choose();
    this.injectBox?.choose(drone);
    if (this.sideShown === "run") this.showSide("run");
    this.dirty = true;
  }

  /// Go to the moment of a link.
  private goTo(hash: string): void {
    const { time, drone } = readMoment(hash);
    const target = this.runs[0].drones.find(({ name }) => name === drone);
    if (target && target.name !== this.chosen[0].name) this.choose(target);
    if (time === undefined) return;
    this.clock.playing = false;
    this.clock.seek(time);
  }

  private setCamera(mode: CameraMode): void {
    this.view?.setMode(mode);
    for (const [name, button] of this.cameraButtons) button.classList.toggle("on", name === mode);
    this.dirty = true;
  }

  private step(by: number): void {
    const times = this.chosen[0].streams.get("truth")?.time;
    if (!times || times.length === 0) return;
    this.clock.playing = false;
    const i = indexAt(times, this.clock.time + 1e-9);
    this.clock.seek(times[Math.max(0, Math.min(times.length - 1, i + by))]);
  }

  private jumpToEvent(by: number): void {
    const now = this.clock.time;
    const candidates = this.events.shown.filter((event) => (by > 0 ? event.time > now + 1e-6 : event.time < now - 1e-6));
    const next = by > 0 ? candidates[0] : candidates[candidates.length - 1];
    if (next) this.clock.seek(next.time);
  }

  private nextDrone(): void {
    const { drones } = this.runs[0];
    const index = drones.findIndex((drone) => drone.name === this.chosen[0].name);
    this.choose(drones[(index + 1) % drones.length]);
  }

  private nextCamera(): void {
    const mode = this.view?.mode ?? "whole";
    this.setCamera(CAMERAS[(CAMERAS.indexOf(mode) + 1) % CAMERAS.length]);
  }

  private shortcuts(): Shortcut[] {
    const { clock } = this;
    return [
      { keys: [" ", "k"], shown: "space", text: "play or pause", act: () => clock.toggle() },
      { keys: ["ArrowLeft"], shown: "←", text: "one record back", act: () => this.step(-1) },
      { keys: ["ArrowRight"], shown: "→", text: "one record on", act: () => this.step(1) },
      { keys: ["["], shown: "[", text: "the event before", act: () => this.jumpToEvent(-1) },
      { keys: ["]"], shown: "]", text: "the next event", act: () => this.jumpToEvent(1) },
      { keys: ["Home"], shown: "Home", text: "to the start", act: () => clock.seek(clock.start) },
      { keys: ["End"], shown: "End", text: "to the end", act: () => clock.seek(clock.end) },
      { keys: ["+", "="], shown: "+", text: "faster", act: () => clock.faster(1) },
      { keys: ["-"], shown: "−", text: "slower", act: () => clock.faster(-1) },
      { keys: ["l"], shown: "l", text: "loop", act: () => clock.toggleLoop() },
      { keys: ["c"], shown: "c", text: "next camera: whole flight, follow, top", act: () => this.nextCamera() },
      { keys: ["n"], shown: "n", text: "next drone", act: () => this.nextDrone() },
      { keys: ["f"], shown: "f", text: "forces on or off", act: () => this.layers?.toggleForces() },
      { keys: ["z"], shown: "z", text: "whole flight in the plots", act: () => this.plots.zoom(NaN, NaN) },
      { keys: ["p"], shown: "p", text: "plots", act: () => this.showSide("plots") },
      { keys: ["e"], shown: "e", text: "what happened", act: () => this.showSide("events") },
      { keys: ["i"], shown: "i", text: "what the run was", act: () => this.showSide("run") },
      ...this.liveShortcuts(),
      { keys: ["d"], shown: "d", text: "light or dark", act: toggleTheme },
      { keys: ["h", "?"], shown: "h", text: "this help", act: () => this.help.show() },
    ];
  }

  private liveShortcuts(): Shortcut[] {
    const bar = this.liveBar;
    if (!bar) return [];
    return [
      { keys: ["o"], shown: "o", text: "pause the flight, or let it go on", act: () => bar.togglePause() },
      { keys: ["."], shown: ".", text: "ten steps of the flight", act: () => bar.makeStep() },
      { keys: ["0"], shown: "0", text: "what happens now", act: () => this.live && this.clock.follow() },
    ];
  }

  private draw(now: number): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.view?.draw(this.clock.time);
    if (this.view) this.tellScale(this.view);
    if (this.sideShown === "plots") this.plots.update(now);
    if (this.sideShown === "events") this.eventPanel.update();
    if (this.layers && (now - this.layersAt > LAYERS_INTERVAL || !this.clock.playing)) {
      this.layersAt = now;
      this.layers.update(this.clock.time);
    }
  }

  private tellScale(view: View): void {
    const { azimuth, perMetre } = view.bearing;
    this.compass?.update(azimuth, perMetre);
    const notes = [`grid ${formatLength(view.ground.cell)}`];
    if (view.scale > 1) notes.push(`drones drawn ${view.scale}× larger`);
    const text = notes.join(" · ");
    write(this.note, text);
  }
}

function runMoments(runs: Run[]): RunEvent[] {
  return runs.flatMap((run) => run.events).map(momentOf);
}
