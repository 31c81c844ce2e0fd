// jets.ts - thrusters: a nozzle each, and a plume as long as its share of the largest thrust.
import { Color, ConeGeometry, CylinderGeometry, Matrix4, MeshBasicMaterial, MeshLambertMaterial, Quaternion, Scene, Vector3 } from "three";
import { indexAt } from "../data/table";
import type { Theme } from "../ui/theme";
import { Copies } from "./copies";
import { craftPosition, craftQuaternion, type Craft } from "./fleet";

const NOZZLE_SIZE = 0.14; // of the body's size
const PLUME_LENGTH = 1.1;
const DOWN = new Vector3(0, -1, 0);

interface Jet {
  craft: Craft;
  index: number; // among the craft's
  at: Vector3; // [m] body
  out: Vector3; // where the plume goes, body
  thrustMax: number; // [N]
}

export class Jets {
  private readonly jets: Jet[] = [];
  private readonly nozzles?: Copies<MeshLambertMaterial>;
  private readonly plumes?: Copies<MeshBasicMaterial>;
  private readonly matrix = new Matrix4();

  constructor(scene: Scene, crafts: Craft[]) {
    for (const craft of crafts) {
      (craft.drone.info.thrusters ?? []).forEach(({ position, axis, thrust_max }, index) => {
        const along = new Vector3(axis[0], axis[1], axis[2]);
        const out = along.lengthSq() > 0 ? along.normalize().negate() : new Vector3(0, 0, -1);
        this.jets.push({ craft, index, at: new Vector3(position[0], position[1], position[2]), out, thrustMax: thrust_max });
      });
    }
    if (this.jets.length === 0) return;
    this.nozzles = new Copies(new CylinderGeometry(0.3, 0.5, 1, 12).translate(0, -0.3, 0), new MeshLambertMaterial(), this.jets.length);
    this.plumes = new Copies(new ConeGeometry(0.5, 1, 12).rotateX(Math.PI).translate(0, -0.5, 0), new MeshBasicMaterial({ transparent: true, opacity: 0.7, depthWrite: false }), this.jets.length);
    scene.add(this.nozzles, this.plumes);
  }

  paint(theme: Theme): void {
    this.nozzles?.material.color.set(new Color(theme.faint));
    this.plumes?.material.color.set(new Color(theme.lines[4]));
  }

  /// Where crafts are must be known by now.
  update(time: number, scale: number): void {
    if (!this.nozzles || !this.plumes) return;
    this.plumes.count = 0;
    this.jets.forEach((jet, i) => {
      const { craft } = jet;
      const size = craft.shape.size * scale;
      const rotation = new Quaternion().setFromUnitVectors(DOWN, jet.out).premultiply(craftQuaternion(craft));
      const at = jet.at.clone().multiplyScalar(scale).applyQuaternion(craftQuaternion(craft)).add(craftPosition(craft));
      this.nozzles!.setMatrixAt(i, this.matrix.compose(at, rotation, new Vector3(NOZZLE_SIZE, NOZZLE_SIZE, NOZZLE_SIZE).multiplyScalar(size)));
      const values = craft.drone.streams.get("thrusters");
      const thrust = values?.column(`thrust[${jet.index}]`)?.[indexAt(values.time, time)] ?? 0;
      const share = jet.thrustMax > 0 ? thrust / jet.thrustMax : 0;
      if (!(share > 0.01)) return;
      const tip = at.clone().addScaledVector(jet.out.clone().applyQuaternion(craftQuaternion(craft)), 0.7 * NOZZLE_SIZE * size);
      this.matrix.compose(tip, rotation, new Vector3(NOZZLE_SIZE, PLUME_LENGTH * Math.min(share, 1), NOZZLE_SIZE).multiplyScalar(size));
      this.plumes!.setMatrixAt(this.plumes!.count++, this.matrix);
    });
  }
}
