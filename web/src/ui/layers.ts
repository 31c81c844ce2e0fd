// layers.ts - switches of what the scene shows: trails, names, estimate, wind, contacts, rays and arrows.
import type { View } from "../scene/view";
import { formatUnit, make, write } from "./dom";
import { RAMP_CSS } from "../scene/palette";
import { rangeOf, valuesAlong, type TrailColor } from "../scene/trail";
import { theme } from "./theme";
import type { ArrowKind } from "../scene/arrows";

const TITLES = { motion: "", force: "forces", torque: "torques" };
const GAINS = [1, 10, 100, 1000];

export class Layers {
  readonly element = make("div", "layers");
  private readonly values = new Map<string, HTMLElement>();
  private readonly spread = make("div", "spread");
  private readonly low = make("span", "value");
  private readonly high = make("span", "value");
  private trailColor: TrailColor = "drone";

  constructor(private readonly view: View, private readonly changed: () => void) {
    this.element.append(this.makeSwitch("trail", "", () => view.trails, (on) => (view.trails = on)));
    this.element.append(this.makeTrailColor());
    this.element.append(this.makeSwitch("whole path", "", () => view.paths.visible, (on) => (view.paths.visible = on)));
    if (view.fleet.crafts.length > 1) this.element.append(this.makeSwitch("names", "", () => view.labels.shown, (on) => (view.labels.shown = on)));
    if (view.enlarged > 1) this.element.append(this.makeSwitch(`bodies ${view.enlarged}× larger`, "", () => view.larger, (on) => (view.larger = on)));
    if (view.estimates) this.element.append(this.makeSwitch("estimate, 3 sigma", "--estimate", () => view.ghost.shown, (on) => (view.ghost.shown = on)));
    if (view.wind.any) this.element.append(this.makeSwitch("wind field", "--line-5", () => view.wind.shown, (on) => (view.wind.shown = on)));
    if (view.touched) this.element.append(this.makeSwitch("contacts", "--line-3", () => view.contacts, (on) => (view.contacts = on)));
    if (view.looks) this.element.append(this.makeSwitch("rays", "--line-2", () => view.rays, (on) => (view.rays = on)));
    for (const group of ["motion", "force", "torque"] as const) {
      const kinds = view.arrows.kinds.filter((kind) => kind.group === group);
      if (kinds.length === 0) continue;
      if (TITLES[group]) this.element.append(make("h4", "", TITLES[group]));
      for (const kind of kinds) this.element.append(this.makeArrowSwitch(kind));
    }
    if (view.arrows.kinds.some((kind) => kind.group !== "motion")) this.element.append(this.makeGain());
  }

  private makeSwitch(label: string, color: string, get: () => boolean, set: (on: boolean) => void, value?: HTMLElement): HTMLLabelElement {
    const box = make("input");
    box.type = "checkbox";
    box.checked = get();
    box.addEventListener("change", () => {
      set(box.checked);
      this.changed();
      box.blur();
    });
    const swatch = make("span", "swatch solid");
    if (color) swatch.style.setProperty("--line", `var(${color})`);
    return make("label", "layer", box, color ? swatch : undefined, make("span", "name", label), value);
  }

  private makeArrowSwitch(kind: ArrowKind): HTMLLabelElement {
    const { shown } = this.view.arrows;
    const value = make("span", "value");
    this.values.set(kind.id, value);
    const set = (on: boolean) => (on ? shown.add(kind.id) : shown.delete(kind.id), undefined);
    const label = this.makeSwitch(kind.label, `--line-${kind.color % theme().lines.length}`, () => shown.has(kind.id), set, value);
    label.dataset.layer = kind.id;
    return label;
  }

  // What the colour of the trail says, from the smallest to the largest value.
  private makeTrailColor(): HTMLElement {
    const select = make("select");
    for (const quantity of ["drone", "speed", "error"] as TrailColor[]) {
      if (quantity !== "drone" && !this.view.fleet.crafts.some((craft) => valuesAlong(craft, quantity))) continue;
      const option = make("option", "", quantity === "drone" ? "plain" : `by ${quantity}`);
      option.value = quantity;
      select.append(option);
    }
    this.trailColor = this.view.colorOfTrails;
    select.value = this.trailColor;
    select.setAttribute("aria-label", "colour of the trail");
    select.addEventListener("change", () => {
      this.trailColor = select.value as TrailColor;
      this.view.setTrailColor(this.trailColor);
      this.showRange();
      this.changed();
      select.blur();
    });
    this.spread.style.display = "none";
    const bar = make("span", "ramp");
    bar.style.background = RAMP_CSS;
    this.spread.append(this.low, bar, this.high);
    this.showRange();
    return make("div", "trail-color", make("label", "layer gain", make("span", "name", "trail colour"), select), this.spread);
  }

  private showRange(): void {
    const values = valuesAlong(this.view.craft, this.trailColor);
    this.spread.style.display = values ? "" : "none";
    if (!values) return;
    const unit = this.trailColor === "speed" ? "m/s" : "m";
    [this.low.textContent, this.high.textContent] = rangeOf(values).map((value) => formatUnit(value, unit));
  }

  /// Another drone is looked at.
  choose(): void {
    this.showRange();
  }

  private makeGain(): HTMLElement {
    const select = make("select");
    for (const gain of GAINS) {
      const option = make("option", "", gain === 1 ? "weight = 2 bodies" : `${gain}× longer`);
      option.value = String(gain);
      select.append(option);
    }
    select.value = String(this.view.arrows.gain);
    select.setAttribute("aria-label", "length of force and torque arrows");
    select.addEventListener("change", () => {
      this.view.arrows.gain = Number(select.value);
      this.changed();
      select.blur();
    });
    return make("label", "layer gain", make("span", "name", "length"), select);
  }

  /// All forces on or off: the key f.
  toggleForces(): void {
    const { shown, kinds } = this.view.arrows;
    const forces = kinds.filter((kind) => kind.group === "force");
    const on = !forces.some((kind) => shown.has(kind.id));
    for (const kind of forces) {
      if (on) shown.add(kind.id);
      else shown.delete(kind.id);
      const box = this.element.querySelector<HTMLInputElement>(`[data-layer="${CSS.escape(kind.id)}"] input`);
      if (box) box.checked = on;
    }
    this.changed();
  }

  update(time: number): void {
    for (const kind of this.view.arrows.kinds) {
      const element = this.values.get(kind.id);
      if (!element) continue;
      const vector = this.view.arrows.shown.has(kind.id) && kind.unit ? kind.vector(this.view.drone, time) : undefined;
      write(element, vector ? formatUnit(Math.hypot(...vector), kind.unit) : "");
    }
  }
}
