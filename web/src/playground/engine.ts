// engine.ts - the page's end of the worker: one flight at a time, always of the latest text.
import type { Answer, Order, Outcome } from "./messages";
import { shipped, unpack } from "./shipped";

const GIVE_UP_AFTER = 1500; // [ms] a flight may take while a newer text waits; then it is given up

export interface Flight {
  text: string;
  path: string;
  outcome: Outcome;
  messages: string[];
  log?: Uint8Array; // MCAP
  ms: number; // in the worker: parse, fly, log, describe
}

interface FlightRequest {
  text: string;
  path: string;
  log: string;
}

export interface EngineHost {
  started(schema: string): void;
  begun(): void;
  flown(flight: Flight): void;
  broken(message: string): void;
}

export class Engine {
  private worker?: Worker;
  private ready = false;
  private flying?: FlightRequest & { id: number; since: number };
  private next?: FlightRequest;
  private count = 0;
  private readonly module: Promise<WebAssembly.Module>;

  constructor(private readonly host: EngineHost) {
    this.module = unpack(shipped().wasm).then((bytes) => WebAssembly.compile(bytes));
    this.start();
  }

  private start(): void {
    this.worker?.terminate();
    this.ready = false;
    this.flying = undefined;
    const source = URL.createObjectURL(new Blob([shipped().worker], { type: "text/javascript" }));
    const worker = new Worker(source);
    this.worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.handleAnswer(data);
    worker.onerror = (event) => this.host.broken(event.message || "the worker did not start");
    this.module.then(
      (module) => this.send({ kind: "start", module, files: shipped().files }),
      (error) => this.host.broken(String(error)),
    );
  }

  private send(order: Order): void {
    this.worker?.postMessage(order);
  }

  private handleAnswer(answer: Answer): void {
    if (answer.kind === "started") {
      this.ready = true;
      this.host.started(answer.schema);
    } else if (answer.kind === "broken") {
      this.host.broken(answer.message);
      this.start();
      return;
    } else if (this.flying?.id === answer.id) {
      const { text, path } = this.flying;
      this.flying = undefined;
      this.host.flown({ text, path, outcome: answer.outcome, messages: answer.messages, log: answer.log, ms: answer.ms });
    }
    this.go();
  }

  /// Fly this text as soon as can be; one that still waits is forgotten.
  fly(path: string, log: string, text: string): void {
    this.next = { path, log, text };
    if (this.flying && performance.now() - this.flying.since > GIVE_UP_AFTER) this.start();
    else if (this.flying) setTimeout(() => this.giveUp(), GIVE_UP_AFTER);
    this.go();
  }

  private giveUp(): void {
    if (this.next && this.flying && performance.now() - this.flying.since > GIVE_UP_AFTER) this.start();
  }

  get busy(): boolean {
    return this.flying !== undefined || this.next !== undefined;
  }

  /// End the flight that is under way.
  stop(): void {
    this.next = undefined;
    if (this.flying) this.start();
  }

  private go(): void {
    if (!this.ready || this.flying || !this.next) return;
    this.flying = { ...this.next, id: ++this.count, since: performance.now() };
    this.next = undefined;
    const { id, path, log, text } = this.flying;
    this.host.begun();
    this.send({ kind: "fly", id, path, log, text });
  }
}
