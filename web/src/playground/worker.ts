// worker.ts - the simulator in a worker: a text in, the log and what is to be said of it out.
import type { Answer, Order, Outcome } from "./messages";

interface Volery {
  ccall(name: string, returns: "string", types: string[], values: string[]): string;
  FS: {
    mkdirTree(path: string): void;
    writeFile(path: string, text: string): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
    readdir(path: string): string[];
    chdir(path: string): void;
  };
}

// Emscripten's script stands before this one.
declare function createVolery(options: object): Promise<Volery>;

const HOME = "/volery"; // where the files are; only this call needs to know
let volery: Volery | undefined;
let messages: string[] = [];

function answer(reply: Answer, transferred: Transferable[] = []): void {
  (self as unknown as { postMessage(message: Answer, transferred: Transferable[]): void }).postMessage(reply, transferred);
}

async function start(module: WebAssembly.Module, files: Record<string, string>): Promise<void> {
  volery = await createVolery({
    instantiateWasm: (imports: WebAssembly.Imports, onInstance: (instance: WebAssembly.Instance) => void) => {
      void WebAssembly.instantiate(module, imports).then(onInstance);
      return {};
    },
    print: () => undefined,
    printErr: (line: string) => messages.push(line),
  });
  volery.FS.mkdirTree(`${HOME}/logs`);
  volery.FS.chdir(HOME);
  for (const [path, text] of Object.entries(files)) {
    volery.FS.mkdirTree(`${HOME}/${path.slice(0, path.lastIndexOf("/"))}`);
    volery.FS.writeFile(path, text);
  }
  answer({ kind: "started", schema: volery.ccall("vy_playground_schema", "string", [], []) });
}

function fly({ FS, ccall }: Volery, { id, path, log, text }: Order & { kind: "fly" }): void {
  const startedAt = performance.now();
  messages = [];
  FS.mkdirTree(`${HOME}/${path.slice(0, path.lastIndexOf("/"))}`);
  FS.writeFile(path, text);
  const file = `logs/${log}`;
  const outcome = JSON.parse(ccall("vy_playground_fly", "string", ["string", "string"], [path, file])) as Outcome;
  const bytes = outcome.flown ? FS.readFile(file) : undefined;
  for (const name of FS.readdir("logs")) if (!name.startsWith(".")) FS.unlink(`logs/${name}`);
  answer({ kind: "flown", id, outcome, messages, log: bytes, ms: performance.now() - startedAt }, bytes ? [bytes.buffer] : []);
}

self.onmessage = ({ data }: MessageEvent<Order>) => {
  const broken = (error: unknown) => answer({ kind: "broken", id: data.kind === "fly" ? data.id : 0, message: error instanceof Error ? error.message : String(error) });
  if (data.kind === "start") {
    start(data.module, data.files).catch(broken);
    return;
  }
  try {
    fly(volery!, data);
  } catch (error) {
    broken(error); // memory is out, or an assertion failed: the page starts another worker
  }
};
