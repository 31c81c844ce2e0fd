// layers.ts - switches of what the scene shows: trail, contacts, rays and arrows.
import type { View } from "../scene/view";
import { formatUnit, make } from "./dom";
import { theme } from "./theme";
import type { ArrowKind } from "../scene/arrows";

const TITLES = { motion: "", force: "forces", torque: "torques" };
const GAINS = [1, 10, 100, 1000];

export class Layers {
  readonly element = make("div", "layers");
  private readonly values = new Map<string, HTMLElement>();

  constructor(private readonly view: View, private readonly changed: () => void) {
    this.element.append(this.makeSwitch("trail", "", () => view.trails, (on) => (view.trails = on)));
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

  private makeGain(): HTMLElement {
    const select = make("select");
    for (const gain of GAINS) {
      const option = make("option", "", gain === 1 ? "weight = 2 bodies" : `${gain}× longer`);
      option.value = String(gain);
      select.append(option);
    }
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
      element.textContent = vector ? formatUnit(Math.hypot(...vector), kind.unit) : "";
    }
  }
}
