// paths.ts - the whole way of every drone as a faint line, from the first record to the last, all in one call.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Scene } from "three";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";
import { colorOfCraft } from "./palette";

const PIECES_MAX = 60000; // of all lines
const PIECES_EACH = 1500;

export class Paths {
  private readonly lines: LineSegments<BufferGeometry, LineBasicMaterial>;
  private pieces: number[] = []; // by craft

  constructor(scene: Scene, private readonly crafts: Craft[]) {
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    this.lines.frustumCulled = false;
    scene.add(this.lines);
    this.fill();
  }

  /// From the first record to the last that there is.
  fill(): void {
    const { crafts } = this;
    this.pieces = [];
    const each = Math.max(8, Math.min(PIECES_EACH, Math.floor(PIECES_MAX / crafts.length)));
    const points: number[] = [];
    for (const { motion } of crafts) {
      const [x, y, z] = motion.position;
      const last = motion.time.length - 1;
      const stride = Math.max(1, Math.ceil(last / each));
      let count = 0;
      for (let i = 0; i < last; i += stride, ++count) {
        const next = Math.min(i + stride, last);
        points.push(x[i], y[i], z[i], x[next], y[next], z[next]);
      }
      this.pieces.push(count);
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
