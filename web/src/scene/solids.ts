// solids.ts - declared shapes as geometries: boxes, spheres, capsules, cylinders, hulls and surfaces over a grid.
import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CylinderGeometry, SphereGeometry, Vector3 } from "three";
import { ConvexGeometry } from "three/addons/geometries/ConvexGeometry.js";
import type { HeightsInfo, SolidInfo } from "../data/embedded";

/// Where the columns or rows that a page holds lie, in steps of the grid.
function stepsOf(count: number, stride: number): number[] {
  const steps: number[] = [];
  for (let at = 0; at < count - 1 + stride; at += stride) steps.push(Math.min(at, count - 1));
  return steps;
}

/// A surface over a grid, in its own frame.
export class Surface {
  readonly xs: number[]; // [m]
  readonly ys: number[];
  private readonly values: number[];

  constructor(info: HeightsInfo) {
    this.xs = stepsOf(info.columns, info.stride).map((step) => step * info.spacing);
    this.ys = stepsOf(info.rows, info.stride).map((step) => step * info.spacing);
    this.values = info.values;
    if (this.values.length !== this.xs.length * this.ys.length) throw new Error("a surface is damaged");
  }

  at(column: number, row: number): number {
    return this.values[row * this.xs.length + column];
  }

  get lowest(): number {
    return this.values.reduce((low, value) => Math.min(low, value), Infinity);
  }

  /// Height at a place, or undefined beside the surface. Each cell is two triangles, cut from south-west to north-east.
  height(x: number, y: number): number | undefined {
    const [i, s] = cellOf(this.xs, x);
    const [k, t] = cellOf(this.ys, y);
    if (i < 0 || k < 0) return undefined;
    const [a, b, c, d] = [this.at(i, k), this.at(i + 1, k), this.at(i, k + 1), this.at(i + 1, k + 1)];
    return s >= t ? a + (b - a) * s + (d - b) * t : a + (d - c) * s + (c - a) * t;
  }

  geometry(): BufferGeometry {
    const [columns, rows] = [this.xs.length, this.ys.length];
    const points = new Float32Array(3 * columns * rows);
    const index: number[] = [];
    for (let k = 0; k < rows; ++k) {
      for (let i = 0; i < columns; ++i) {
        const n = k * columns + i;
        points.set([this.xs[i], this.ys[k], this.at(i, k)], 3 * n);
        if (i + 1 < columns && k + 1 < rows) index.push(n, n + 1, n + columns + 1, n, n + columns + 1, n + columns);
      }
    }
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3));
    geometry.setIndex(index);
    geometry.computeVertexNormals();
    return geometry;
  }

  /// Lines along rows and columns, at most about 24 each way.
  lines(): BufferGeometry {
    const points: number[] = [];
    const addPoint = (i: number, k: number) => points.push(this.xs[i], this.ys[k], this.at(i, k));
    const [columns, rows] = [this.xs.length, this.ys.length];
    const [rowStep, columnStep] = [Math.ceil(rows / 24), Math.ceil(columns / 24)];
    for (let k = 0; k < rows; k += rowStep) for (let i = 1; i < columns; ++i) addPoint(i - 1, k), addPoint(i, k);
    for (let i = 0; i < columns; i += columnStep) for (let k = 1; k < rows; ++k) addPoint(i, k - 1), addPoint(i, k);
    return new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  }
}

// The interval of rising values that holds `at`, and how far in it is; -1 outside.
function cellOf(values: number[], value: number): [number, number] {
  const last = values.length - 1;
  if (!(value >= values[0] && value <= values[last])) return [-1, 0];
  let low = 0;
  let high = last - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return [low, (value - values[low]) / (values[low + 1] - values[low])];
}

/// The geometry of a shape that ends somewhere; undefined for a plane, a surface, and what this page does not know.
export function geometryOf(solid: SolidInfo): BufferGeometry | undefined {
  const { radius, length, points } = solid;
  switch (solid.kind) {
    case "box":
      return new BoxGeometry(solid.size[0], solid.size[1], solid.size[2]);
    case "sphere":
      return new SphereGeometry(radius, 24, 16);
    case "capsule":
      return new CapsuleGeometry(radius, length, 8, 20).rotateX(Math.PI / 2);
    case "cylinder":
      return new CylinderGeometry(radius, radius, length, 28).rotateX(Math.PI / 2);
    case "hull": {
      const corners: Vector3[] = [];
      for (let i = 0; points && i + 2 < points.length; i += 3) corners.push(new Vector3(points[i], points[i + 1], points[i + 2]));
      return corners.length >= 4 ? new ConvexGeometry(corners) : undefined;
    }
    default:
      return undefined;
  }
}
