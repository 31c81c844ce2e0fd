// ground.ts - the floor with a grid whose cells have a round size.
import { BufferAttribute, BufferGeometry, Color, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, PlaneGeometry } from "three";
import type { Theme } from "../ui/theme";

const HALF_CELLS = 40; // of the grid, from the middle to an edge
const PIECE_CELLS = 10; // cells of a line's pieces

/// 1, 2 or 5 times a power of ten, at or above `value`.
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (step * power >= value * 0.999) return step * power;
  return 10 * power;
}

export class Ground {
  readonly object = new Group();
  readonly cell: number; // [m]
  private readonly minor: LineBasicMaterial;
  private readonly major: LineBasicMaterial;
  private readonly plane: MeshBasicMaterial;

  constructor(reach: number, height: number) {
    this.cell = roundUp(reach / 12);
    const half = this.cell * HALF_CELLS;
    // Everything flat lies in one plane: it is drawn in this order, and leaves no depth behind to fight about.
    this.minor = new LineBasicMaterial({ depthWrite: false });
    this.major = new LineBasicMaterial({ depthWrite: false });
    this.plane = new MeshBasicMaterial({ depthWrite: false });
    const floor = new Mesh(new PlaneGeometry(12 * half, 12 * half), this.plane);
    const thin = new LineSegments(gridLines(this.cell, half, false), this.minor);
    const thick = new LineSegments(gridLines(this.cell, half, true), this.major);
    [floor, thin, thick].forEach((object, i) => (object.renderOrder = i - 3));
    this.object.add(floor, thin, thick);
    this.object.position.z = height;
  }

  paint(theme: Theme): void {
    this.plane.color = new Color(theme.ground);
    this.minor.color = new Color(theme.groundLine);
    this.major.color = new Color(theme.groundLineStrong);
  }
}

// Every fifth line is a strong one. Lines are cut into pieces: some renderers drop one that ends behind the camera.
function gridLines(cell: number, half: number, strong: boolean): BufferGeometry {
  const points: number[] = [];
  const count = Math.round(half / cell);
  for (let i = -count; i <= count; ++i) {
    if ((i % 5 === 0) !== strong) continue;
    const position = i * cell;
    for (let k = -count; k < count; k += PIECE_CELLS) {
      const [from, to] = [k * cell, (k + PIECE_CELLS) * cell];
      points.push(position, from, 0, position, to, 0, from, position, 0, to, position, 0);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  return geometry;
}
