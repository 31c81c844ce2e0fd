// sky.ts - what is behind everything: bright at the horizon, deeper overhead, so that up is seen at a glance.
import { BackSide, BufferAttribute, Color, Mesh, MeshBasicMaterial, SphereGeometry, Vector3 } from "three";
import type { Theme } from "../ui/theme";

export class Sky {
  readonly object: Mesh<SphereGeometry, MeshBasicMaterial>;

  constructor(radius: number) {
    const geometry = new SphereGeometry(radius, 24, 24).rotateX(Math.PI / 2);
    this.object = new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true, side: BackSide, depthWrite: false, fog: false }));
    this.object.renderOrder = -10;
    this.object.frustumCulled = false;
  }

  paint(theme: Theme): void {
    const { geometry } = this.object;
    const position = geometry.getAttribute("position");
    const [horizon, zenith] = [new Color(theme.sky), new Color(theme.zenith)];
    const colors = new Float32Array(3 * position.count);
    const radius = geometry.parameters.radius;
    for (let i = 0; i < position.count; ++i) {
      const height = Math.max(0, position.getZ(i) / radius);
      horizon.clone().lerp(zenith, Math.sqrt(height)).toArray(colors, 3 * i);
    }
    geometry.setAttribute("color", new BufferAttribute(colors, 3));
  }

  /// It is as far away from everywhere.
  follow(camera: Vector3): void {
    this.object.position.copy(camera);
  }
}
