// run.ts - one run: its drones with their streams, and its events, read from the log in the page.
import type { CertificateInfo, DroneInfo, RunInfo } from "./embedded";
import { walkLog } from "./mcap";
import { RowReader, textOf, wholeOf } from "./protobuf";
import { Table } from "./table";

export interface RunEvent {
  time: number; // [s]
  kind: string;
  drone: string;
  text: string;
}

/// Where the records of one topic go; a flight that is watched adds to it.
export interface Feed {
  take(time: number, bytes: Uint8Array): void;
  last: number; // [s] time of the last record
  count: number; // records of that time
}

/// One drone or body of one run.
export interface Drone {
  run: Run;
  index: number;
  name: string;
  info: DroneInfo;
  certificate?: CertificateInfo;
  streams: Map<string, Table>; // by the last part of the topic: truth, imu, ...
}

/// What the log says of one joint.
export interface JointStream {
  name: string;
  ends: string[]; // names of what it holds
  table: Table;
}

export interface Run {
  index: number; // 0, or 1 for the second of two
  compared: boolean; // there are two
  joints: JointStream[];
  contacts: Table; // one row per contact that began, went on or ended; empty where nothing collides
  info: RunInfo;
  drones: Drone[]; // and bodies behind them
  events: RunEvent[];
  feeds: Map<string, Feed>; // by topic
  start: number; // [s] of the first record
  end: number; // [s] of the last
}

const enum EventField { Kind = 3, Drone = 4, Text = 5 } // of volery.Event

function readEvent(bytes: Uint8Array, time: number): RunEvent {
  const [kind, drone, text] = [EventField.Kind, EventField.Drone, EventField.Text].map((number) => textOf(bytes, number));
  return { time, kind, drone, text };
}

/// Where the records of a topic go: /drones/NAME/STREAM, /bodies/NAME/STREAM, /joints/NAME or /contacts.
function tableOf(run: Run, topic: string, metadata: Map<string, string>): Table | undefined {
  if (topic === "/contacts") return run.contacts;
  const [empty, family, name, stream, ...more] = topic.split("/");
  if (empty !== "" || !name || more.length > 0) return undefined;
  const table = new Table();
  if (family === "joints" && stream === undefined) {
    run.joints.push({ name, ends: [metadata.get("a") ?? "", metadata.get("b") ?? ""], table });
    return table;
  }
  const drone = (family === "drones" || family === "bodies") && stream ? run.drones.find((d) => d.name === name) : undefined;
  drone?.streams.set(stream, table);
  return drone && table;
}

const REPLY_DRONE = 2; // the field of volery.Reply that says whose it is

// The replies of all drones share a channel; to each drone its own are a stream.
function makeReplyReader(run: Run, schema: { name: string; data: Uint8Array }): (time: number, bytes: Uint8Array) => void {
  const readers = new Map<Drone, RowReader>();
  return (time, bytes) => {
    const drone = run.drones[wholeOf(bytes, REPLY_DRONE)];
    if (!drone) return;
    let reader = readers.get(drone);
    if (!reader) {
      const table = new Table();
      drone.streams.set("reply", table);
      reader = new RowReader(schema.data, schema.name, table);
      readers.set(drone, reader);
    }
    reader.read(time, bytes);
  };
}

// A record has come, or is in the file.
function countRecord(run: Run, feed: Feed, time: number): void {
  run.start = Math.min(run.start, time);
  run.end = Math.max(run.end, time);
  feed.count = time === feed.last ? feed.count + 1 : 1;
  feed.last = time;
}

/// One more record of a topic.
export function takeRecord(run: Run, feed: Feed, time: number, bytes: Uint8Array): void {
  countRecord(run, feed, time);
  feed.take(time, bytes);
}

/// The records of a stream in the file, which become rows when somebody looks at them.
class PendingRows {
  private readonly times: number[] = [];
  private readonly places: number[] = []; // start and end of each

  constructor(private readonly reader: RowReader, private readonly table: Table) {}

  add(time: number, start: number, end: number): void {
    this.times.push(time);
    this.places.push(start, end);
  }

  putOff(file: DataView): void {
    const { times, places, reader } = this;
    if (times.length > 0) this.table.later(times.length, () => times.forEach((time, i) => reader.readAt(time, file, places[2 * i], places[2 * i + 1])));
  }
}

export function readRun(index: number, compared: boolean, info: RunInfo, file: Uint8Array, live = false): Run {
  const run: Run = { index, compared, info, joints: [], contacts: new Table(), drones: [], events: [], feeds: new Map(), start: Infinity, end: -Infinity };
  [...info.drones, ...(info.bodies ?? [])].forEach((drone, i) => {
    run.drones.push({ run, index: i, name: drone.name, info: drone, certificate: info.nap?.[i], streams: new Map() });
  });
  const schemas = new Map<number, { name: string; data: Uint8Array }>();
  const feeds: Feed[] = []; // by channel
  const rows: PendingRows[] = [];
  const add = (id: number, topic: string, take: Feed["take"]) => {
    feeds[id] = { take, last: -Infinity, count: 0 };
    run.feeds.set(topic, feeds[id]);
  };
  walkLog(file, {
    schema: ({ id, name, data }) => schemas.set(id, { name, data }),
    channel: ({ id, schemaId, topic, messageEncoding, metadata }) => {
      const schema = schemas.get(schemaId);
      if (id in feeds) return;
      if (topic === "/events") return add(id, topic, (time, bytes) => run.events.push(readEvent(bytes, time)));
      if (!schema || messageEncoding !== "protobuf") return;
      if (topic === "/replies") return add(id, topic, makeReplyReader(run, schema));
      const table = tableOf(run, topic, metadata);
      if (!table) return;
      const reader = new RowReader(schema.data, schema.name, table);
      rows[id] = new PendingRows(reader, table);
      add(id, topic, (time, bytes) => reader.read(time, bytes));
    },
    message: (channel, time, start, end) => {
      const feed = feeds[channel];
      if (!feed) return;
      countRecord(run, feed, time);
      if (rows[channel]) rows[channel].add(time, start, end);
      else feed.take(time, file.subarray(start, end));
    },
  });
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (const stream of rows) stream?.putOff(view);
  for (const drone of live ? [] : run.drones) {
    for (const [name, table] of drone.streams) if (table.empty) drone.streams.delete(name);
  }
  if (!(run.start <= run.end)) throw new Error(`${info.file} holds no record: there is nothing to show.`);
  if (!run.drones.some((drone) => drone.streams.has("truth"))) {
    throw new Error(`${info.file} does not say where anything was: there is nothing to show.`);
  }
  return run;
}
