// labels.ts - names of drones beside them, as text over the picture; of many drones those that are nearest.
import { PerspectiveCamera, Vector3 } from "three";
import { make } from "../ui/dom";
import type { Craft } from "./fleet";

const SHOWN_MAX = 120;
const FEW = 12; // drones that have their names from the start

export class Labels {
  shown: boolean;
  readonly element = make("div", "labels");
  private readonly spans: HTMLSpanElement[] = [];
  private readonly point = new Vector3();

  constructor(crafts: Craft[]) {
    const names = new Set(crafts.map((craft) => craft.drone.name)).size; // of two runs a drone has one
    this.shown = names > 1 && names <= FEW;
  }

  update(crafts: Craft[], chosen: Craft, camera: PerspectiveCamera, width: number, height: number): void {
    let used = 0;
    if (this.shown) {
      const near = crafts.length > SHOWN_MAX ? nearest(crafts, camera) : crafts;
      for (const craft of near) used = this.put(craft, craft === chosen, camera, width, height, used);
    }
    for (let i = used; i < this.spans.length; ++i) this.spans[i].style.display = "none";
  }

  private put(craft: Craft, chosen: boolean, camera: PerspectiveCamera, width: number, height: number, used: number): number {
    const { position } = craft.pose;
    const p = this.point.set(position[0], position[1], position[2]).project(camera);
    if (!(p.z > -1 && p.z < 1 && Math.abs(p.x) < 1 && Math.abs(p.y) < 1)) return used;
    let span = this.spans[used];
    if (!span) {
      span = make("span", "label");
      this.spans.push(span);
      this.element.append(span);
    }
    if (span.textContent !== craft.drone.name) span.textContent = craft.drone.name;
    span.classList.toggle("on", chosen);
    span.style.display = "";
    span.style.transform = `translate(${(((p.x + 1) / 2) * width + 10).toFixed(1)}px, ${(((1 - p.y) / 2) * height - 18).toFixed(1)}px)`;
    return used + 1;
  }
}

function nearest(crafts: Craft[], camera: PerspectiveCamera): Craft[] {
  const { x, y, z } = camera.position;
  const far = (craft: Craft) => Math.hypot(craft.pose.position[0] - x, craft.pose.position[1] - y, craft.pose.position[2] - z);
  return [...crafts].sort((a, b) => far(a) - far(b)).slice(0, SHOWN_MAX);
}
