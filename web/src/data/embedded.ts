// embedded.ts - what `volery view` has put into this page: a JSON text, and one packed log per run.

export interface RotorInfo {
  position: number[]; // [m] body
  spin: number; // +1 counter-clockwise from above
}

export interface ThrusterInfo {
  position: number[]; // [m] body
  axis: number[]; // of its force on the vehicle; zero: up
  thrust_max: number; // [N]
}

/// A sensor that looks along rays.
export interface RaysInfo {
  position: number[]; // [m] body, from the centre of mass
  ways: number[][]; // unit vectors, body
  late: number; // [s] from looking to the sample's arrival
}

/// A surface over a grid; of a large one every stride-th row and column, and the last.
export interface HeightsInfo {
  spacing: number; // [m] between neighbours
  rows: number;
  columns: number;
  stride: number;
  values: number[]; // [m] one row for each y
}

/// A shape in a frame of its own.
export interface SolidInfo {
  kind: string; // box, sphere, capsule, cylinder, hull, plane, heights
  size: number[]; // [m] of a box
  radius: number; // [m]
  length: number; // [m] of a capsule without its caps, of a cylinder
  points?: number[]; // [m] x, y, z after x, y, z
  heights?: HeightsInfo;
}

/// Something that never moves.
export interface ObstacleInfo {
  name: string;
  position: number[]; // [m] world
  attitude: number[]; // w, x, y, z
  solid: SolidInfo;
}

/// A wind field given by samples, of a large one every n-th; one moment after the other, x innermost, z outermost.
export interface WindInfo {
  times: number[]; // [s]
  first: number[]; // [m] the first node
  step: number[]; // [m] from node to node
  count: number[]; // nodes along x, y and z
  velocity: number[]; // [m/s] x, y, z of each node
}

export interface DroneInfo {
  name: string;
  vehicle?: string;
  mass?: number; // [kg]
  inertia?: number[]; // [kg m^2] rows
  speed_max?: number; // [rad/s]
  rotors?: RotorInfo[];
  thrusters?: ThrusterInfo[];
  solid?: SolidInfo; // of what has no rotors
  rays?: Record<string, RaysInfo>; // of each sensor that looks along rays
  setpoints?: number[][]; // [m] world
}

/// What holds two bodies together.
export interface JointInfo {
  name?: string;
  kind: string; // cable, spring, distance, ball, hinge, slider, fixed, universal
  a: number; // number of a drone or body, drones first; -1: the world
  b: number;
  anchor_a: number[]; // [m] body, from the centre of mass; world axes for the world
  anchor_b: number[];
  axis: number[]; // of a hinge or slider, in axes of a
  length: number; // [m] of a cable, a spring at ease, a rod
}

export interface EffectInfo {
  name: string;
  computed: boolean;
  impulse: number; // [N s] neglected at most
  angular_impulse: number; // [N m s]
}

export interface CertificateInfo {
  budget?: string; // how it stands, in words
  effects: EffectInfo[];
  changes: number; // decisions of the negligibility policy that changed
  total_impulse: number;
  total_angular_impulse: number;
  bounded: boolean;
  horizon: number; // [s]
  velocity: number; // [m/s]
  position: number; // [m]
}

export interface RunInfo {
  file: string;
  name?: string;
  version: string;
  physics: number;
  status: string;
  seed: string;
  dt: number; // [s]
  first_tick: number;
  last_tick: number;
  config_hash: string;
  final_hash: string;
  parent_hash?: string;
  parent_tick?: number;
  thinned: { truth: number; other: number; records: number; total: number; events_left: number };
  units?: Record<string, Record<string, string>>; // of streams' fields
  scenario: string;
  strict?: boolean;
  planet_radius?: number; // [m] 0: a flat world
  gravity?: number[]; // [m/s^2] where it is uniform
  drones: DroneInfo[];
  bodies?: DroneInfo[]; // what moves and is no drone: name, mass, inertia, solid
  joints?: JointInfo[];
  obstacles?: ObstacleInfo[]; // the terrain first, if there is one
  wind?: number[]; // [m/s] constant
  wind_field?: WindInfo;
  nap?: CertificateInfo[];
}

/// Where two runs part; the values are of the first full state at or after that step.
export interface DifferenceInfo {
  step: number;
  time_s: number;
  field?: string | null;
  field_step?: number;
  a?: number | null;
  b?: number | null;
}

export interface PageInfo {
  volery: string;
  live?: boolean; // the flight is under way: see live.ts
  runs: RunInfo[];
  comparison?: { identical: boolean; last_step: number; difference?: DifferenceInfo };
}

/// The text of an element that must be there.
function textOf(id: string): string {
  const element = document.getElementById(id);
  if (!element || !element.textContent) throw new Error(`This page is incomplete: it has no ${id}. Make it again.`);
  return element.textContent;
}

export function readInfo(): PageInfo {
  let info: PageInfo;
  try {
    info = JSON.parse(textOf("volery-info")) as PageInfo;
  } catch (error) {
    throw new Error(`This page is damaged: what it says of its runs cannot be read (${String(error)}).`);
  }
  if (!Array.isArray(info.runs) || info.runs.length === 0) throw new Error("This page holds no run.");
  return info;
}

// Browsers of before 2025 have no function for it.
function fromBase64(text: string): Uint8Array {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  if (fromBase64) return fromBase64.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/// The log of run `index`: an MCAP file.
export async function readLog(index: number): Promise<Uint8Array> {
  const id = `volery-log-${index}`;
  const element = document.getElementById(id);
  let packed: Uint8Array;
  try {
    packed = fromBase64(textOf(id));
  } catch (error) {
    throw new Error(`This page is damaged or was cut off: its records are no base64 (${String(error)}).`);
  }
  element?.remove(); // tens of MB of text that nobody needs again
  try {
    const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw new Error(`This page is damaged or was cut off: its records cannot be unpacked (${String(error)}).`);
  }
}
