// inject_box.ts - what somebody who watches can do to a flight: a push, a gust, a fault. Each is in the log.
import type { Live } from "../data/live";
import type { Drone } from "../data/run";
import type { Drag } from "../scene/drag";
import { formatUnit, make, makeButton } from "./dom";

type Vector = [number, number, number];

const DIRECTIONS: Record<string, Vector> = { east: [1, 0, 0], north: [0, 1, 0], west: [-1, 0, 0], south: [0, -1, 0], up: [0, 0, 1], down: [0, 0, -1] };

// Faults by what somebody would call them; the keys are those of a scenario.
const FAULTS: Record<string, Record<string, unknown>> = {
  "motor stops": { kind: "motor_loss", rotor: 0 },
  "motor at half thrust": { kind: "motor_weak", rotor: 0, share: 0.5 },
  "battery at 80 %": { kind: "battery", share: 0.8 },
  "controller is silent": { kind: "command_loss", share: 1 },
  "gyro is off by 0.2 rad/s": { kind: "sensor_bias", channel: "gyro", bias: [0.2, 0, 0] },
  "position is lost": { kind: "sensor_dropout", channel: "position", share: 1 },
  "GPS is lost": { kind: "sensor_dropout", channel: "gps_position", share: 1 },
};
const RISE = 0.3; // [s] of a gust

export function weightOf(drone: Drone): number {
  const gravity = Math.hypot(...(drone.run.info.gravity ?? [0, 0, 9.80665]));
  return (drone.info.mass ?? 1) * (gravity > 0 ? gravity : 9.80665);
}

function makeNumber(value: number, max: number, words: string): HTMLInputElement {
  const input = make("input", "inject-number");
  Object.assign(input, { type: "number", value: String(value), min: "0", max: String(max), step: "any", title: words });
  input.setAttribute("aria-label", words);
  return input;
}

function makeSelect(words: string, names: string[]): HTMLSelectElement {
  const select = make("select", "");
  for (const name of names) select.append(make("option", "", name));
  select.title = words;
  select.setAttribute("aria-label", words);
  return select;
}

export class InjectBox {
  readonly element = make("details", "inject-box");
  private readonly push = { size: makeNumber(0.5, 100, "force, in weights of the drone"), direction: makeSelect("direction of the push", Object.keys(DIRECTIONS)), lasts: makeNumber(0.3, 1000, "seconds of the push") };
  private readonly gust = { size: makeNumber(6, 200, "speed of the gust, m/s"), direction: makeSelect("direction of the gust", Object.keys(DIRECTIONS)), lasts: makeNumber(1, 1000, "seconds the gust stays") };
  private readonly fault = { kind: makeSelect("what fails", Object.keys(FAULTS)), rotor: makeSelect("which rotor", []), lasts: makeNumber(0, 100000, "seconds of the fault; 0: for ever") };
  private readonly pushButton: HTMLButtonElement;
  private readonly faultButton: HTMLButtonElement;
  private readonly drags = make("input");
  live?: Live;

  constructor(private drone: Drone, private readonly drag?: Drag) {
    this.pushButton = makeButton("tool text inject-push", "push", "push the chosen drone", () => this.injectPush());
    const gustButton = makeButton("tool text inject-gust", "gust", "a gust of all air", () => this.injectGust());
    this.faultButton = makeButton("tool text inject-fault", "break", "a fault of the chosen drone", () => this.injectFault());
    this.drags.type = "checkbox";
    this.drags.className = "inject-drags";
    this.drags.addEventListener("change", () => {
      if (this.drag) this.drag.always = this.drags.checked;
      this.drags.blur();
    });
    const row = (...parts: (Node | string)[]) => make("div", "inject-row", ...parts);
    this.element.append(
      make("summary", "", "disturb"),
      row(this.pushButton, this.push.size, "× weight", this.push.direction, this.push.lasts, "s"),
      row(gustButton, this.gust.size, "m/s", this.gust.direction, this.gust.lasts, "s"),
      row(this.faultButton, this.fault.kind, this.fault.rotor, this.fault.lasts, "s"),
      make("label", "inject-row", this.drags, make("span", "", "drag in the scene, or Shift and drag: from a drone a push, elsewhere a gust")),
    );
    this.fault.kind.addEventListener("change", () => this.showRotors());
    if (drag) {
      drag.onPush = (pushed, share) => this.inject("push", { drone: pushed.name, force: share.map((part) => part * weightOf(pushed)), duration: this.seconds(this.push.lasts, 0.3) });
      drag.onGust = (velocity) => this.inject("gust", { velocity, rise: RISE, hold: this.seconds(this.gust.lasts, 1) });
      drag.words = (of, amount) => (of ? formatUnit(amount * weightOf(of), "N") : `gust of ${formatUnit(amount, "m/s")}`);
    }
    this.choose(drone);
  }

  /// Another drone is looked at.
  choose(drone: Drone): void {
    this.drone = drone;
    this.pushButton.textContent = `push ${drone.name}`;
    this.faultButton.textContent = `break ${drone.name}`;
    const rotors = drone.info.rotors?.length ?? 0;
    this.faultButton.disabled = drone.info.vehicle === undefined && rotors === 0;
    this.fault.rotor.replaceChildren(...Array.from({ length: rotors }, (_, i) => make("option", "", `rotor ${i}`)));
    this.showRotors();
  }

  private showRotors(): void {
    this.fault.rotor.hidden = !("rotor" in FAULTS[this.fault.kind.value]) || this.fault.rotor.options.length === 0;
  }

  private seconds(input: HTMLInputElement, fallback: number): number {
    const value = Number(input.value);
    return value > 0 ? value : fallback;
  }

  private inject(kind: string, keys: Record<string, unknown>): void {
    this.live?.inject(kind, keys);
  }

  private injectPush(): void {
    const force = Number(this.push.size.value) * weightOf(this.drone);
    this.inject("push", { drone: this.drone.name, force: DIRECTIONS[this.push.direction.value].map((part) => part * force), duration: this.seconds(this.push.lasts, 0.3) });
  }

  private injectGust(): void {
    const speed = Number(this.gust.size.value);
    this.inject("gust", { velocity: DIRECTIONS[this.gust.direction.value].map((part) => part * speed), rise: RISE, hold: this.seconds(this.gust.lasts, 1) });
  }

  private injectFault(): void {
    const keys: Record<string, unknown> = { drone: this.drone.name, ...FAULTS[this.fault.kind.value] };
    if ("rotor" in keys) keys.rotor = String(Math.max(0, this.fault.rotor.selectedIndex));
    const lasts = Number(this.fault.lasts.value);
    if (lasts > 0) keys.duration = lasts;
    this.inject("fault", keys);
  }

  /// Nothing can be done any more.
  end(): void {
    this.element.remove();
    if (this.drag) this.drag.enabled = false;
  }
}
