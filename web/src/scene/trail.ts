// trail.ts - the way a drone has come: the whole of it faintly for the chosen one, the last seconds for each.
import { BufferAttribute, BufferGeometry, Color, Line, LineBasicMaterial, Scene } from "three";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";

const POINTS_MAX = 6000; // per drone

export class Trail {
  private readonly recent: Line<BufferGeometry, LineBasicMaterial>;
  private readonly whole: Line<BufferGeometry, LineBasicMaterial>;
  private readonly stride: number;
  private readonly count: number;

  constructor(scene: Scene, private readonly craft: Craft) {
    const { time, position } = craft.motion;
    this.stride = Math.max(1, Math.ceil(time.length / POINTS_MAX));
    this.count = Math.ceil(time.length / this.stride);
    const points = new Float32Array(3 * this.count);
    for (let i = 0; i < this.count; ++i) {
      for (let k = 0; k < 3; ++k) points[3 * i + k] = position[k][i * this.stride];
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(points, 3));
    const second = new BufferGeometry();
    second.setAttribute("position", geometry.getAttribute("position"));
    this.recent = new Line(geometry, new LineBasicMaterial());
    this.whole = new Line(second, new LineBasicMaterial({ transparent: true, opacity: 0.35 }));
    this.recent.frustumCulled = this.whole.frustumCulled = false;
    scene.add(this.recent, this.whole);
  }

  paint(theme: Theme): void {
    const color = new Color(theme.lines[this.craft.drone.run.index === 0 ? 0 : 2]);
    this.recent.material.color = color;
    this.whole.material.color = color;
  }

  update(record: number, seconds: number, chosen: boolean, shown: boolean): void {
    const last = Math.floor(record / this.stride) + 1;
    const step = this.count > 1 ? this.craft.motion.time[this.stride] - this.craft.motion.time[0] : 1;
    const first = Math.max(0, last - Math.ceil(seconds / Math.max(step, 1e-9)));
    this.recent.visible = this.whole.visible = shown;
    this.recent.geometry.setDrawRange(first, last - first);
    this.whole.visible = shown && chosen;
    this.whole.geometry.setDrawRange(0, last);
  }
}
