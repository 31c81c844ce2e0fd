// motion.ts - where a drone is at any time: records joined smoothly, through every one of them.
import { fromPilotAngles } from "./attitude";
import type { Drone } from "./run";
import { indexAt } from "./table";

/// Pose in the scene's frame: east, north, up from the run's origin.
export interface Pose {
  position: [number, number, number];
  attitude: [number, number, number, number]; // w, x, y, z
}

/// The path of one drone. On a planet it is seen from the ground where the first drone starts.
export class Motion {
  time: Float64Array = new Float64Array(0);
  position: Float64Array[] = [];
  attitude: Float64Array[] = [];
  rotorSpeed: Float64Array[] = [];
  private velocity?: Float64Array[];
  private hint = 0;

  constructor(private readonly drone: Drone, private readonly origin: Origin) {
    this.refresh();
  }

  /// Read the records anew: there may be more of them.
  refresh(): void {
    const { drone, origin } = this;
    const truth = drone.streams.get("truth");
    const geodetic = drone.streams.get("geodetic");
    this.time = truth?.time ?? new Float64Array(0);
    this.rotorSpeed = truth?.list("rotor_speed") ?? [];
    if (geodetic && origin.place) {
      [this.time, this.position, this.attitude] = overGround(drone, origin.place);
      this.rotorSpeed = [];
    } else {
      this.position = truth?.vector("position", "xyz") ?? [];
      this.attitude = truth?.vector("attitude", "wxyz") ?? [];
      this.velocity = truth?.vector("velocity", "xyz");
    }
  }

  /// Refreshing is work.
  get needsConversion(): boolean {
    return this.origin.place !== undefined;
  }

  get empty(): boolean {
    return this.time.length === 0 || this.position.length !== 3 || this.attitude.length !== 4;
  }

  /// Index of the record at or before `t`; looks near the last answer first.
  at(t: number): number {
    const times = this.time;
    let i = this.hint;
    for (let k = 0; k < 4 && i + 1 < times.length && times[i + 1] <= t; ++k) ++i;
    if (times[i] > t || (i + 1 < times.length && times[i + 1] <= t)) i = indexAt(times, t);
    this.hint = i;
    return i;
  }

  pose(t: number, out: Pose): void {
    const i = this.at(t);
    const j = Math.min(i + 1, this.time.length - 1);
    const span = this.time[j] - this.time[i];
    const s = span > 0 ? Math.max(0, Math.min(1, (t - this.time[i]) / span)) : 0;
    for (let k = 0; k < 3; ++k) {
      const a = this.position[k][i];
      const b = this.position[k][j];
      out.position[k] = a + (b - a) * s;
      if (!this.velocity) continue;
      // The cubic through both records with their velocities.
      const va = this.velocity[k][i] * span;
      const vb = this.velocity[k][j] * span;
      out.position[k] = a + s * (va + s * (3 * (b - a) - 2 * va - vb + s * (va + vb - 2 * (b - a))));
    }
    const q = this.attitude;
    const dot = q[0][i] * q[0][j] + q[1][i] * q[1][j] + q[2][i] * q[2][j] + q[3][i] * q[3][j];
    const sign = dot < 0 ? -1 : 1;
    let squaredLength = 0;
    for (let k = 0; k < 4; ++k) {
      out.attitude[k] = q[k][i] * (1 - s) + sign * q[k][j] * s;
      squaredLength += out.attitude[k] ** 2;
    }
    const scale = squaredLength > 0 ? 1 / Math.sqrt(squaredLength) : 0;
    for (let k = 0; k < 4; ++k) out.attitude[k] *= scale;
  }
}

interface Place {
  latitude: number; // [rad]
  longitude: number;
  radius: number; // [m]
}

export interface Origin {
  place?: Place;
}

export function originOf(drones: Drone[]): Origin {
  for (const drone of drones) {
    const radius = drone.run.info.planet_radius ?? 0;
    const latitude = drone.streams.get("geodetic")?.column("latitude");
    const longitude = drone.streams.get("geodetic")?.column("longitude");
    if (radius > 0 && latitude && longitude) return { place: { latitude: latitude[0], longitude: longitude[0], radius } };
  }
  return {};
}

// East, north and up on a sphere of the planet's radius: for looking, not for measuring.
function overGround(drone: Drone, place: Place): [Float64Array, Float64Array[], Float64Array[]] {
  const table = drone.streams.get("geodetic")!;
  const [lat, lon, alt, yaw, pitch, roll] = ["latitude", "longitude", "altitude", "yaw", "pitch", "roll"].map((name) => table.column(name)!);
  const count = table.length;
  const position = [0, 1, 2].map(() => new Float64Array(count));
  const attitude = [0, 1, 2, 3].map(() => new Float64Array(count));
  for (let i = 0; i < count; ++i) {
    const longitudeOffset = Math.atan2(Math.sin(lon[i] - place.longitude), Math.cos(lon[i] - place.longitude));
    position[0][i] = longitudeOffset * Math.cos(place.latitude) * place.radius;
    position[1][i] = (lat[i] - place.latitude) * place.radius;
    position[2][i] = alt[i];
    fromPilotAngles(yaw[i], pitch[i], roll[i]).forEach((value, k) => (attitude[k][i] = value));
  }
  return [table.time, position, attitude];
}
