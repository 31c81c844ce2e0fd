// messages.ts - what page and worker say to each other.
import type { RunInfo } from "../data/embedded";

/// To the worker: first `start`, then any number of `fly`.
export type Order =
  | { kind: "start"; module: WebAssembly.Module; files: Record<string, string> }
  | { kind: "fly"; id: number; path: string; log: string; text: string };

/// A mistake in the text, as `volery check --json` has it.
export interface Diagnostic {
  file: string;
  line: number; // from 1; 0: it has none
  column: number; // from 1, in characters
  text: string;
}

/// What vy_playground_fly() returns.
export interface Outcome {
  flown: boolean;
  errors: Diagnostic[];
  warnings: Diagnostic[];
  error?: string; // the sentence, where it was not flown
  outcome?: string; // completed or failed
  reason?: string;
  final_hash?: string;
  fly_s?: number; // [s] flying and logging
  run?: RunInfo;
}

export type Answer =
  | { kind: "started"; schema: string }
  | { kind: "flown"; id: number; outcome: Outcome; messages: string[]; log?: Uint8Array; ms: number } // messages: lines on standard error
  | { kind: "broken"; id: number; message: string }; // it cannot go on
