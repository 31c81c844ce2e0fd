// trail.ts - the way a drone has come: a broad line for the chosen one, the last seconds as a fine one for the others.
import { BufferAttribute, BufferGeometry, Color, Line, LineBasicMaterial, Scene } from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";

const POINTS_MAX = 3000; // per drone
const WIDTH = 2.5; // [pixels]
const SECONDS = 8; // of the fine line

export class Trail {
  private readonly points: Float32Array;
  private readonly fine: Line<BufferGeometry, LineBasicMaterial>;
  private broad?: Line2; // made when its drone is first chosen
  private readonly broadMaterial = new LineMaterial({ linewidth: WIDTH });
  private readonly stride: number;
  private readonly count: number;

  constructor(private readonly scene: Scene, private readonly craft: Craft) {
    const { time, position } = craft.motion;
    this.stride = Math.max(1, Math.ceil(time.length / POINTS_MAX));
    this.count = Math.ceil(time.length / this.stride);
    this.points = new Float32Array(3 * this.count);
    for (let i = 0; i < this.count; ++i) {
      for (let k = 0; k < 3; ++k) this.points[3 * i + k] = position[k][i * this.stride];
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(this.points, 3));
    this.fine = new Line(geometry, new LineBasicMaterial());
    this.fine.frustumCulled = false;
    scene.add(this.fine);
  }

  paint(theme: Theme): void {
    const color = new Color(theme.lines[this.craft.drone.run.index === 0 ? 0 : 2]);
    this.fine.material.color = color;
    this.broadMaterial.color = color;
  }

  resize(width: number, height: number): void {
    this.broadMaterial.resolution.set(width, height);
  }

  /// `record` is the last one that has been passed.
  update(record: number, chosen: boolean, shown: boolean): void {
    const last = Math.floor(record / this.stride) + 1;
    const broad = shown && chosen && last > 1;
    this.fine.visible = shown && !broad;
    if (broad && !this.broad) {
      this.broad = new Line2(new LineGeometry(), this.broadMaterial);
      (this.broad.geometry as LineGeometry).setPositions(this.points);
      this.broad.frustumCulled = false;
      this.scene.add(this.broad);
    }
    if (this.broad) {
      this.broad.visible = broad;
      (this.broad.geometry as LineGeometry).instanceCount = last - 1;
    }
    const step = this.count > 1 ? this.craft.motion.time[this.stride] - this.craft.motion.time[0] : 1;
    const first = Math.max(0, last - Math.ceil(SECONDS / Math.max(step, 1e-9)));
    this.fine.geometry.setDrawRange(first, last - first);
  }
}
