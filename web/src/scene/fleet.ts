// fleet.ts - all drones, drawn in a few calls: one mesh of copies per kind of part, vehicle and degree of detail.
import { Color, DoubleSide, Frustum, Matrix4, MeshBasicMaterial, MeshLambertMaterial, Object3D, PerspectiveCamera, Quaternion, Scene, Sphere, Vector3 } from "three";
import type { Drone } from "../data/run";
import { Motion, type Origin, type Pose } from "../data/motion";
import type { Theme } from "../ui/theme";
import { Copies } from "./copies";
import { SHADOW_LEAN, type GroundPoint } from "./obstacles";
import { colorOfCraft } from "./palette";
import { paint, shapeOf, type Detail, type VehicleShape } from "./vehicle";

export interface Craft {
  drone: Drone;
  motion: Motion;
  shape: VehicleShape;
  pose: Pose;
  color: Color; // set when the scene is painted
}

/// One degree of detail: its meshes, as many of their instances as are in sight.
interface Level {
  shape: VehicleShape;
  room: number; // crafts
  used: number;
  body: Copies<MeshLambertMaterial>;
  shadow: Copies<MeshBasicMaterial>;
  discs?: Copies<MeshBasicMaterial>;
  blades?: Copies<MeshLambertMaterial>;
}

interface Group {
  crafts: Craft[];
  levels: Level[]; // the finest first
}

/// How fast rotors are seen to turn: 1/40 of their speed, so that the eye (and the screen) can follow.
const SPIN_SCALE = 1 / 40;
const FINE_MAX = 12; // drones that are all drawn in full detail
const NEAR_MAX = 4; // of more, so many: the chosen one and others that are near
const COARSE_MAX = 160; // drones beyond which those that are not near are of the simplest shape
const NEAR_RATIO = 0.05; // size over distance from which a drone is near
const SHADOW_LIFT = 2e-3; // [m] of a shadow above what it falls on

export class Fleet {
  readonly crafts: Craft[] = [];
  bare = false; // many drones have no discs, which cost most of a picture where no graphics card helps
  private readonly groups: Group[] = [];
  private readonly matrix = new Matrix4();
  private readonly inner = new Matrix4();
  private readonly place = new Object3D();
  private readonly flat = new Matrix4();
  private readonly at = new Vector3();
  private readonly sight = new Frustum();
  private readonly ball = new Sphere();

  constructor(scene: Scene, drones: Drone[], origin: Origin) {
    const byKind = new Map<string, Craft[]>();
    for (const drone of drones) {
      const motion = new Motion(drone, origin);
      if (motion.empty) continue;
      const kind = JSON.stringify([drone.run.index, drone.info.rotors, drone.info.rotors?.length ? 0 : [drone.info.mass, drone.info.inertia, drone.info.solid]]);
      const sameKind = byKind.get(kind) ?? [];
      byKind.set(kind, sameKind);
      const craft: Craft = {
        drone,
        motion,
        shape: sameKind[0]?.shape ?? shapeOf(drone.info, "fine"),
        pose: { position: [0, 0, 0], attitude: [1, 0, 0, 0] },
        color: new Color(),
      };
      sameKind.push(craft);
      this.crafts.push(craft);
    }
    for (const crafts of byKind.values()) this.groups.push(this.makeGroup(scene, crafts));
  }

  private makeGroup(scene: Scene, crafts: Craft[]): Group {
    const ghost = crafts[0].drone.run.index > 0; // the second run is seen through
    const fine = crafts[0].shape;
    const isSimple = crafts.length > FINE_MAX;
    const levels = [makeLevel(scene, fine, isSimple ? NEAR_MAX : crafts.length, ghost)];
    const add = (detail: Detail, room: number) => levels.push(makeLevel(scene, shapeOf(crafts[0].drone.info, detail), room, ghost));
    if (isSimple) add("coarse", Math.min(crafts.length, COARSE_MAX));
    if (crafts.length > COARSE_MAX) add("simple", crafts.length);
    return { crafts, levels };
  }

  paint(theme: Theme): void {
    for (const group of this.groups) {
      const isBody = group.crafts[0].drone.index >= group.crafts[0].drone.run.info.drones.length;
      for (const craft of group.crafts) craft.color = colorOfCraft(craft.drone, theme);
      for (const { shape, body, blades, discs, shadow } of group.levels) {
        paint(shape.body, new Color(isBody ? 0xffffff : theme.body), new Color(0xffffff));
        body.repeat("color");
        blades?.material.color.set(theme.faint);
        discs?.material.color.set(theme.faint);
        shadow.material.opacity = theme.shadow;
      }
    }
  }

  /// Where every craft is at `time`.
  move(time: number): void {
    for (const craft of this.crafts) craft.motion.pose(time, craft.pose);
  }

  /// Make ready what `camera` sees; bodies are drawn `scale` times their size, the `chosen` one in full detail.
  draw(time: number, chosen: Craft, camera: PerspectiveCamera, scale: number, below: (point: Vector3) => GroundPoint): void {
    this.sight.setFromProjectionMatrix(this.matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse));
    for (const { crafts, levels } of this.groups) {
      for (const level of levels) level.used = 0;
      if (crafts.includes(chosen)) this.drawCraft(chosen, levels, time, camera, scale, below);
      for (const craft of crafts) if (craft !== chosen) this.drawCraft(craft, levels, time, camera, scale, below);
      levels.forEach((level, i) => setCounts(level, this.bare && levels.length > 1 && i === levels.length - 1));
    }
  }

  private drawCraft(craft: Craft, levels: Level[], time: number, camera: PerspectiveCamera, scale: number, below: (point: Vector3) => GroundPoint): void {
    const { place, matrix, ball } = this;
    const { position: p, attitude: q } = craft.pose;
    const groundPoint = below(this.at.set(p[0], p[1], p[2]));
    ball.radius = craft.shape.size * scale;
    ball.center.copy(this.at).addScaledVector(SHADOW_LEAN, p[2] - groundPoint.height);
    const shadowSeen = this.sight.intersectsSphere(ball);
    ball.center.copy(this.at);
    if (!shadowSeen && !this.sight.intersectsSphere(ball)) return;
    const isNear = ball.radius > NEAR_RATIO * camera.position.distanceTo(ball.center);
    const coarsest = levels[levels.length - 1];
    const level = (isNear ? levels.find(({ used, room }) => used < room) : undefined) ?? coarsest;
    place.position.set(p[0], p[1], p[2]);
    place.quaternion.set(q[1], q[2], q[3], q[0]);
    place.scale.setScalar(scale);
    place.updateMatrix();
    const i = level.used++;
    level.body.setMatrixAt(i, place.matrix);
    level.body.setColorAt(i, craft.color); // the front has it in full, the frame is tinted
    level.discs?.setMatrixAt(i, place.matrix);
    flatten(this.at.setZ(groundPoint.height + SHADOW_LIFT), groundPoint.normal, this.flat);
    level.shadow.setMatrixAt(i, matrix.multiplyMatrices(this.flat, place.matrix));
    if (!level.blades) return;
    const { hubs, spins } = level.shape;
    const record = craft.motion.at(time);
    for (let k = 0; k < hubs.length; ++k) {
      const speed = craft.motion.rotorSpeed[k]?.[record] ?? 0;
      const angle = angleTurned(craft.motion, k, record, time, speed) * spins[k] * SPIN_SCALE;
      this.inner.makeRotationZ(angle).setPosition(hubs[k]);
      level.blades.setMatrixAt(i * hubs.length + k, matrix.multiplyMatrices(place.matrix, this.inner));
    }
  }
}

// Along the light onto the plane through `point`: a shadow.
function flatten(point: Vector3, n: Vector3, out: Matrix4): void {
  const d = SHADOW_LEAN;
  const k = -1 / n.dot(d);
  const c = n.dot(point);
  out.set(
    1 + k * d.x * n.x, k * d.x * n.y, k * d.x * n.z, -k * d.x * c,
    k * d.y * n.x, 1 + k * d.y * n.y, k * d.y * n.z, -k * d.y * c,
    k * d.z * n.x, k * d.z * n.y, 1 + k * d.z * n.z, -k * d.z * c,
    0, 0, 0, 1,
  );
}

function makeLevel(scene: Scene, shape: VehicleShape, room: number, ghost: boolean): Level {
  const level: Level = {
    shape,
    room,
    used: 0,
    body: new Copies(shape.body, new MeshLambertMaterial({ vertexColors: true, transparent: ghost, opacity: ghost ? 0.75 : 1 }), room),
    shadow: new Copies(shape.outline, new MeshBasicMaterial({ color: 0, transparent: true, depthWrite: false }), room),
    discs: shape.discs && new Copies(shape.discs, new MeshBasicMaterial({ transparent: true, opacity: 0.16, depthWrite: false, side: DoubleSide, forceSinglePass: true }), room),
    blades: shape.blades && new Copies(shape.blades, new MeshLambertMaterial(), room * shape.hubs.length),
  };
  for (const mesh of [level.shadow, level.body, level.blades, level.discs]) if (mesh) scene.add(mesh);
  return level;
}

function setCounts(level: Level, hidesDiscs: boolean): void {
  for (const mesh of [level.body, level.shadow]) mesh.count = level.used;
  if (level.discs) level.discs.count = hidesDiscs ? 0 : level.used;
  if (level.blades) level.blades.count = level.used * level.shape.hubs.length;
}

// The angle a rotor has turned through up to `time`: the sum over records, kept per rotor.
const angles = new WeakMap<Motion, number[][]>();
function angleTurned(motion: Motion, rotor: number, record: number, time: number, speed: number): number {
  const speeds = motion.rotorSpeed[rotor];
  if (!speeds) return 0;
  let anglesByRotor = angles.get(motion);
  if (!anglesByRotor) angles.set(motion, (anglesByRotor = []));
  const sums = (anglesByRotor[rotor] ??= [0]);
  for (let i = sums.length; i <= record; ++i) sums.push(sums[i - 1] + (motion.time[i] - motion.time[i - 1]) * speeds[i - 1]);
  return sums[record] + (time - motion.time[record]) * speed;
}

export function craftQuaternion(craft: Craft): Quaternion {
  const q = craft.pose.attitude;
  return new Quaternion(q[1], q[2], q[3], q[0]);
}

export function craftPosition(craft: Craft): Vector3 {
  return new Vector3(...craft.pose.position);
}
