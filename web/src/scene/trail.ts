// trail.ts - the ways drones have come: a broad line for the chosen one, the last seconds of the others as fine ones, all
// of a run in one call.
import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, LineBasicMaterial, LineSegments, Scene } from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import type { Pose } from "../data/motion";
import { indexAt } from "../data/table";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";

const BROAD_MAX = 2000; // points of a broad line
const FINE_MAX = 6000; // pieces of all fine lines
const WIDTH = 2.5; // [pixels]
const SECONDS = 8; // of the fine lines

/// The trails of one run.
export class Trails {
  private readonly pieces: number; // of each fine line
  private readonly points: BufferAttribute;
  private readonly fine: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly broads = new Map<Craft, Broad>(); // made when a drone is first chosen
  private readonly broadMaterial = new LineMaterial({ linewidth: WIDTH });

  constructor(private readonly scene: Scene, private readonly crafts: Craft[]) {
    this.pieces = Math.max(16, Math.min(400, Math.floor(FINE_MAX / crafts.length)));
    this.points = new BufferAttribute(new Float32Array(6 * this.pieces * crafts.length), 3).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry().setAttribute("position", this.points);
    this.fine = new LineSegments(geometry, new LineBasicMaterial());
    this.fine.frustumCulled = false;
    scene.add(this.fine);
  }

  paint(theme: Theme): void {
    const color = new Color(theme.lines[this.crafts[0].drone.run.index === 0 ? 0 : 2]);
    this.fine.material.color = color;
    this.broadMaterial.color = color;
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
    this.points.needsUpdate = used > 0;
  }

  private broadOf(craft: Craft): Broad {
    let broad = this.broads.get(craft);
    if (!broad) {
      broad = new Broad(this.scene, craft, this.broadMaterial);
      this.broads.set(craft, broad);
    }
    return broad;
  }

  // Pieces from record to record, and the last one to where the craft is. Returns how many points are used now.
  private addFine(craft: Craft, time: number, used: number): number {
    const { motion, pose } = craft;
    const [x, y, z] = motion.position;
    const last = motion.at(time);
    const first = indexAt(motion.time, time - SECONDS);
    const stride = Math.max(1, Math.ceil((last - first) / (this.pieces - 1)));
    let at = used;
    for (let i = first - (first % stride); i <= last; i += stride) {
      const next = i + stride;
      this.points.setXYZ(at++, x[i], y[i], z[i]);
      if (next <= last) this.points.setXYZ(at++, x[next], y[next], z[next]);
      else this.points.setXYZ(at++, ...pose.position);
    }
    return at;
  }
}

class Broad {
  private readonly line: Line2;
  private readonly stride: number; // records from one point to the next
  private readonly parts: number; // points from one record to the next, where records are few

  constructor(scene: Scene, craft: Craft, material: LineMaterial) {
    const { motion } = craft;
    const records = motion.time.length;
    this.stride = Math.max(1, Math.ceil(records / BROAD_MAX));
    this.parts = this.stride > 1 ? 1 : Math.max(1, Math.min(8, Math.floor(BROAD_MAX / records)));
    const points: number[] = [];
    const pose: Pose = { position: [0, 0, 0], attitude: [1, 0, 0, 0] };
    for (let i = 0; i < records; i += this.stride) {
      const [now, next] = [motion.time[i], motion.time[Math.min(i + 1, records - 1)]];
      for (let k = 0; k < this.parts; ++k) {
        motion.pose(now + ((next - now) * k) / this.parts, pose);
        points.push(...pose.position);
      }
    }
    this.line = new Line2(new LineGeometry(), material);
    if (records > 1) this.line.geometry.setPositions(points);
    this.line.frustumCulled = false;
    scene.add(this.line);
  }

  /// `record` is the last one that has been passed.
  update(record: number, shown: boolean): void {
    const pieces = Math.floor(record / this.stride) * this.parts;
    this.line.visible = shown && pieces > 0;
    this.line.geometry.instanceCount = pieces;
  }
}
