// labels.ts - names of drones beside them, as text over the picture; of many drones those that are nearest, or that of the chosen one.
// One that would cover another stands below its drone, and where there is no room either, it is left out.
import { PerspectiveCamera, Vector3 } from "three";
import { make } from "../ui/dom";
import type { Craft } from "./fleet";

const SHOWN_MAX = 120;
const FEW_DRONES = 12; // drones that have their names from the start
const OFFSET_MIN = 10; // [px] at least, of a name from the middle of its drone
const SIZE_SHARE = 0.6; // of the drone's size in the picture, if that is more
const VERTICAL_OFFSETS = [-18, 2, 22]; // [px] of its upper edge from it: above, beside, below

export class Labels {
  shown: boolean;
  readonly element = make("div", "labels");
  private readonly spans: HTMLSpanElement[] = [];
  private readonly places: string[] = []; // of each, as it was set
  private readonly many: boolean; // so many that names are shown on demand
  private readonly widths = new Map<string, number>(); // [px] by text, as measured
  private readonly taken: number[][] = []; // of this picture: left, top, right, bottom
  private readonly point = new Vector3();
  private tall = 0; // [px] of a line
  private perMetre = 0; // [px] of a drone's metre, as it is drawn, at a distance of one metre

  constructor(crafts: Craft[]) {
    const names = new Set(crafts.map((craft) => craft.drone.name)).size; // of two runs a drone has one
    this.many = names > FEW_DRONES;
    this.shown = names > 1 && !this.many;
  }

  /// Put names where `camera` sees the drones, which are drawn `scale` times their size.
  update(crafts: Craft[], chosen: Craft, camera: PerspectiveCamera, scale: number, width: number, height: number): void {
    let used = 0;
    this.perMetre = (scale * height) / (2 * Math.tan((camera.fov * Math.PI) / 360));
    if (!this.shown && this.many) {
      this.taken.length = 0;
      used = this.put(chosen, true, camera, width, height, used);
    } else if (this.shown) {
      const near = crafts.length > SHOWN_MAX ? nearest(crafts, camera) : crafts;
      this.taken.length = 0;
      used = this.put(chosen, true, camera, width, height, used);
      for (const craft of [...near].sort(higher)) if (craft !== chosen) used = this.put(craft, false, camera, width, height, used);
    }
    for (let i = used; i < this.spans.length; ++i) this.spans[i].style.display = "none";
  }

  private put(craft: Craft, chosen: boolean, camera: PerspectiveCamera, width: number, height: number, used: number): number {
    const { position } = craft.pose;
    const p = this.point.set(position[0], position[1], position[2]);
    const sideways = (SIZE_SHARE * craft.shape.size * this.perMetre) / Math.max(camera.position.distanceTo(p), 1e-6);
    p.project(camera);
    if (!(p.z > -1 && p.z < 1 && Math.abs(p.x) < 1 && Math.abs(p.y) < 1)) return used;
    const left = ((p.x + 1) / 2) * width + Math.max(OFFSET_MIN, sideways);
    const screenY = ((1 - p.y) / 2) * height;
    let span = this.spans[used];
    if (!span) {
      span = make("span", "label");
      this.spans.push(span);
      this.element.append(span);
    }
    const { name } = craft.drone;
    if (span.textContent !== name) span.textContent = name;
    span.classList.toggle("on", chosen);
    const top = this.room(left, screenY, this.measure(span, chosen));
    if (top === undefined) return used;
    const place = `translate(${Math.round(left)}px, ${Math.round(top)}px)`; // text between pixels is blurred
    if (place !== this.places[used]) span.style.transform = this.places[used] = place;
    return used + 1;
  }

  // A text is measured once: to ask for its size costs a layout of the page.
  private measure(span: HTMLSpanElement, bold: boolean): [number, number] {
    span.style.display = "";
    const key = `${bold ? "*" : ""}${span.textContent}`;
    let width = this.widths.get(key);
    if (width === undefined) this.widths.set(key, (width = span.offsetWidth));
    return [width, (this.tall ||= span.offsetHeight)];
  }

  // The upper edge of a name where it covers no other.
  private room(left: number, screenY: number, [wide, tall]: [number, number]): number | undefined {
    for (const offset of VERTICAL_OFFSETS) {
      const [top, right, bottom] = [screenY + offset, left + wide, screenY + offset + tall];
      if (this.taken.some(([l, t, r, b]) => left < r && right > l && top < b && bottom > t)) continue;
      this.taken.push([left, top, right, bottom]);
      return top;
    }
    return undefined;
  }
}

// Of what is stacked the uppermost has its name on top.
function higher(a: Craft, b: Craft): number {
  return b.pose.position[2] - a.pose.position[2];
}

function nearest(crafts: Craft[], camera: PerspectiveCamera): Craft[] {
  const { x, y, z } = camera.position;
  const distanceTo = (craft: Craft) => Math.hypot(craft.pose.position[0] - x, craft.pose.position[1] - y, craft.pose.position[2] - z);
  return [...crafts].sort((a, b) => distanceTo(a) - distanceTo(b)).slice(0, SHOWN_MAX);
}
