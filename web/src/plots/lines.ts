// lines.ts - what can be plotted of a drone: groups of lines, straight from the log or worked out from it.
import { pilotAngles } from "../data/attitude";
import type { Drone } from "../data/run";
import { indexAt, type Table } from "../data/table";
import { vectorNames } from "../scene/arrows";

export type Dash = "solid" | "dashed" | "dotted";

export interface PlotLine {
  label: string;
  time: Float64Array;
  values: Float64Array;
  color: number; // index into the theme's lines
  dash: Dash;
  secondary?: boolean; // less important: left out when two runs are compared
}

export interface PlotGroup {
  id: string;
  title: string;
  unit: string;
  lines(drone: Drone): PlotLine[];
  between?(a: Drone, b: Drone): PlotLine[]; // of two runs
}

const AXES = ["x", "y", "z"];

function axes(drone: Drone, stream: string, field: string, prefix: string, dash: Dash, secondary = false): PlotLine[] {
  const table = drone.streams.get(stream);
  const columns = table?.vector(field, "xyz");
  if (!table || !columns || (secondary && !columns.some((column) => column.some((value) => value !== 0)))) return [];
  return columns.map((values, k) => ({ label: `${prefix}${AXES[k]}`, time: table.time, values, color: k, dash, secondary }));
}

function list(drone: Drone, stream: string, field: string, dash: Dash): PlotLine[] {
  const table = drone.streams.get(stream);
  return (table?.list(field) ?? []).map((values, k) => ({ label: `${k}`, time: table!.time, values, color: k, dash }));
}

function single(drone: Drone, stream: string, field: string, label: string, color: number, dash: Dash, secondary = false): PlotLine[] {
  const table = drone.streams.get(stream);
  const values = table?.column(field);
  return table && values ? [{ label, time: table.time, values, color, dash, secondary }] : [];
}

/// A line worked out at the times of a table.
function computed(table: Table, label: string, color: number, dash: Dash, value: (i: number) => number, secondary = false): PlotLine {
  const values = new Float64Array(table.length);
  for (let i = 0; i < values.length; ++i) values[i] = value(i);
  return { label, time: table.time, values, color, dash, secondary };
}

// Angles that go on beyond half a turn instead of jumping.
function unwrap(line: PlotLine): PlotLine {
  for (let i = 1; i < line.values.length; ++i) {
    line.values[i] -= 360 * Math.round((line.values[i] - line.values[i - 1]) / 360);
  }
  return line;
}

function angles(drone: Drone, stream: string, prefix: string, dash: Dash, secondary = false): PlotLine[] {
  const table = drone.streams.get(stream);
  const q = table?.vector("attitude", "wxyz");
  if (!table || !q || !q.slice(1).some((column) => column.some((value) => value !== 0))) return []; // never set
  return ["roll", "pitch", "heading"].map((name, k) =>
    unwrap(computed(table, prefix + name, k, dash, (i) => pilotAngles(q[0][i], q[1][i], q[2][i], q[3][i])[k], secondary)),
  );
}

// On a planet, over the ground below.
function anglesOverGround(drone: Drone): PlotLine[] {
  const table = drone.streams.get("geodetic");
  if (!table) return [];
  return ["roll", "pitch", "yaw"].flatMap((name, k) => {
    const radians = table.column(name);
    return radians ? [unwrap(computed(table, name === "yaw" ? "heading" : name, k, "solid", (i) => (radians[i] * 180) / Math.PI))] : [];
  });
}

const HEADING = 2; // of roll, pitch, heading; it has a plot of its own, since it is large where the others are small

function allAngles(drone: Drone): PlotLine[] {
  if (drone.streams.has("geodetic")) return anglesOverGround(drone);
  return [...angles(drone, "truth", "", "solid"), ...angles(drone, "control", "desired ", "dashed", true)];
}

// The distance of the truth from where it should be, axis by axis, at the times of the reference.
function errors(drone: Drone): PlotLine[] {
  const truth = drone.streams.get("truth");
  const reference = drone.streams.get("reference");
  const actual = truth?.vector("position", "xyz");
  const desired = reference?.vector("position", "xyz");
  if (!truth || !reference || !actual || !desired) return [];
  const rows = sameTimes(reference.time, truth.time);
  const lines = actual.map((column, k) => computed(reference, AXES[k], k, "solid", (i) => (rows[i] < 0 ? NaN : column[rows[i]] - desired[k][i])));
  const total = computed(reference, "length", 6, "solid", (i) => Math.hypot(...lines.map((line) => line.values[i])));
  return [...lines, total];
}

/// For each of `times` the row of `others` at exactly that time, or -1.
function sameTimes(times: Float64Array, others: Float64Array): Int32Array {
  const rows = new Int32Array(times.length);
  for (let i = 0; i < times.length; ++i) {
    const row = indexAt(others, times[i] + 1e-9);
    rows[i] = others.length > 0 && Math.abs(others[row] - times[i]) < 2e-9 ? row : -1;
  }
  return rows;
}

// What a sensor says beyond the truth, at the times of its samples.
function beyondTruth(drone: Drone, stream: string, field: string, truthField: string, prefix: string, dash: Dash): PlotLine[] {
  const truth = drone.streams.get("truth");
  const sensor = drone.streams.get(stream);
  const truthColumns = truth?.vector(truthField, "xyz");
  const measured = sensor?.vector(field, "xyz");
  if (!truth || !sensor || !truthColumns || !measured) return [];
  const rows = sameTimes(sensor.time, truth.time);
  return measured.map((column, k) => computed(sensor, prefix + AXES[k], k, dash, (i) => (rows[i] < 0 ? NaN : column[i] - truthColumns[k][rows[i]])));
}

// The same of single numbers and of lists: columns by name.
function numbersBeyond(drone: Drone, stream: string, truthStream: string, pairs: [string, string, string][]): PlotLine[] {
  const truth = drone.streams.get(truthStream);
  const sensor = drone.streams.get(stream);
  if (!truth || !sensor) return [];
  const rows = sameTimes(sensor.time, truth.time);
  return pairs.flatMap(([measuredColumn, truthColumn, label], k) => {
    const [measured, actual] = [sensor.column(measuredColumn), truth.column(truthColumn)];
    return measured && actual ? [computed(sensor, label, k, "solid", (i) => (rows[i] < 0 ? NaN : measured[i] - actual[rows[i]]))] : [];
  });
}

function speedsBeyond(drone: Drone): PlotLine[] {
  const rotors = drone.streams.get("esc")?.list("speed") ?? [];
  return numbersBeyond(drone, "esc", "truth", rotors.map((_, k) => [`speed[${k}]`, `rotor_speed[${k}]`, `${k}`]));
}

// As the run has accounted for it, or worked out from where the drone was.
function energies(drone: Drone): PlotLine[] {
  const logged = ["kinetic", "potential"].flatMap((name, k) => single(drone, "energy", name, name, 2 * k, k === 0 ? "solid" : "dashed"));
  if (logged.length > 0) return logged;
  const truth = drone.streams.get("truth");
  const { mass, inertia } = drone.info;
  const gravity = drone.run.info.gravity;
  const [p, v, w] = ["position", "velocity", "rate"].map((name) => truth?.vector(name, "xyz"));
  if (!truth || !mass || !inertia || !gravity || !p || !v || !w) return [];
  const kinetic = computed(truth, "kinetic", 0, "solid", (i) => {
    let twice = 0;
    for (let a = 0; a < 3; ++a) {
      twice += mass * v[a][i] ** 2;
      for (let b = 0; b < 3; ++b) twice += w[a][i] * inertia[3 * a + b] * w[b][i];
    }
    return twice / 2;
  });
  const potential = computed(truth, "potential", 2, "dashed", (i) => -mass * (gravity[0] * p[0][i] + gravity[1] * p[1][i] + gravity[2] * p[2][i]));
  return [kinetic, potential, computed(truth, "sum", 6, "dotted", (i) => kinetic.values[i] + potential.values[i])];
}

// Work since the start, where the run has kept an account of it.
function work(drone: Drone): PlotLine[] {
  const table = drone.streams.get("energy");
  const names = (table?.names ?? []).filter((name) => name !== "kinetic" && name !== "potential");
  const nonzero = names.filter((name) => table?.column(name)?.some((value) => value !== 0));
  return nonzero.flatMap((name, k) => single(drone, "energy", name, name.replace(/_/g, " "), k, DASHES[Math.floor(k / 8) % 3]));
}

// What the joints of a drone carry and how they stand; those that stay zero are left out.
function joints(drone: Drone, field: string): PlotLine[] {
  const droneJoints = drone.run.joints.filter((joint) => joint.ends.includes(drone.name));
  return droneJoints.flatMap(({ name, table }, k) => {
    const values = table.column(field);
    if (!values?.some((value) => value !== 0)) return [];
    return [{ label: name, time: table.time, values, color: k, dash: DASHES[Math.floor(k / 8) % 3] }];
  });
}

function jointForces(drone: Drone): PlotLine[] {
  const droneJoints = drone.run.joints.filter((joint) => joint.ends.includes(drone.name) && vectorNames(joint.table).includes("force"));
  return droneJoints.map(({ name, table }, k) => {
    const [x, y, z] = table.vector("force", "xyz")!;
    return computed(table, name, k, DASHES[Math.floor(k / 8) % 3], (i) => Math.hypot(x[i], y[i], z[i]));
  });
}

const DASHES: Dash[] = ["solid", "dashed", "dotted"];

// How large each effect's vector is; the list follows the log.
function lengths(drone: Drone, stream: string): PlotLine[] {
  const table = drone.streams.get(stream);
  if (!table) return [];
  const names = vectorNames(table).filter((name) => name !== "wind");
  return names.map((name, k) => {
    const [x, y, z] = table.vector(name, "xyz")!;
    return computed(table, name.replace(/_/g, " "), k, DASHES[Math.floor(k / 8) % 3], (i) => Math.hypot(x[i], y[i], z[i]));
  });
}

// What the groups below show of each stream. Whatever else a log has gets a group of its own, so that nothing is hidden.
const SHOWN: Record<string, string[] | "all"> = {
  truth: ["position", "velocity", "attitude", "rate", "rotor_speed"],
  acceleration: ["acceleration"],
  estimate: ["position", "velocity", "attitude", "rate"],
  imu: ["accel", "gyro"],
  mocap: ["position", "attitude"],
  gps: ["position", "velocity"],
  baro: ["altitude"],
  power: ["voltage", "current"],
  esc: ["speed"],
  control: ["attitude", "rates", "torque", "thrust", "motors"],
  reference: ["position", "yaw"],
  battery: ["voltage", "current", "charge"],
  energy: "all",
  filter: "all",
  thrusters: ["thrust"],
  forces: "all",
  torques: "all",
  geodetic: "all",
  ground: "all",
  reply: ["tick", "drone", "check"],
};

/// Columns of a table that belong to a field: itself, or its components.
function columnsOf(table: Table, field: string): string[] {
  return table.names.filter((name) => name.split(/[.[]/)[0] === field);
}

// Units are names from the log's own description; a page from elsewhere may have none.
function unitOf(drone: Drone, stream: string, field: string): string {
  const units = drone.run.info.units;
  const streamUnits = units && Object.prototype.hasOwnProperty.call(units, stream) ? units[stream] : {};
  return Object.prototype.hasOwnProperty.call(streamUnits, field) ? streamUnits[field].replace("^2", "²") : "";
}

function otherGroups(drones: Drone[]): PlotGroup[] {
  const groups = new Map<string, PlotGroup>();
  for (const drone of drones) {
    for (const [stream, table] of drone.streams) {
      const shown = Object.prototype.hasOwnProperty.call(SHOWN, stream) ? SHOWN[stream] : [];
      if (shown === "all") continue;
      for (const field of new Set(table.names.map((name) => name.split(/[.[]/)[0]))) {
        if (shown.includes(field)) continue;
        if (stream === "reply" && !columnsOf(table, field).some((name) => table.column(name)!.some((value) => value !== 0))) continue;
        const id = `${stream}-${field}`;
        groups.set(id, { id, title: `${stream} ${field.replace(/_/g, " ")}`, unit: unitOf(drone, stream, field), lines: (d) => allOf(d, stream, field) });
      }
    }
  }
  return [...groups.values()].slice(0, 40);
}

// A value that is not finite is a gap: what a controller shows of itself may be anything.
function finite(values: Float64Array): Float64Array {
  return values.every(Number.isFinite) ? values : values.map((value) => (Number.isFinite(value) ? value : NaN));
}

function allOf(drone: Drone, stream: string, field: string): PlotLine[] {
  const table = drone.streams.get(stream);
  if (!table) return [];
  return columnsOf(table, field)
    .slice(0, 16)
    .map((name, k) => ({ label: name.slice(field.length).replace(/^\./, "") || name, time: table.time, values: finite(table.column(name)!), color: k, dash: DASHES[Math.floor(k / 8) % 3] }));
}

// How far two runs are apart: A less B, at the records of A that B has, too.
function differences(a: Drone, b: Drone, field: string): PlotLine[] {
  const [truthA, truthB] = [a.streams.get("truth"), b.streams.get("truth")];
  const [valuesA, valuesB] = [truthA?.vector(field, "xyz"), truthB?.vector(field, "xyz")];
  if (!truthA || !truthB || !valuesA || !valuesB) return [];
  const rows = sameTimes(truthA.time, truthB.time);
  const lines = valuesA.map((column, k) => computed(truthA, AXES[k], k, "solid", (i) => (rows[i] < 0 ? NaN : column[i] - valuesB[k][rows[i]])));
  return [...lines, computed(truthA, "distance", 6, "solid", (i) => Math.hypot(...lines.map((line) => line.values[i])))];
}

// What the filter says its error is, three standard deviations either way.
function bounds(drone: Drone): PlotLine[] {
  const table = drone.streams.get("filter");
  const variance = table?.vector("variance", "xyz");
  if (!table || !variance) return [];
  return variance.flatMap((column, k) => [1, -1].map((side) => computed(table, `${side > 0 ? "+" : "−"}3σ ${AXES[k]}`, k, "dotted", (i) => 3 * side * Math.sqrt(column[i]), true)));
}

export function plotGroups(drones: Drone[]): PlotGroup[] {
  const groups: PlotGroup[] = [
    { id: "apart", title: "position, A − B", unit: "m", lines: () => [], between: (a, b) => differences(a, b, "position") },
    { id: "apart-velocity", title: "velocity, A − B", unit: "m/s", lines: () => [], between: (a, b) => differences(a, b, "velocity") },
    { id: "position", title: "position", unit: "m", lines: (d) => [...axes(d, "truth", "position", "", "solid"), ...axes(d, "reference", "position", "desired ", "dashed", true)] },
    { id: "error", title: "position error", unit: "m", lines: errors },
    { id: "velocity", title: "velocity", unit: "m/s", lines: (d) => [...axes(d, "truth", "velocity", "", "solid"), ...axes(d, "estimate", "velocity", "estimated ", "dotted", true)] },
    { id: "acceleration", title: "acceleration", unit: "m/s²", lines: (d) => axes(d, "acceleration", "acceleration", "", "solid") },
    { id: "attitude", title: "attitude", unit: "deg", lines: (d) => allAngles(d).filter((line) => line.color < HEADING) },
    { id: "heading", title: "heading", unit: "deg", lines: (d) => allAngles(d).filter((line) => line.color === HEADING) },
    { id: "rates", title: "body rates", unit: "rad/s", lines: (d) => [...axes(d, "truth", "rate", "", "solid"), ...axes(d, "control", "rates", "desired ", "dashed", true)] },
    { id: "motors", title: "motor commands", unit: "", lines: (d) => list(d, "control", "motors", "solid") },
    { id: "rotors", title: "rotor speeds", unit: "rad/s", lines: (d) => list(d, "truth", "rotor_speed", "solid") },
    { id: "thrusters", title: "thrust of thrusters", unit: "N", lines: (d) => list(d, "thrusters", "thrust", "solid") },
    { id: "voltage", title: "battery voltage", unit: "V", lines: (d) => [...single(d, "battery", "voltage", "voltage", 2, "solid"), ...single(d, "power", "voltage", "measured", 6, "dotted", true)] },
    { id: "current", title: "battery current", unit: "A", lines: (d) => [...single(d, "battery", "current", "current", 0, "solid"), ...single(d, "power", "current", "measured", 6, "dotted", true)] },
    { id: "charge", title: "battery charge", unit: "A s", lines: (d) => single(d, "battery", "charge", "charge", 1, "solid") },
    { id: "thrust", title: "desired thrust", unit: "N", lines: (d) => single(d, "control", "thrust", "thrust", 2, "solid") },
    { id: "torque", title: "desired torque", unit: "N m", lines: (d) => axes(d, "control", "torque", "", "solid", true) },
    { id: "mocap", title: "motion capture − truth", unit: "m", lines: (d) => beyondTruth(d, "mocap", "position", "position", "", "solid") },
    { id: "gyro", title: "gyro − truth", unit: "rad/s", lines: (d) => beyondTruth(d, "imu", "gyro", "rate", "", "solid") },
    { id: "estimate", title: "estimate − truth", unit: "m", lines: (d) => [...beyondTruth(d, "estimate", "position", "position", "", "solid"), ...bounds(d)] },
    { id: "gps", title: "GPS position − truth", unit: "m", lines: (d) => beyondTruth(d, "gps", "position", "position", "", "solid") },
    { id: "gps-velocity", title: "GPS velocity − truth", unit: "m/s", lines: (d) => beyondTruth(d, "gps", "velocity", "velocity", "", "solid") },
    {
      id: "baro",
      title: "barometer − truth",
      unit: "m",
      lines: (d) =>
        d.streams.has("geodetic")
          ? numbersBeyond(d, "baro", "geodetic", [["altitude", "altitude", "altitude"]])
          : numbersBeyond(d, "baro", "truth", [["altitude", "position.z", "altitude"]]),
    },
    { id: "esc", title: "ESC speeds − truth", unit: "rad/s", lines: speedsBeyond },
    { id: "accel", title: "accelerometer", unit: "m/s²", lines: (d) => axes(d, "imu", "accel", "", "solid") },
    { id: "forces", title: "forces by effect", unit: "N", lines: (d) => lengths(d, "forces") },
    { id: "torques", title: "torques by effect", unit: "N m", lines: (d) => lengths(d, "torques") },
    { id: "wind", title: "wind", unit: "m/s", lines: (d) => (vectorNames(d.streams.get("forces")).includes("wind") ? axes(d, "forces", "wind", "", "solid") : []) },
    { id: "energy", title: "energy", unit: "J", lines: energies },
    { id: "work", title: "work since the start", unit: "J", lines: work },
    { id: "tension", title: "tension of joints", unit: "N", lines: (d) => joints(d, "tension") },
    { id: "joint-force", title: "force of joints", unit: "N", lines: jointForces },
    { id: "joint-angle", title: "angle of joints", unit: "rad, m", lines: (d) => joints(d, "angle") },
    { id: "altitude", title: "altitude", unit: "m", lines: (d) => single(d, "geodetic", "altitude", "altitude", 2, "solid") },
    { id: "height", title: "height over the ground", unit: "m", lines: (d) => single(d, "ground", "height", "height", 2, "solid") },
    {
      id: "ground-speed",
      title: "speeds over the ground",
      unit: "m/s",
      lines: (d) => [
        ...single(d, "ground", "ground_speed", "ground", 0, "solid"),
        ...single(d, "ground", "air_speed", "air", 1, "solid"),
        ...single(d, "ground", "climb", "climb", 2, "solid"),
      ],
    },
    { id: "track", title: "track, clockwise from north", unit: "rad", lines: (d) => single(d, "ground", "track", "track", 0, "solid") },
  ];
  return [...groups, ...otherGroups(drones)];
}
