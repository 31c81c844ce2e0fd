// touches.ts - contacts as they happen: a spot where things touch and an arrow along the push, which stay for a moment.
import { Color, Matrix4, MeshBasicMaterial, Scene, SphereGeometry, Vector3 } from "three";
import type { Run } from "../data/run";
import { indexAt } from "../data/table";
import type { Theme } from "../ui/theme";
import { Arrow } from "./arrows";
import { Copies } from "./copies";

const SHOWN_MAX = 24; // contacts that are shown at once: the latest
const SHOWN_SECONDS = 0.25; // [s] after their moment
const PHASE_END = 2; // phase of a contact that is over

/// The contacts of one run.
export class Touches {
  private readonly spots = new Copies(new SphereGeometry(1, 12, 8), new MeshBasicMaterial(), SHOWN_MAX);
  private readonly arrows: Arrow[] = [];
  private maxImpulse = 0; // [N s] largest push of all
  private counted = 0; // contacts in it
  private theme?: Theme;
  private readonly matrix = new Matrix4();

  constructor(private readonly scene: Scene, private readonly run: Run) {
    this.spots.count = 0;
    this.grow();
  }

  /// There may be more contacts.
  grow(): void {
    const { contacts, info } = this.run;
    const impulses = contacts.vector("impulse", "xyz");
    for (; impulses && this.counted < contacts.length; ++this.counted) this.maxImpulse = Math.max(this.maxImpulse, Math.hypot(...impulses.map((column) => column[this.counted])));
    if (contacts.length === 0 || info.planet_radius || this.arrows.length > 0) return;
    this.scene.add(this.spots);
    for (let i = 0; i < SHOWN_MAX; ++i) this.arrows.push(new Arrow(this.scene));
    if (this.theme) this.paint(this.theme);
  }

  paint(theme: Theme): void {
    this.theme = theme;
    const color = new Color(theme.lines[3]);
    this.spots.material.color = color;
    for (const arrow of this.arrows) arrow.paint(color);
  }

  /// Contacts up to `time`; the largest push of the flight is three `size` long.
  update(time: number, size: number, shown: boolean): void {
    if (this.arrows.length === 0) return;
    for (const arrow of this.arrows) arrow.hide();
    this.spots.count = 0;
    const { contacts } = this.run;
    const [points, impulses] = [contacts.vector("point", "xyz"), contacts.vector("impulse", "xyz")];
    const phase = contacts.column("phase");
    if (!shown || !points || !impulses) return;
    for (let i = indexAt(contacts.time, time); i >= 0 && contacts.time[i] > time - SHOWN_SECONDS && this.spots.count < SHOWN_MAX; --i) {
      if (contacts.time[i] > time || phase?.[i] === PHASE_END) continue;
      const point = new Vector3(points[0][i], points[1][i], points[2][i]);
      const along = new Vector3(impulses[0][i], impulses[1][i], impulses[2][i]);
      if (!Number.isFinite(point.lengthSq() + along.lengthSq())) continue;
      const share = this.maxImpulse > 0 ? along.length() / this.maxImpulse : 0;
      const arrow = this.arrows[this.spots.count];
      arrow.show(point, along.setLength(size * (0.6 + 2.4 * Math.sqrt(share))), 0.045 * size);
      this.matrix.makeScale(0.12 * size, 0.12 * size, 0.12 * size).setPosition(point);
      this.spots.setMatrixAt(this.spots.count++, this.matrix);
    }
  }
}
