// shipped.ts - what web/playground/build.sh has put beside this script: the simulator, and the files that are shipped with it.

export interface Shipped {
  wasm: string; // base64 of gzip
  worker: string; // source of the worker
  files: Record<string, string>; // by path: scenarios/*.yaml, vehicles/*.yaml, tables
}

/// Set by engine.js.
export function shipped(): Shipped {
  const found = (globalThis as unknown as { voleryShipped?: Shipped }).voleryShipped;
  if (!found) throw new Error("This page is incomplete: the simulator is missing. Make it again with make playground.");
  return found;
}

/// Names of the scenarios: scenarios/swarm.yaml is swarm.
export function scenarioNames(): string[] {
  return Object.keys(shipped().files).flatMap((path) => /^scenarios\/(.+)\.yaml$/.exec(path)?.[1] ?? []);
}

export function pathOf(name: string): string {
  return `scenarios/${name}.yaml`;
}

export async function unpack(base64: string): Promise<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
