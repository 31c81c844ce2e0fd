// paths.ts - the whole way of every drone as a faint line, from the first record to the last, all in one call: as few pieces as look the
// same.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Scene } from "three";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";
import { colorOfCraft } from "./palette";

const POINTS_MAX = 60000; // of all lines that are looked at
const POINTS_EACH = 1500;
const TOLERANCE = 1 / 2000; // of the flight's reach: as good as seen

/// Which of these points a line must pass so that it stays within `tolerance` of all of them (Douglas and Peucker).
export function simplify([x, y, z]: Float64Array[], points: number[], tolerance: number): number[] {
  const keep = new Uint8Array(points.length);
  const openSpans: [number, number][] = [[0, points.length - 1]];
  keep[0] = keep[points.length - 1] = 1;
  for (let span = openSpans.pop(); span; span = openSpans.pop()) {
    const [first, last] = span;
    const [a, b] = [points[first], points[last]];
    const [ux, uy, uz] = [x[b] - x[a], y[b] - y[a], z[b] - z[a]];
    const square = ux * ux + uy * uy + uz * uz;
    let [farthest, largest] = [0, tolerance * tolerance];
    for (let i = first + 1; i < last; ++i) {
      const p = points[i];
      const [vx, vy, vz] = [x[p] - x[a], y[p] - y[a], z[p] - z[a]];
      const along = square > 0 ? Math.max(0, Math.min(1, (vx * ux + vy * uy + vz * uz) / square)) : 0;
      const squaredDistance = (vx - along * ux) ** 2 + (vy - along * uy) ** 2 + (vz - along * uz) ** 2;
      if (squaredDistance > largest) [farthest, largest] = [i, squaredDistance];
    }
    if (farthest === 0) continue;
    keep[farthest] = 1;
    openSpans.push([first, farthest], [farthest, last]);
  }
  return points.filter((_, i) => keep[i]);
}

export class Paths {
  private readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;
  private pieces: number[] = []; // by craft

  constructor(scene: Scene, private readonly crafts: Craft[], reach: number) {
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    this.lines.frustumCulled = false;
    scene.add(this.lines);
    this.fill(reach);
  }

  /// From the first record to the last that there is, of flights that reach so far [m].
  fill(reach: number): void {
    const { crafts } = this;
    this.pieces = [];
    const each = Math.max(8, Math.min(POINTS_EACH, Math.floor(POINTS_MAX / crafts.length)));
    const points: number[] = [];
    for (const { motion } of crafts) {
      const [x, y, z] = motion.position;
      const last = motion.time.length - 1;
      const stride = Math.max(1, Math.ceil(last / each));
      const candidates: number[] = [];
      for (let i = 0; i < last; i += stride) candidates.push(i);
      const kept = simplify(motion.position, [...candidates, last], TOLERANCE * reach);
      for (let k = 1; k < kept.length; ++k) {
        const [i, next] = [kept[k - 1], kept[k]];
        points.push(x[i], y[i], z[i], x[next], y[next], z[next]);
      }
      this.pieces.push(kept.length - 1);
    }
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  }

  set visible(on: boolean) {
    this.lines.visible = on;
  }

  get visible(): boolean {
    return this.lines.visible;
  }

  paint(theme: Theme): void {
    const colors: number[] = [];
    this.crafts.forEach((craft, i) => {
      const { r, g, b } = colorOfCraft(craft.drone, theme);
      for (let k = 0; k < 2 * this.pieces[i]; ++k) colors.push(r, g, b);
    });
    this.lines.geometry.setAttribute("color", new BufferAttribute(new Float32Array(colors), 3));
    this.lines.material.opacity = theme.name === "dark" ? 0.45 : 0.4;
  }
}
