// fleet.ts - all drones, drawn in a few calls: one instanced mesh per kind of part and vehicle.
import { Color, DoubleSide, InstancedMesh, Matrix4, MeshBasicMaterial, MeshLambertMaterial, Object3D, Quaternion, Scene, Vector3 } from "three";
import type { Drone } from "../data/run";
import { Motion, type Origin, type Pose } from "../data/motion";
import type { Theme } from "../ui/theme";
import { paint, shapeOf, type VehicleShape } from "./vehicle";

export interface Craft {
  drone: Drone;
  motion: Motion;
  shape: VehicleShape;
  pose: Pose;
}

interface Group {
  shape: VehicleShape;
  crafts: Craft[];
  body: InstancedMesh;
  shadow: InstancedMesh;
  blades?: InstancedMesh;
  discs?: InstancedMesh;
}

/// How fast rotors are seen to turn: 1/40 of their speed, so that the eye (and the screen) can follow.
const SLOWED = 1 / 40;
const FINE_MAX = 12; // drones that are drawn in full detail
const SHADOW_LEAN = [0.18, -0.28]; // the light comes from the south-west, high

export class Fleet {
  readonly crafts: Craft[] = [];
  private readonly groups: Group[] = [];
  private readonly rotorMaterial = new MeshLambertMaterial({ color: 0x808890 });
  private readonly discMaterial = new MeshBasicMaterial({ transparent: true, opacity: 0.16, depthWrite: false, side: DoubleSide });
  private readonly shadowMaterial = new MeshBasicMaterial({ color: 0, transparent: true, depthWrite: false });
  private readonly bodyMaterials: MeshLambertMaterial[] = [];
  private readonly matrix = new Matrix4();
  private readonly inner = new Matrix4();
  private readonly place = new Object3D();
  private readonly flatten = new Matrix4();

  constructor(scene: Scene, drones: Drone[], origin: Origin) {
    const byKind = new Map<string, Craft[]>();
    for (const drone of drones) {
      const motion = new Motion(drone, origin);
      if (motion.empty) continue;
      const kind = JSON.stringify([drone.run.index, drone.info.rotors, drone.info.rotors?.length ? 0 : [drone.info.mass, drone.info.inertia]]);
      const fellows = byKind.get(kind) ?? [];
      byKind.set(kind, fellows);
      const craft: Craft = {
        drone,
        motion,
        shape: fellows[0]?.shape ?? shapeOf(drone.info, drones.length <= FINE_MAX),
        pose: { position: [0, 0, 0], attitude: [1, 0, 0, 0] },
      };
      fellows.push(craft);
      this.crafts.push(craft);
    }
    for (const crafts of byKind.values()) this.groups.push(this.makeGroup(scene, crafts));
  }

  private makeGroup(scene: Scene, crafts: Craft[]): Group {
    const shape = crafts[0].shape;
    const ghost = crafts[0].drone.run.index > 0; // the second run is seen through
    const material = new MeshLambertMaterial({ vertexColors: true, transparent: ghost, opacity: ghost ? 0.75 : 1 });
    this.bodyMaterials.push(material);
    const rotors = shape.hubs.length * crafts.length;
    const group: Group = {
      shape,
      crafts,
      body: new InstancedMesh(shape.body, material, crafts.length),
      shadow: new InstancedMesh(shape.outline, this.shadowMaterial, crafts.length),
      blades: rotors > 0 ? new InstancedMesh(shape.blades, this.rotorMaterial, rotors) : undefined,
      discs: rotors > 0 ? new InstancedMesh(shape.disc, this.discMaterial, rotors) : undefined,
    };
    for (const mesh of [group.shadow, group.body, group.blades, group.discs]) {
      if (!mesh) continue;
      mesh.frustumCulled = false; // its instances are elsewhere
      scene.add(mesh);
    }
    return group;
  }

  paint(theme: Theme): void {
    for (const group of this.groups) {
      const front = theme.lines[group.crafts[0].drone.run.index === 0 ? 0 : 2];
      paint(group.shape.body, new Color(theme.body), new Color(front));
    }
    this.rotorMaterial.color.set(theme.faint);
    this.discMaterial.color.set(theme.faint);
    this.shadowMaterial.opacity = theme.shadow;
  }

  /// Put everything where it is at `time`; bodies are drawn `scale` times their size.
  update(time: number, scale: number, floor: number): void {
    for (const group of this.groups) this.updateGroup(group, time, scale, floor);
  }

  private updateGroup(group: Group, time: number, scale: number, floor: number): void {
    const { place, matrix } = this;
    let rotor = 0;
    this.flatten.set(1, 0, SHADOW_LEAN[0], -SHADOW_LEAN[0] * floor, 0, 1, SHADOW_LEAN[1], -SHADOW_LEAN[1] * floor, 0, 0, 0.001, floor + 0.002, 0, 0, 0, 1);
    group.crafts.forEach((craft, i) => {
      craft.motion.pose(time, craft.pose);
      const { position: p, attitude: q } = craft.pose;
      place.position.set(p[0], p[1], p[2]);
      place.quaternion.set(q[1], q[2], q[3], q[0]);
      place.scale.setScalar(scale);
      place.updateMatrix();
      group.body.setMatrixAt(i, place.matrix);
      group.shadow.setMatrixAt(i, matrix.multiplyMatrices(this.flatten, place.matrix));
      const record = craft.motion.at(time);
      group.shape.hubs.forEach((hub, k) => {
        const speed = craft.motion.rotorSpeed[k]?.[record] ?? 0;
        const turn = turned(craft.motion, k, record, time, speed) * group.shape.spins[k] * SLOWED;
        this.inner.makeRotationZ(turn).setPosition(hub);
        matrix.multiplyMatrices(place.matrix, this.inner);
        group.blades?.setMatrixAt(rotor, matrix);
        group.discs?.setMatrixAt(rotor, matrix);
        rotor += 1;
      });
    });
    for (const mesh of [group.body, group.shadow, group.blades, group.discs]) if (mesh) mesh.instanceMatrix.needsUpdate = true;
  }
}

// The angle a rotor has turned through up to `time`: the sum over records, kept per rotor.
const angles = new WeakMap<Float64Array, Float64Array>();
function turned(motion: Motion, rotor: number, record: number, time: number, speed: number): number {
  const speeds = motion.rotorSpeed[rotor];
  if (!speeds) return 0;
  let sums = angles.get(speeds);
  if (!sums) {
    sums = new Float64Array(speeds.length);
    for (let i = 1; i < speeds.length; ++i) sums[i] = sums[i - 1] + (motion.time[i] - motion.time[i - 1]) * speeds[i - 1];
    angles.set(speeds, sums);
  }
  return sums[record] + (time - motion.time[record]) * speed;
}

export function craftQuaternion(craft: Craft): Quaternion {
  const q = craft.pose.attitude;
  return new Quaternion(q[1], q[2], q[3], q[0]);
}

export function craftPosition(craft: Craft): Vector3 {
  return new Vector3(...craft.pose.position);
}
