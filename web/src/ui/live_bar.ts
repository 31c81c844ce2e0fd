// live_bar.ts - a flight that is under way: pause, step and speed of the flight itself, and back to now.
import type { Live, LiveState } from "../data/live";
import { make, makeButton } from "./dom";
import { Gamepad } from "./gamepad";

const ARROW_KEYS: Record<string, string> = { ArrowUp: "r", ArrowDown: "f", ArrowLeft: "q", ArrowRight: "e" };
const PILOT_KEYS = "wsadrfqe ";
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 0]; // 0: as fast as it goes

export class LiveBar {
  readonly element = make("div", "live-bar");
  readonly chip = make("span", "chip live", "live");
  private readonly pause: HTMLButtonElement;
  private readonly step: HTMLButtonElement;
  private readonly speed = make("select", "live-speed");
  private readonly now: HTMLButtonElement;
  private readonly words = make("span", "live-words");
  private readonly fly: HTMLButtonElement;
  private readonly pad = new Gamepad();
  private flown = -1; // index of the pilot whose keys these are; -1: they are the page's
  live?: Live;

  constructor(private readonly follow: () => void) {
    this.pause = makeButton("tool text live-pause", "pause flight", "pause the flight, or let it go on (o)", () => this.togglePause());
    this.step = makeButton("tool text live-step", "step", "ten steps of the flight (.)", () => this.makeStep());
    this.now = makeButton("tool text live-now", "now", "look at what happens now (0)", () => this.follow());
    for (const value of SPEEDS) {
      const option = make("option", "", value === 0 ? "as fast as it goes" : `${value}× real time`);
      option.value = String(value);
      this.speed.append(option);
    }
    this.speed.setAttribute("aria-label", "speed of the flight");
    this.speed.title = "speed of the flight";
    this.speed.addEventListener("change", () => {
      this.live?.set("speed", Number(this.speed.value));
      this.speed.blur();
    });
    this.fly = makeButton("tool text live-fly", "", "your keys, or a gamepad, fly the drone: w s a d r f q e, arrows, space; Escape gives them back", () => this.takeKeys());
    this.fly.hidden = true;
    this.element.append(this.pause, this.step, this.speed, this.now, this.fly, this.words);
    window.addEventListener("keydown", (event) => this.hearKey(event), { capture: true });
  }

  // The next of the drones that can be flown, then none.
  private takeKeys(): void {
    const { pilots } = this.live?.state ?? { pilots: [] };
    this.flown = this.flown + 1 < pilots.length ? this.flown + 1 : -1;
    this.showKeys(pilots);
  }

  private showKeys(pilots: string[]): void {
    const on = this.flown >= 0;
    this.fly.hidden = pilots.length === 0;
    this.fly.textContent = on ? `you fly ${pilots[this.flown]}` : `fly ${pilots[0] ?? ""}`;
    this.fly.classList.toggle("on", on);
    this.tell(on ? "w s faster, slower; a d sideways; r f up, down; q e turn; space stops; or a gamepad: left stick turns and climbs, right one moves; Escape ends" : "");
  }

  /// Each frame: the sticks of a gamepad, while a drone is flown.
  update(now: number): void {
    const { live } = this;
    const drone = live?.state.pilots[this.flown];
    const sticks = live && drone !== undefined ? this.pad.read(now) : undefined;
    if (sticks !== undefined) live!.press(drone!, sticks);
  }

  // While a drone is flown, its keys are none of the page's.
  private hearKey(event: KeyboardEvent): void {
    const { live } = this;
    const drone = live?.state.pilots[this.flown];
    if (!live || drone === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = ARROW_KEYS[event.key] ?? event.key;
    if (key === "Escape") {
      this.flown = -1;
      this.showKeys(live.state.pilots);
    } else if (key.length === 1 && PILOT_KEYS.includes(key)) {
      live.press(drone, key);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  togglePause(): void {
    this.live?.set("paused", !this.live.state.paused);
  }

  makeStep(): void {
    this.live?.set("steps", 1);
  }

  show(state: LiveState): void {
    const flying = state.status === "flying";
    this.chip.textContent = flying ? (state.paused ? "paused" : "live") : state.status;
    this.chip.className = `chip ${flying ? "live" : state.status === "completed" ? "good" : "bad"}`;
    this.pause.textContent = state.paused ? "fly on" : "pause flight";
    this.pause.setAttribute("aria-pressed", String(state.paused));
    this.speed.value = String(state.speed);
    for (const part of [this.pause, this.step, this.speed]) part.hidden = !state.set;
    if (this.flown < 0) this.showKeys(state.pilots);
    if (!flying) this.end();
  }

  /// The last word on dropped records, or why something was not done.
  tell(words: string): void {
    this.words.textContent = words;
    this.words.title = words;
  }

  /// The connection has ended before the flight has.
  lose(): void {
    this.chip.textContent = "cut off";
    this.chip.className = "chip bad";
    this.tell("the flight is out of reach; load the page again, if it still flies");
  }

  /// Nothing can be set any more.
  end(): void {
    this.pause.remove();
    this.step.remove();
    this.speed.remove();
    this.now.remove();
    this.fly.remove();
    this.flown = -1;
  }

  /// Is the present looked at?
  mark(follows: boolean): void {
    this.now.classList.toggle("on", follows);
  }
}
