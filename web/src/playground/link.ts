// link.ts - the scenario in the page's address: #scenario=swarm for one as shipped, and with &text= for one that was changed.

export interface Linked {
  name?: string;
  text?: string;
}

async function transform(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

// Base64 without the letters that addresses use themselves.
export async function pack(text: string): Promise<string> {
  const bytes = await transform(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export async function unpackText(packed: string): Promise<string> {
  const binary = atob(packed.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(await transform(bytes, new DecompressionStream("deflate-raw")));
}

/// What the address says. Throws a sentence when its text is damaged.
export async function readLink(hash: string): Promise<Linked> {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const packed = parameters.get("text");
  const name = parameters.get("scenario") ?? undefined;
  if (packed === null) return { name };
  try {
    return { name, text: await unpackText(packed) };
  } catch {
    throw new Error("The scenario in this link is damaged or was cut off.");
  }
}

export async function linkTo(name: string, text: string | undefined): Promise<string> {
  const nameHash = `#scenario=${encodeURIComponent(name)}`;
  return text === undefined ? nameHash : `${nameHash}&text=${await pack(text)}`;
}
