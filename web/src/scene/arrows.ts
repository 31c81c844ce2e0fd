// arrows.ts - vectors at the chosen drone: velocity, wind, desired attitude, forces and torques by effect.
import { BufferGeometry, Color, ConeGeometry, CylinderGeometry, Mesh, MeshBasicMaterial, Scene, Vector3 } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { rotate } from "../data/attitude";
import type { Drone } from "../data/run";
import { indexAt, type Table } from "../data/table";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";

/// Something that can be shown as an arrow.
export interface ArrowKind {
  id: string;
  label: string;
  group: "motion" | "force" | "torque";
  unit: string;
  color: number; // index into the theme's lines
  /// The vector in the world at `time`, or undefined when the log does not have it.
  vector(drone: Drone, time: number): [number, number, number] | undefined;
}

function vectorAt(table: Table | undefined, name: string, time: number): [number, number, number] | undefined {
  const columns = table?.vector(name, "xyz");
  if (!table || !columns) return undefined;
  const i = indexAt(table.time, time);
  return [columns[0][i], columns[1][i], columns[2][i]];
}

function quaternionAt(table: Table | undefined, name: string, time: number): number[] | undefined {
  const columns = table?.vector(name, "wxyz");
  if (!table || !columns) return undefined;
  const i = indexAt(table.time, time);
  return columns.map((column) => column[i]);
}

/// Names of the vectors of a stream, those that are ever more than zero.
export function vectorNames(table: Table | undefined): string[] {
  if (!table) return [];
  const names = table.names.filter((name) => name.endsWith(".x")).map((name) => name.slice(0, -2));
  return names.filter((name) => table.vector(name, "xyz")?.some((column) => column.some((value) => value !== 0)));
}

const SEARCHED_MAX = 16; // drones that are asked which vectors they have

/// Colours of effects, those of motion last.
const EFFECT_COLORS = [0, 1, 2, 4, 7, 5, 3, 6];

export function arrowKinds(drones: Drone[]): ArrowKind[] {
  const kinds: ArrowKind[] = [
    { id: "velocity", label: "velocity", group: "motion", unit: "m/s", color: 6, vector: (drone, time) => vectorAt(drone.streams.get("truth"), "velocity", time) },
    { id: "desired", label: "desired thrust axis", group: "motion", unit: "", color: 3, vector: desiredAxis },
  ];
  const searched = drones.slice(0, SEARCHED_MAX);
  if (searched.some((drone) => vectorNames(drone.streams.get("forces")).includes("wind"))) {
    kinds.push({ id: "wind", label: "wind", group: "motion", unit: "m/s", color: 5, vector: (drone, time) => vectorAt(drone.streams.get("forces"), "wind", time) });
  }
  const add = (stream: "forces" | "torques", group: "force" | "torque", unit: string) => {
    const names = new Set<string>();
    for (const drone of searched) for (const name of vectorNames(drone.streams.get(stream))) names.add(name);
    names.delete("wind");
    [...names].forEach((name, i) => {
      const inBody = stream === "torques"; // torques are logged in body axes
      kinds.push({
        id: `${group}-${name}`,
        label: name.replace(/_/g, " "),
        group,
        unit,
        color: EFFECT_COLORS[i % EFFECT_COLORS.length],
        vector: (drone, time) => {
          const v = vectorAt(drone.streams.get(stream), name, time);
          const q = inBody ? quaternionAt(drone.streams.get("truth"), "attitude", time) : undefined;
          return v && q ? rotate(q, v) : v;
        },
      });
    });
  };
  add("forces", "force", "N");
  add("torques", "torque", "N m");
  return kinds;
}

function desiredAxis(drone: Drone, time: number): [number, number, number] | undefined {
  const q = quaternionAt(drone.streams.get("control"), "attitude", time);
  return q && q.some((value) => value !== 0) ? rotate(q, [0, 0, 1]) : undefined;
}

// An arrow of length 1 along +y: a shaft, and a head that keeps its shape because it is a mesh of its own.
const shaft = new CylinderGeometry(0.5, 0.5, 1, 10).translate(0, 0.5, 0) as BufferGeometry;
const head = mergeGeometries([new ConeGeometry(1.6, 4, 14).translate(0, -2, 0)]);
const UP = new Vector3(0, 1, 0);

/// A shaft and a head in one colour.
export class Arrow {
  private readonly material = new MeshBasicMaterial();
  private readonly shaft = new Mesh(shaft, this.material);
  private readonly head = new Mesh(head, this.material);

  constructor(scene: Scene) {
    scene.add(this.shaft, this.head);
    this.hide();
  }

  hide(): void {
    this.shaft.visible = this.head.visible = false;
  }

  paint(color: Color): void {
    this.material.color = color;
  }

  show(from: Vector3, along: Vector3, width: number): void {
    const length = along.length();
    this.shaft.visible = length > 4 * width;
    this.head.visible = length > 0.5 * width;
    if (!this.head.visible) return;
    const direction = along.clone().divideScalar(length);
    this.shaft.position.copy(from);
    this.shaft.quaternion.setFromUnitVectors(UP, direction);
    this.shaft.scale.set(width, Math.max(length - 4 * width, 0), width);
    this.head.position.copy(from).addScaledVector(direction, length);
    this.head.quaternion.copy(this.shaft.quaternion);
    this.head.scale.setScalar(Math.min(width, length / 4));
  }
}

export class Arrows {
  readonly shown = new Set<string>();
  gain = 1; // how much longer forces and torques are drawn
  private readonly arrows = new Map<string, Arrow>();
  private theme?: Theme;

  constructor(private readonly scene: Scene, public kinds: ArrowKind[]) {}

  paint(theme: Theme): void {
    this.theme = theme;
    for (const kind of this.kinds) this.arrows.get(kind.id)?.paint(this.colorOf(kind));
  }

  private colorOf(kind: ArrowKind): Color {
    const lines = this.theme!.lines;
    return new Color(lines[kind.color % lines.length]);
  }

  /// Arrows of the craft at `time`; drawn so that the weight is two body sizes long.
  update(craft: Craft, time: number, scale: number): void {
    const size = craft.shape.size * scale;
    const { info, run } = craft.drone;
    const g = Math.hypot(...(run.info.gravity ?? [0, 0, 9.80665])) || 9.80665;
    const weight = (info.mass ?? 1) * g;
    const perUnit = { motion: 1.5 * size, force: (2 * size * this.gain) / weight, torque: (2 * size * this.gain) / (weight * craft.shape.size * 0.2) };
    const from = new Vector3(...craft.pose.position);
    for (const kind of this.kinds) {
      let arrow = this.arrows.get(kind.id);
      const vector = this.shown.has(kind.id) ? kind.vector(craft.drone, time) : undefined;
      if (!vector || !vector.every(Number.isFinite)) {
        arrow?.hide();
        continue;
      }
      if (!arrow) {
        arrow = new Arrow(this.scene);
        arrow.paint(this.colorOf(kind));
        this.arrows.set(kind.id, arrow);
      }
      const along = new Vector3(...vector).multiplyScalar(kind.id === "desired" ? 2.2 * size : perUnit[kind.group]);
      arrow.show(from, along.clampLength(0, 12 * size), 0.035 * size);
    }
  }
}
