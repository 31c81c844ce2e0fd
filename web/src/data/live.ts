// live.ts - a flight that is under way: its records over a WebSocket, in Foxglove's protocol, and what can be set.
import { takeRecord, type Feed, type Run } from "./run";

const PROTOCOL = "foxglove.sdk.v1";
const BATCH_OPCODE = 0x80; // many messages at once: what the page gets in place of one each
const MESSAGE_HEAD = 16; // bytes before each: subscription, time, size

/// What the flight says of itself.
export interface LiveState {
  paused: boolean;
  speed: number; // times real time; 0: as fast as it goes
  status: string; // flying, then how it ended
  hash?: string; // at its end
  set: boolean; // pace and disturbances can be
  pilots: string[]; // names of drones that are flown from here
}

export interface LiveHost {
  changed(state: LiveState): void;
  reported(message: string): void; // records were dropped, something could not be set
  closed(): void;
}

interface Channel {
  id: number;
  topic: string;
}

type ServerMessage =
  | { op: "advertise"; channels: Channel[] }
  | { op: "parameterValues"; parameters: { name: string; value: unknown }[] }
  | { op: "status"; message: string }
  | { op: "serverInfo" };

/// What the page has of a topic already is in what is sent again: those of its last time are counted.
class ResumedFeed {
  private readonly known: number; // [s] time of the last record in the page
  private skip: number; // of that time

  constructor(private readonly run: Run, private readonly feed: Feed) {
    this.known = feed.last;
    this.skip = feed.count;
  }

  take(time: number, bytes: Uint8Array): void {
    if (time < this.known || (time === this.known && this.skip-- > 0)) return;
    takeRecord(this.run, this.feed, time, bytes);
  }
}

export class Live {
  state: LiveState = { paused: false, speed: 0, status: "flying", set: true, pilots: [] };
  records = 0; // received
  private readonly socket: WebSocket;
  private readonly resumed = new Map<number, ResumedFeed>(); // by subscription

  constructor(private readonly run: Run, private readonly host: LiveHost) {
    this.socket = new WebSocket(`ws://${location.host}${location.pathname}?history`, PROTOCOL);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") this.handleMessage(JSON.parse(data) as ServerMessage);
      else this.take(data);
    });
    this.socket.addEventListener("close", () => this.host.closed());
  }

  private handleMessage(message: ServerMessage): void {
    if (message.op === "advertise") this.subscribe(message.channels);
    if (message.op === "status") this.host.reported(message.message);
    if (message.op !== "parameterValues") return;
    const values = new Map(message.parameters.map(({ name, value }) => [name, value]));
    const hash = values.get("/flight/hash");
    this.state = {
      paused: values.get("/flight/paused") === true,
      speed: Number(values.get("/flight/speed") ?? 0),
      status: String(values.get("/flight/status") ?? "flying"),
      hash: hash === undefined ? undefined : String(hash),
      set: values.has("/flight/paused"),
      pilots: [...values.keys()].flatMap((name) => /^\/drones\/(.+)\/keys$/.exec(name)?.[1] ?? []),
    };
    this.host.changed(this.state);
  }

  private subscribe(channels: Channel[]): void {
    const subscribed = channels.filter(({ topic }) => this.run.feeds.has(topic));
    for (const { id, topic } of subscribed) this.resumed.set(id, new ResumedFeed(this.run, this.run.feeds.get(topic)!));
    this.send({ op: "subscribeParameterUpdates", parameterNames: [] });
    this.send({ op: "subscribe", subscriptions: subscribed.map(({ id }) => ({ id, channelId: id })) });
  }

  private take(data: ArrayBuffer): void {
    const view = new DataView(data);
    if (view.getUint8(0) !== BATCH_OPCODE) return; // the time, which the records have as well
    for (let offset = 1; offset + MESSAGE_HEAD <= data.byteLength; ) {
      const size = view.getUint32(offset + 12, true);
      const time = Number(view.getBigUint64(offset + 4, true)) / 1e9;
      this.resumed.get(view.getUint32(offset, true))?.take(time, new Uint8Array(data, offset + MESSAGE_HEAD, size));
      this.records += 1;
      offset += MESSAGE_HEAD + size;
    }
  }

  private send(message: object): void {
    const { socket } = this;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    // What somebody did before the connection was there.
    else if (socket.readyState === WebSocket.CONNECTING) socket.addEventListener("open", () => socket.send(JSON.stringify(message)), { once: true });
  }

  /// Set one of the flight's parameters: /flight/paused, /flight/speed, /flight/steps.
  set(name: string, value: boolean | number): void {
    this.send({ op: "setParameters", parameters: [{ name: `/flight/${name}`, value }] });
  }

  /// Do something to the flight: a push, a gust or a fault, in the keys of a scenario.
  inject(kind: string, keys: Record<string, unknown>): void {
    this.send({ op: "setParameters", parameters: [{ name: `/inject/${kind}`, value: JSON.stringify(keys) }] });
  }

  /// Press a key for a drone that is flown from here: those of docs/controllers.md.
  press(drone: string, key: string): void {
    this.send({ op: "setParameters", parameters: [{ name: `/drones/${drone}/keys`, value: key }] });
  }
}
