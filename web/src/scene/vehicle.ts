// vehicle.ts - the shape of a drone from where its rotors are: arms, motors and a body, with the front marked.
import { BoxGeometry, BufferAttribute, BufferGeometry, CircleGeometry, Color, CylinderGeometry, Matrix4, OctahedronGeometry, PlaneGeometry, Quaternion, SphereGeometry, Vector3 } from "three";
import type { DroneInfo } from "../data/embedded";
import { geometryOf } from "./solids";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";

export interface VehicleShape {
  body: BufferGeometry; // with the colours of its parts
  outline: BufferGeometry; // flat, for the shadow
  discs?: BufferGeometry; // what turning rotors look like, all of them
  blades?: BufferGeometry; // of one rotor, flat at z = 0, turning about z; none where they could not be seen
  hubs: Vector3[]; // [m] where the rotors turn
  spins: number[];
  size: number; // [m] from the centre to the tip of a rotor
}

/// What part of a shape a vertex belongs to; the scene gives the parts their colours.
export const PART_FRAME = 0;
export const PART_FRONT = 1;

// With an index and without what nobody draws: parts that are to be merged must be alike.
function withPart(geometry: BufferGeometry, part: number): BufferGeometry {
  geometry.deleteAttribute("uv");
  const count = geometry.getAttribute("position").count;
  if (!geometry.index) geometry.setIndex(Array.from({ length: count }, (_, i) => i));
  geometry.setAttribute("part", new BufferAttribute(new Float32Array(count).fill(part), 1));
  return geometry;
}

function beam(from: Vector3, to: Vector3, width: number, height: number): BufferGeometry {
  const along = to.clone().sub(from);
  const length = along.length();
  const box = new BoxGeometry(length, width, height);
  const turn = new Quaternion().setFromUnitVectors(new Vector3(1, 0, 0), length > 0 ? along.divideScalar(length) : new Vector3(1, 0, 0));
  box.applyMatrix4(new Matrix4().compose(from.clone().add(to).multiplyScalar(0.5), turn, new Vector3(1, 1, 1)));
  return box;
}

function rotorRadius(hubs: Vector3[]): number {
  let nearest = Infinity;
  for (let i = 0; i < hubs.length; ++i) {
    for (let j = 0; j < i; ++j) {
      const spacing = Math.hypot(hubs[i].x - hubs[j].x, hubs[i].y - hubs[j].y);
      if (spacing > 1e-6) nearest = Math.min(nearest, spacing);
    }
  }
  return Number.isFinite(nearest) ? 0.44 * nearest : 0.4 * (hubs[0]?.length() ?? 0.1);
}

// A flat polygon of n corners about a point, of n - 2 triangles.
function polygon(n: number, radius: number, at = new Vector3()): BufferGeometry {
  const [points, index] = [[] as number[], [] as number[]];
  for (let i = 0; i < n; ++i) points.push(at.x + radius * Math.cos((2 * Math.PI * i) / n), at.y + radius * Math.sin((2 * Math.PI * i) / n), at.z);
  for (let i = 2; i < n; ++i) index.push(0, i - 1, i);
  const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}

// A flat arm from the middle to a hub.
function armTo(hub: Vector3, width: number): BufferGeometry {
  const arm = new PlaneGeometry(Math.hypot(hub.x, hub.y), width);
  arm.rotateZ(Math.atan2(hub.y, hub.x));
  return arm.translate(hub.x / 2, hub.y / 2, 0);
}

// The body from above: arms, motors and shell, a few triangles each.
function outlineOf(at: Vector3[], reach: number, fine: boolean): BufferGeometry {
  const parts: BufferGeometry[] = [];
  const circle = (x: number, y: number, rx: number, ry: number) => {
    const shape = new CircleGeometry(1, fine ? 10 : 6);
    shape.scale(rx, ry, 1);
    shape.translate(x, y, 0);
    parts.push(shape);
  };
  circle(0, 0, 0.41 * reach, 0.31 * reach);
  for (const hub of at) {
    if (fine) circle(hub.x, hub.y, 0.13 * reach, 0.13 * reach);
    parts.push(armTo(hub, 0.13 * reach));
  }
  return mergeGeometries(parts.map((part) => withPart(part, PART_FRAME)));
}

// Two blades with a little chord, seen from above and below.
function bladesOf(radius: number): BufferGeometry {
  const blade = new BoxGeometry(2 * radius, 0.13 * radius, 0.015 * radius);
  const hub = new CylinderGeometry(0.1 * radius, 0.1 * radius, 0.1 * radius, 12);
  hub.rotateX(Math.PI / 2);
  return mergeGeometries([withPart(blade, PART_FRAME), withPart(hub, PART_FRAME)]);
}

function discsOf(hubs: Vector3[], radius: number, fine: boolean): BufferGeometry {
  return mergeGeometries(hubs.map((hub) => withPart(new CircleGeometry(radius, fine ? 36 : 8).translate(hub.x, hub.y, hub.z), PART_FRAME)));
}

// A body without rotors, of a shape that the scenario declares.
function solidOf(info: DroneInfo): VehicleShape | undefined {
  const geometry = info.solid && geometryOf(info.solid);
  if (!geometry) return undefined;
  geometry.computeBoundingBox();
  const size = geometry.boundingBox!.getSize(new Vector3());
  const body = withPart(geometry, PART_FRAME);
  return { body, outline: body, hubs: [], spins: [], size: size.length() / 2 };
}

// Else a plain box of the size its inertia suggests.
function boxOf(info: DroneInfo): VehicleShape {
  const mass = info.mass ?? 1;
  const inertia = info.inertia ?? [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const [ix, iy, iz] = [inertia[0], inertia[4], inertia[8]];
  const side = (a: number, b: number, c: number) => Math.sqrt(Math.max((6 * (a + b - c)) / mass, 0));
  const sides = [side(iy, iz, ix), side(iz, ix, iy), side(ix, iy, iz)].map((s) => (Number.isFinite(s) ? s : 0));
  const longestSide = Math.max(...sides) || 1;
  const [x, y, z] = sides.map((s) => Math.max(s, 0.03 * longestSide));
  const nose = new BoxGeometry(0.12 * x, 0.6 * y, 0.6 * z);
  nose.translate(0.52 * x, 0, 0);
  const struts = (info.thrusters ?? []).map(({ position }) => beam(new Vector3(), new Vector3(position[0], position[1], position[2]), 0.04 * longestSide, 0.04 * longestSide));
  const body = mergeGeometries([withPart(new BoxGeometry(x, y, z), PART_FRAME), withPart(nose, PART_FRONT), ...struts.map((strut) => withPart(strut, PART_FRAME))]);
  const outline = withPart(new PlaneGeometry(x, y), PART_FRAME);
  return { body, outline, hubs: [], spins: [], size: Math.hypot(x, y, z) / 2 };
}

// One of very many: where it is, how it is turned and where its front is.
function simpleOf(at: Vector3[], reach: number, radius: number): Pick<VehicleShape, "body" | "outline" | "discs"> {
  const isFront = (hub: Vector3) => hub.x > 0.05 * reach;
  const shell = new OctahedronGeometry(0.4 * reach).scale(1.1, 0.85, 0.4);
  const arms = at.map((hub) => withPart(armTo(hub, 0.15 * reach).translate(0, 0, hub.z + 0.05 * reach), isFront(hub) ? PART_FRONT : PART_FRAME));
  return {
    body: mergeGeometries([withPart(shell, PART_FRAME), ...arms]),
    outline: withPart(polygon(6, 0.5 * reach), PART_FRAME),
    discs: mergeGeometries(at.map((hub) => withPart(polygon(6, radius, hub.clone().setZ(hub.z + 0.13 * reach)), PART_FRAME))),
  };
}

/// How much of a vehicle is drawn: all of it of a few drones and near ones, a third of the triangles of others, a fifth of that of very many.
export type Detail = "fine" | "coarse" | "simple";

export function shapeOf(info: DroneInfo, detail: Detail): VehicleShape {
  const fine = detail === "fine";
  const rotors = info.rotors ?? [];
  if (rotors.length === 0) return solidOf(info) ?? boxOf(info);
  const at = rotors.map((rotor) => new Vector3(rotor.position[0] ?? 0, rotor.position[1] ?? 0, rotor.position[2] ?? 0));
  const reach = Math.max(...at.map((hub) => Math.hypot(hub.x, hub.y)), 1e-3);
  const radius = rotorRadius(at);
  const hubs = at.map((hub) => hub.clone().setZ(hub.z + 0.13 * reach));
  const spins = rotors.map((rotor) => Math.sign(rotor.spin) || 1);
  const size = reach + radius;
  if (detail === "simple") return { ...simpleOf(at, reach, radius), hubs, spins, size };
  const parts: BufferGeometry[] = [];
  for (const hub of at) {
    const front = hub.x > 0.05 * reach ? PART_FRONT : PART_FRAME;
    parts.push(withPart(beam(new Vector3(0, 0, hub.z), hub, 0.13 * reach, 0.09 * reach), PART_FRAME));
    const motor = new CylinderGeometry(0.11 * reach, 0.12 * reach, 0.22 * reach, fine ? 14 : 4, 1, !fine);
    motor.rotateX(Math.PI / 2);
    motor.translate(hub.x, hub.y, hub.z + 0.02 * reach);
    parts.push(withPart(motor, front));
  }
  const shell = new SphereGeometry(0.36 * reach, fine ? 20 : 6, fine ? 12 : 4);
  shell.scale(1.15, 0.85, 0.42);
  const nose = new SphereGeometry(0.13 * reach, fine ? 14 : 4, fine ? 8 : 2);
  nose.scale(1, 1, 0.7);
  nose.translate(0.36 * reach, 0, 0.02 * reach);
  parts.push(withPart(shell, PART_FRAME), withPart(nose, PART_FRONT));
  return {
    body: mergeGeometries(parts),
    outline: outlineOf(at, reach, fine),
    discs: discsOf(hubs, radius, fine),
    blades: fine ? bladesOf(radius) : undefined,
    hubs,
    spins,
    size,
  };
}

/// Colours of a shape's parts, into its attribute `color`.
export function paint(geometry: BufferGeometry, frame: Color, front: Color): void {
  const part = geometry.getAttribute("part");
  const colors = new Float32Array(3 * part.count);
  for (let i = 0; i < part.count; ++i) (part.getX(i) === PART_FRONT ? front : frame).toArray(colors, 3 * i);
  geometry.setAttribute("color", new BufferAttribute(colors, 3));
}
