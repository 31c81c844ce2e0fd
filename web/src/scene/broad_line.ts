// broad_line.ts - a line some pixels wide, as LineMaterial draws it. Its pieces are no instances, for the reason that copies.ts gives.
import { BufferAttribute, BufferGeometry, type Color, Mesh } from "three";
import type { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";

const PIECE = new LineSegmentsGeometry(); // the corners and triangles of one
const CORNERS = PIECE.getAttribute("position").count;
const INDICES = PIECE.index!.count;

export class BroadLine extends Mesh<BufferGeometry, LineMaterial> {
  readonly pieces: number;

  /// Through points x, y, z after x, y, z.
  constructor(points: number[], material: LineMaterial) {
    super(new BufferGeometry(), material);
    this.pieces = Math.max(points.length / 3 - 1, 0);
    this.frustumCulled = false;
    const index = new Uint32Array(this.pieces * INDICES);
    for (let i = 0; i < this.pieces; ++i) for (let k = 0; k < INDICES; ++k) index[i * INDICES + k] = PIECE.index!.array[k] + i * CORNERS;
    this.geometry.setIndex(new BufferAttribute(index, 1));
    for (const name of ["position", "uv"]) {
      const { array, itemSize } = PIECE.getAttribute(name) as BufferAttribute;
      const repeated = new Float32Array(this.pieces * array.length);
      for (let i = 0; i < this.pieces; ++i) repeated.set(array, i * array.length);
      this.geometry.setAttribute(name, new BufferAttribute(repeated, itemSize));
    }
    this.setEnds("instanceStart", "instanceEnd", (i, k) => points[3 * i + k]);
  }

  /// The colour at each point.
  setColors(colors: Color[]): void {
    const values = colors.flatMap(({ r, g, b }) => [r, g, b]);
    this.setEnds("instanceColorStart", "instanceColorEnd", (i, k) => values[3 * i + k]);
  }

  // Each corner has what both ends of its piece have.
  private setEnds(start: string, end: string, value: (point: number, k: number) => number): void {
    for (const [name, step] of [[start, 0], [end, 1]] as const) {
      const repeated = new Float32Array(3 * CORNERS * this.pieces);
      for (let i = 0, at = 0; i < this.pieces; ++i) {
        const [x, y, z] = [value(i + step, 0), value(i + step, 1), value(i + step, 2)];
        for (let k = 0; k < CORNERS; ++k, at += 3) [repeated[at], repeated[at + 1], repeated[at + 2]] = [x, y, z];
      }
      this.geometry.setAttribute(name, new BufferAttribute(repeated, 3));
    }
  }

  /// So many pieces are drawn, from the first on.
  show(pieces: number): void {
    this.visible = pieces > 0;
    this.geometry.setDrawRange(0, pieces * INDICES);
  }
}
