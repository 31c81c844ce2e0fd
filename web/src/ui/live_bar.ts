// live_bar.ts - a flight that is under way: pause, step and speed of the flight itself, and back to now.
import type { Live, LiveState } from "../data/live";
import { make, makeButton } from "./dom";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 0]; // 0: as fast as it goes

export class LiveBar {
  readonly element = make("div", "live-bar");
  readonly chip = make("span", "chip live", "live");
  private readonly pause: HTMLButtonElement;
  private readonly step: HTMLButtonElement;
  private readonly speed = make("select", "live-speed");
  private readonly now: HTMLButtonElement;
  private readonly words = make("span", "live-words");
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
    this.element.append(this.pause, this.step, this.speed, this.now, this.words);
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
    if (!flying) this.end();
  }

  /// The last word on dropped records, or why something was not done.
  tell(words: string): void {
    this.words.textContent = words;
    this.words.title = words;
  }

  /// Nothing can be set any more.
  end(): void {
    this.pause.remove();
    this.step.remove();
    this.speed.remove();
    this.now.remove();
  }

  /// Is the present looked at?
  mark(follows: boolean): void {
    this.now.classList.toggle("on", follows);
  }
}
