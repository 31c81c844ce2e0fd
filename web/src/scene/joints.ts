// joints.ts - what holds bodies together: cables that hang when they are slack, springs, rods, and hinges as knobs with
// a link to the middle of each body. All of it in two calls: one mesh of rods and one of knobs.
import { CylinderGeometry, Matrix4, MeshLambertMaterial, Quaternion, Scene, SphereGeometry, Vector3 } from "three";
import type { JointInfo } from "../data/embedded";
import type { Theme } from "../ui/theme";
import { Copies } from "./copies";
import { craftPosition, craftQuaternion, type Craft } from "./fleet";

const CABLE_PIECES = 20; // of a cable that hangs
const SPRING_TURNS = 8; // of a spring
const PIECES_PER_TURN = 10; // pieces of a turn
const UP = new Vector3(0, 1, 0);

/// Points of a joint that is long: a cable, a spring, a rod. Pure, for `from` and `to` in the world.
export function spanPoints(kind: string, length: number, from: Vector3, to: Vector3, down: Vector3, width: number): Vector3[] {
  const distance = from.distanceTo(to);
  if (kind === "cable" && distance < 0.999 * length) {
    // A parabola as long as the cable: the deeper, the longer.
    const parabola = (depth: number) =>
      Array.from({ length: CABLE_PIECES + 1 }, (_, i) => {
        const s = i / CABLE_PIECES;
        return from.clone().lerp(to, s).addScaledVector(down, 4 * depth * s * (1 - s));
      });
    let [low, high] = [0, length];
    for (let iteration = 0; iteration < 16; ++iteration) {
      const depth = (low + high) / 2;
      const points = parabola(depth);
      const curveLength = points.reduce((sum, point, i) => (i > 0 ? sum + point.distanceTo(points[i - 1]) : 0), 0);
      if (curveLength < length) low = depth;
      else high = depth;
    }
    return parabola(low);
  }
  if (kind === "spring" && distance > 1e-9) {
    const along = to.clone().sub(from).divideScalar(distance);
    const side = new Vector3(Math.abs(along.z) < 0.9 ? 0 : 1, 0, Math.abs(along.z) < 0.9 ? 1 : 0).cross(along).normalize();
    const secondSide = along.clone().cross(side);
    const count = SPRING_TURNS * PIECES_PER_TURN;
    return Array.from({ length: count + 1 }, (_, i) => {
      const angle = (2 * Math.PI * i) / PIECES_PER_TURN;
      const reach = i === 0 || i === count ? 0 : 3 * width;
      return from.clone().lerp(to, i / count).addScaledVector(side, reach * Math.cos(angle)).addScaledVector(secondSide, reach * Math.sin(angle));
    });
  }
  return [from, to];
}

interface DrawnJoint {
  info: JointInfo;
  a?: Craft; // none: the world
  b?: Craft;
  long: boolean;
  width: number; // [m] radius of its rods
  down: Vector3;
}

const SPAN_KINDS = ["cable", "spring", "distance"];

function pieceCount(joint: DrawnJoint): number {
  if (!joint.long) return 2;
  return joint.info.kind === "spring" ? SPRING_TURNS * PIECES_PER_TURN : joint.info.kind === "cable" ? CABLE_PIECES : 1;
}

export class Joints {
  private readonly drawn: DrawnJoint[] = [];
  private readonly rods?: Copies<MeshLambertMaterial>;
  private readonly balls?: Copies<MeshLambertMaterial>;
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();

  constructor(scene: Scene, crafts: Craft[]) {
    for (const run of new Set(crafts.map((craft) => craft.drone.run))) {
      if (run.info.planet_radius) continue; // there the scene's frame is not the joints'
      const craftsByIndex = new Map(crafts.filter((craft) => craft.drone.run === run).map((craft) => [craft.drone.index, craft]));
      const gravity = new Vector3(...(run.info.gravity ?? [0, 0, -1]));
      const down = gravity.lengthSq() > 0 ? gravity.normalize() : new Vector3(0, 0, -1);
      for (const info of run.info.joints ?? []) {
        const [a, b] = [craftsByIndex.get(info.a), craftsByIndex.get(info.b)];
        if ((!a && info.a >= 0) || (!b && info.b >= 0) || (!a && !b)) continue;
        const size = Math.max(a?.shape.size ?? 0, b?.shape.size ?? 0);
        this.drawn.push({ info, a, b, long: SPAN_KINDS.includes(info.kind), width: 0.018 * size, down });
      }
    }
    if (this.drawn.length === 0) return;
    const rod = new CylinderGeometry(1, 1, 1, 6).translate(0, 0.5, 0);
    this.rods = new Copies(rod, new MeshLambertMaterial(), this.drawn.reduce((sum, joint) => sum + pieceCount(joint), 0));
    this.balls = new Copies(new SphereGeometry(1, 10, 8), new MeshLambertMaterial(), 2 * this.drawn.length);
    scene.add(this.rods, this.balls);
  }

  paint(theme: Theme): void {
    for (const mesh of [this.rods, this.balls]) mesh?.material.color.set(theme.faint);
  }

  /// Where crafts are must be known by now. Nothing is drawn below `floor`: a cable lies on it.
  update(scale: number, floor: number): void {
    if (!this.rods || !this.balls) return;
    this.rods.count = this.balls.count = 0;
    for (const joint of this.drawn) {
      const from = anchor(joint.a, joint.info.anchor_a, scale);
      const to = anchor(joint.b, joint.info.anchor_b, scale);
      const width = joint.width * scale;
      if (joint.long) {
        const points = spanPoints(joint.info.kind, joint.info.length, from, to, joint.down, width);
        for (const point of points) point.z = Math.max(point.z, Math.min(floor + width, from.z, to.z));
        for (let i = 1; i < points.length; ++i) this.addRod(points[i - 1], points[i], width);
        this.addKnob(from, 1.8 * width);
        this.addKnob(to, 1.8 * width);
      } else {
        if (joint.a) this.addRod(craftPosition(joint.a), from, 1.6 * width);
        if (joint.b) this.addRod(craftPosition(joint.b), to, 1.6 * width);
        this.addKnob(to, 3 * width);
      }
    }
  }

  private addRod(from: Vector3, to: Vector3, width: number): void {
    const along = to.clone().sub(from);
    const length = along.length();
    if (!(length > 1e-9)) return;
    this.turn.setFromUnitVectors(UP, along.divideScalar(length));
    this.matrix.compose(from, this.turn, new Vector3(width, length, width));
    this.rods!.setMatrixAt(this.rods!.count++, this.matrix);
  }

  private addKnob(at: Vector3, size: number): void {
    this.turn.identity();
    this.matrix.compose(at, this.turn, new Vector3(size, size, size));
    this.balls!.setMatrixAt(this.balls!.count++, this.matrix);
  }
}

function anchor(craft: Craft | undefined, at: number[], scale: number): Vector3 {
  const point = new Vector3(at[0] ?? 0, at[1] ?? 0, at[2] ?? 0);
  return craft ? point.multiplyScalar(scale).applyQuaternion(craftQuaternion(craft)).add(craftPosition(craft)) : point;
}
