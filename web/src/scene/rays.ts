// rays.ts - what range finders and lidars see: a line from the sensor to each place it met, and a dot there.
import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments, Points, PointsMaterial, Quaternion, Scene, Vector3 } from "three";
import type { RaysInfo } from "../data/embedded";
import { indexAt, type Table } from "../data/table";
import type { Pose } from "../data/motion";
import type { Theme } from "../ui/theme";
import type { Craft } from "./fleet";

const DOT_SIZE = 4; // [pixels]

interface RaySensor {
  craft: Craft;
  info: RaysInfo;
  table: Table;
}

function sensorsOf(craft: Craft): RaySensor[] {
  const sensors: RaySensor[] = [];
  for (const [sensor, info] of Object.entries(craft.drone.info.rays ?? {})) {
    const table = craft.drone.streams.get(sensor);
    if (table) sensors.push({ craft, info, table });
  }
  return sensors;
}

/// One column per ray.
function distancesOf({ table, info }: RaySensor): Float64Array[] {
  const single = table.column("distance");
  return (single ? [single] : table.list("distance")).slice(0, info.ways.length);
}

export class Rays {
  private readonly eyes: RaySensor[];
  private readonly lines?: LineSegments<BufferGeometry, LineBasicMaterial>;
  private readonly dots?: Points<BufferGeometry, PointsMaterial>;
  private readonly pose: Pose = { position: [0, 0, 0], attitude: [1, 0, 0, 0] };

  constructor(scene: Scene, crafts: Craft[]) {
    this.eyes = crafts.filter((craft) => !craft.drone.run.info.planet_radius).flatMap(sensorsOf);
    const room = this.eyes.reduce((sum, eye) => sum + eye.info.ways.length, 0);
    if (room === 0) return;
    const buffer = (count: number) => new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(3 * count), 3));
    this.lines = new LineSegments(buffer(2 * room), new LineBasicMaterial({ transparent: true, opacity: 0.45, depthWrite: false }));
    this.dots = new Points(buffer(room), new PointsMaterial({ size: DOT_SIZE, sizeAttenuation: false }));
    for (const object of [this.lines, this.dots]) {
      object.frustumCulled = false;
      scene.add(object);
    }
  }

  get any(): boolean {
    return this.lines !== undefined;
  }

  paint(theme: Theme): void {
    this.lines?.material.color.set(new Color(theme.lines[2]));
    this.dots?.material.color.set(new Color(theme.lines[2]));
  }

  /// The last samples at `time`, drawn from where the drone was when it looked. What saw nothing is not drawn.
  update(time: number, scale: number, shown: boolean): void {
    if (!this.lines || !this.dots) return;
    this.lines.visible = this.dots.visible = shown;
    if (!shown) return;
    let count = 0;
    const [from, to, rotation] = [new Vector3(), new Vector3(), new Quaternion()];
    const { position: lineEnds } = this.lines.geometry.attributes;
    const { position: dotPositions } = this.dots.geometry.attributes;
    for (const raySensor of this.eyes) {
      const { craft, info, table } = raySensor;
      const i = indexAt(table.time, time);
      if (!(table.time[i] <= time)) continue; // nothing has arrived yet
      craft.motion.pose(table.time[i] - info.late, this.pose);
      const { position: p, attitude: q } = this.pose;
      rotation.set(q[1], q[2], q[3], q[0]);
      const place = (point: Vector3) => point.applyQuaternion(rotation).add({ x: p[0], y: p[1], z: p[2] });
      const [x, y, z] = info.position;
      place(from.set(x, y, z).multiplyScalar(scale)); // the drone is drawn so much larger
      distancesOf(raySensor).forEach((column, k) => {
        const distance = column[i];
        if (!(distance > 0)) return;
        const [u, v, w] = info.ways[k];
        place(to.set(x + distance * u, y + distance * v, z + distance * w));
        lineEnds.setXYZ(2 * count, from.x, from.y, from.z);
        lineEnds.setXYZ(2 * count + 1, to.x, to.y, to.z);
        dotPositions.setXYZ(count++, to.x, to.y, to.z);
      });
    }
    this.lines.geometry.setDrawRange(0, 2 * count);
    this.dots.geometry.setDrawRange(0, count);
    lineEnds.needsUpdate = dotPositions.needsUpdate = true;
  }
}
