// wind_field.ts - the wind of a field given by samples: an arrow at every node, as it blows at the moment.
import { Box3, BufferAttribute, Color, ConeGeometry, CylinderGeometry, Matrix4, MeshBasicMaterial, Quaternion, Scene, Vector3 } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import type { WindInfo } from "../data/embedded";
import type { Theme } from "../ui/theme";
import { Copies } from "./copies";
import { colorOfShare } from "./palette";

const LONGEST = 0.8; // of the distance between nodes: the fastest wind's arrow
const UP = new Vector3(0, 1, 0);

export class WindField {
  shown = true;
  readonly box = new Box3();
  readonly fastest: number; // [m/s]
  private readonly arrows?: Copies;
  private readonly places: Vector3[] = [];
  private readonly arrowLength: number; // [m] length of the longest arrow
  private drawnAt = NaN;

  constructor(scene: Scene, private readonly wind: WindInfo | undefined) {
    this.fastest = 0;
    this.arrowLength = 1;
    if (!wind || wind.velocity.length === 0) return;
    const { count, first, step } = wind;
    for (let z = 0; z < count[2]; ++z) {
      for (let y = 0; y < count[1]; ++y) {
        for (let x = 0; x < count[0]; ++x) this.places.push(new Vector3(first[0] + x * step[0], first[1] + y * step[1], first[2] + z * step[2]));
      }
    }
    for (const place of this.places) this.box.expandByPoint(place);
    for (let i = 0; i < wind.velocity.length; i += 3) this.fastest = Math.max(this.fastest, Math.hypot(wind.velocity[i], wind.velocity[i + 1], wind.velocity[i + 2]));
    const spacing = Math.min(...step.filter((s, k) => s > 0 && count[k] > 1));
    this.arrowLength = LONGEST * (Number.isFinite(spacing) ? spacing : 1);
    const shaft = new CylinderGeometry(0.012, 0.012, 0.8, 6).translate(0, 0.4, 0);
    const head = new ConeGeometry(0.045, 0.2, 8).translate(0, 0.9, 0);
    const arrow = mergeGeometries([shaft, head]);
    arrow.setAttribute("color", new BufferAttribute(new Float32Array(arrow.getAttribute("position").array.length).fill(1), 3)); // each has its own
    this.arrows = new Copies(arrow, new MeshBasicMaterial({ transparent: true, opacity: 0.75, vertexColors: true }), this.places.length);
    scene.add(this.arrows);
  }

  get any(): boolean {
    return this.arrows !== undefined;
  }

  paint(_theme: Theme): void {
    this.drawnAt = NaN;
  }

  /// The velocity at node `i` at `time`: linear between the samples, held before and after.
  at(i: number, time: number): Vector3 {
    const { times, velocity } = this.wind!;
    const nodes = this.places.length;
    let k = 0;
    while (k + 2 < times.length && times[k + 1] <= time) ++k;
    const next = Math.min(k + 1, times.length - 1);
    const span = times[next] - times[k];
    const s = span > 0 ? Math.max(0, Math.min(1, (time - times[k]) / span)) : 0;
    const value = (moment: number, axis: number) => velocity[3 * (moment * nodes + i) + axis];
    return new Vector3(...([0, 1, 2].map((axis) => value(k, axis) * (1 - s) + value(next, axis) * s) as [number, number, number]));
  }

  update(time: number): void {
    const { arrows } = this;
    if (!arrows) return;
    arrows.visible = this.shown;
    if (!this.shown || time === this.drawnAt) return;
    this.drawnAt = time;
    const matrix = new Matrix4();
    const turn = new Quaternion();
    const color = new Color();
    this.places.forEach((place, i) => {
      const along = this.at(i, time);
      const share = this.fastest > 0 ? along.length() / this.fastest : 0;
      const length = Math.max(share, 1e-3) * this.arrowLength;
      turn.setFromUnitVectors(UP, along.lengthSq() > 0 ? along.normalize() : UP);
      matrix.compose(place, turn, new Vector3(this.arrowLength, length, this.arrowLength));
      arrows.setMatrixAt(i, matrix);
      arrows.setColorAt(i, color.copy(colorOfShare(share)));
    });
  }
}
