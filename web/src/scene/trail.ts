// trail.ts - the ways drones have come: a broad line for the chosen one, the last seconds of the others as fine ones, all
// of a run in one call.
import { BufferAttribute, BufferGeometry, type Color, DynamicDrawUsage, LineBasicMaterial, LineSegments, Scene } from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import type { Pose } from "../data/motion";
import { indexAt } from "../data/table";
import type { Theme } from "../ui/theme";
import { BroadLine } from "./broad_line";
import type { Craft } from "./fleet";
import { colorOfCraft, colorOfShare } from "./palette";

const BROAD_MAX = 2000; // points of a broad line
const FINE_MAX = 6000; // pieces of all fine lines
const WIDTH = 2.5; // [pixels]
const FINE_SECONDS = 8; // of the fine lines

/// What the colour of the broad line says.
export type TrailColor = "drone" | "speed" | "error";

/// Speed [m/s], or distance from where it should be [m], at each record; undefined where the log does not say.
export function valuesAlong(craft: Craft, quantity: TrailColor): Float64Array | undefined {
  const { drone, motion } = craft;
  const truth = drone.streams.get("truth");
  if (quantity === "speed") {
    const v = truth?.vector("velocity", "xyz");
    return v && v[0].length === motion.time.length ? v[0].map((x, i) => Math.hypot(x, v[1][i], v[2][i])) : undefined;
  }
  const reference = drone.streams.get("reference");
  const desired = reference?.vector("position", "xyz");
  if (quantity !== "error" || !reference || !desired || motion.time.length === 0) return undefined;
  const [x, y, z] = motion.position;
  return motion.time.map((t, i) => {
    const k = indexAt(reference.time, t);
    return Math.hypot(x[i] - desired[0][k], y[i] - desired[1][k], z[i] - desired[2][k]);
  });
}

/// The trails of one run.
export class Trails {
  private readonly pieces: number; // of each fine line
  private readonly points: BufferAttribute;
  private readonly fine: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly broads = new Map<Craft, BroadTrail>(); // made when a drone is first chosen
  private readonly broadMaterial = new LineMaterial({ linewidth: WIDTH, vertexColors: true });
  private readonly colors: BufferAttribute;
  private color: TrailColor = "drone";
  private theme?: Theme;

  constructor(private readonly scene: Scene, private readonly crafts: Craft[]) {
    this.pieces = Math.max(16, Math.min(400, Math.floor(FINE_MAX / crafts.length)));
    this.points = new BufferAttribute(new Float32Array(6 * this.pieces * crafts.length), 3).setUsage(DynamicDrawUsage);
    this.colors = new BufferAttribute(new Float32Array(6 * this.pieces * crafts.length), 3).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry().setAttribute("position", this.points).setAttribute("color", this.colors);
    this.fine = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
    this.fine.frustumCulled = false;
    scene.add(this.fine);
  }

  /// Colour the broad lines by this.
  setColor(color: TrailColor): void {
    this.color = color;
    for (const [craft, broad] of this.broads) if (this.theme) broad.paint(craft, color, this.theme);
  }

  /// There are more records: the broad lines are made anew when they are next seen.
  grow(): void {
    for (const broad of this.broads.values()) broad.remove(this.scene);
    this.broads.clear();
  }

  paint(theme: Theme): void {
    this.theme = theme;
    for (const [craft, broad] of this.broads) broad.paint(craft, this.color, theme);
  }

  resize(width: number, height: number): void {
    this.broadMaterial.resolution.set(width, height);
  }

  /// Up to `time`; the drone called `chosen` gets the broad line.
  update(time: number, chosen: string, shown: boolean): void {
    let used = 0;
    for (const craft of this.crafts) {
      const broad = craft.drone.name === chosen;
      if (broad && shown) this.broadOf(craft).update(craft.motion.at(time), true);
      else this.broads.get(craft)?.update(0, false);
      if (shown && !broad) used = this.addFine(craft, time, used);
    }
    this.fine.visible = used > 0;
    this.fine.geometry.setDrawRange(0, used);
    for (const values of [this.points, this.colors]) {
      values.clearUpdateRanges();
      values.addUpdateRange(0, 3 * used);
      values.needsUpdate = used > 0;
    }
  }

  private broadOf(craft: Craft): BroadTrail {
    let broad = this.broads.get(craft);
    if (!broad) {
      broad = new BroadTrail(this.scene, craft, this.broadMaterial);
      this.broads.set(craft, broad);
      if (this.theme) broad.paint(craft, this.color, this.theme);
    }
    return broad;
  }

  // Pieces from record to record, and the last one to where the craft is. Returns how many points are used now.
  private addFine(craft: Craft, time: number, used: number): number {
    const { motion, pose } = craft;
    const [x, y, z] = motion.position;
    const last = motion.at(time);
    const first = indexAt(motion.time, time - FINE_SECONDS);
    const stride = Math.max(1, Math.ceil((last - first) / (this.pieces - 1)));
    let index = used;
    const { r, g, b } = craft.color;
    const [px, py, pz] = pose.position;
    for (let i = first - (first % stride); i <= last; i += stride) {
      const next = i + stride;
      this.colors.setXYZ(index, r, g, b).setXYZ(index + 1, r, g, b);
      this.points.setXYZ(index++, x[i], y[i], z[i]);
      if (next <= last) this.points.setXYZ(index++, x[next], y[next], z[next]);
      else this.points.setXYZ(index++, px, py, pz);
    }
    return index;
  }
}

class BroadTrail {
  private readonly line: BroadLine;
  private readonly stride: number; // records from one point to the next
  private readonly parts: number; // points from one record to the next, where records are few
  private readonly records: number;

  constructor(scene: Scene, craft: Craft, material: LineMaterial) {
    const { motion } = craft;
    const records = motion.time.length;
    this.stride = Math.max(1, Math.ceil(records / BROAD_MAX));
    this.parts = this.stride > 1 ? 1 : Math.max(1, Math.min(8, Math.floor(BROAD_MAX / records)));
    const points: number[] = [];
    const pose: Pose = { position: [0, 0, 0], attitude: [1, 0, 0, 0] };
    for (let i = 0; i < records; i += this.stride) {
      const [recordTime, next] = [motion.time[i], motion.time[Math.min(i + 1, records - 1)]];
      for (let k = 0; k < this.parts; ++k) {
        motion.pose(recordTime + ((next - recordTime) * k) / this.parts, pose);
        points.push(...pose.position);
      }
    }
    this.line = new BroadLine(points, material);
    this.records = records;
    scene.add(this.line);
  }

  /// One colour for all of it, or the values along it from the smallest to the largest.
  paint(craft: Craft, quantity: TrailColor, theme: Theme): void {
    if (this.records < 2) return;
    const values = valuesAlong(craft, quantity);
    const plain = colorOfCraft(craft.drone, theme);
    const [min, max] = values ? rangeOf(values) : [0, 1];
    const colors: Color[] = [];
    for (let i = 0; i < this.records; i += this.stride) {
      const color = values ? colorOfShare((values[i] - min) / (max - min)) : plain;
      for (let k = 0; k < this.parts; ++k) colors.push(color);
    }
    this.line.setColors(colors);
  }

  remove(scene: Scene): void {
    scene.remove(this.line);
    this.line.geometry.dispose();
  }

  /// `record` is the last one that has been passed.
  update(record: number, shown: boolean): void {
    this.line.show(shown ? Math.floor(Math.min(record, this.records - 1) / this.stride) * this.parts : 0);
  }
}

/// Smallest and largest of those that are finite; never the same.
export function rangeOf(values: Float64Array): [number, number] {
  let [min, max] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max && value < Infinity) max = value;
  }
  return max > min ? [min, max] : [min, min + 1];
}
