// ghost.ts - where the chosen drone believes it is: its body seen through, in the ellipsoid of three standard deviations.
import { Color, DoubleSide, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, Scene, SphereGeometry } from "three";
import { indexAt } from "../data/table";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";

const SIGMAS = 3;

/// Lower triangle of L with L L^T = P, row by row, or undefined where P is no covariance.
export function cholesky(xx: number, xy: number, xz: number, yy: number, yz: number, zz: number): number[] | undefined {
  const a = Math.sqrt(xx);
  const [b, c] = [xy / a, xz / a];
  const d = Math.sqrt(yy - b * b);
  const e = (yz - b * c) / d;
  const f = Math.sqrt(zz - c * c - e * e);
  return [a, b, d, c, e, f].every(Number.isFinite) ? [a, b, d, c, e, f] : undefined;
}

export class Ghost {
  shown = true;
  private body?: Mesh;
  private craft?: Craft;
  private readonly material = new MeshLambertMaterial({ transparent: true, opacity: 0.45, depthWrite: false });
  private readonly ellipsoid: Mesh<SphereGeometry, MeshBasicMaterial>;

  constructor(private readonly scene: Scene) {
    this.ellipsoid = new Mesh(new SphereGeometry(1, 28, 18), new MeshBasicMaterial({ transparent: true, opacity: 0.16, depthWrite: false, side: DoubleSide }));
    this.ellipsoid.matrixAutoUpdate = false;
    this.ellipsoid.frustumCulled = false;
    scene.add(this.ellipsoid);
  }

  /// The log says what the drone believes, in the frame of this scene.
  static hasEstimate(craft: Craft): boolean {
    return !craft.drone.run.info.planet_radius && craft.drone.streams.get("estimate")?.vector("position", "xyz") !== undefined;
  }

  paint(theme: Theme): void {
    this.material.color = new Color(theme.estimate);
    this.ellipsoid.material.color = new Color(theme.estimate);
  }

  update(craft: Craft, time: number, scale: number): void {
    const table = craft.drone.streams.get("estimate");
    const [p, q] = [table?.vector("position", "xyz"), table?.vector("attitude", "wxyz")];
    const seen = this.shown && Ghost.hasEstimate(craft) && table !== undefined && p !== undefined && table.time[0] <= time + 1e-9;
    if (this.craft !== craft) this.setShape(craft);
    this.body!.visible = seen;
    this.ellipsoid.visible = false;
    if (!seen || !table || !p) return;
    const i = indexAt(table.time, time);
    const body = this.body!;
    body.position.set(p[0][i], p[1][i], p[2][i]);
    if (q) body.quaternion.set(q[1][i], q[2][i], q[3][i], q[0][i]).normalize();
    body.scale.setScalar(scale);
    this.updateEllipsoid(craft, time, p.map((column) => column[i]));
  }

  private setShape(craft: Craft): void {
    this.body?.removeFromParent();
    this.body = new Mesh(craft.shape.body, this.material);
    this.craft = craft;
    this.scene.add(this.body);
  }

  // The unit sphere through L is the ellipsoid of one standard deviation. It has its true size, whatever bodies are drawn in.
  private updateEllipsoid(craft: Craft, time: number, centre: number[]): void {
    const table = craft.drone.streams.get("filter");
    const [v, c] = [table?.vector("variance", "xyz"), table?.vector("covariance", "xyz")];
    if (!table || !v || !c || table.time[0] > time + 1e-9) return;
    const i = indexAt(table.time, time);
    const factor = cholesky(v[0][i], c[0][i], c[1][i], v[1][i], c[2][i], v[2][i]);
    if (!factor) return;
    const [a, b, d, e, f, g] = factor.map((value) => SIGMAS * value);
    this.ellipsoid.matrix = new Matrix4().set(a, 0, 0, centre[0], b, d, 0, centre[1], e, f, g, centre[2], 0, 0, 0, 1);
    this.ellipsoid.visible = true;
  }
}
