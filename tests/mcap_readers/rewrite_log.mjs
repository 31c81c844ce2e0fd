// rewrite_log.mjs FROM TO - the same log, written anew with the npm package @mcap/core, without compression. The package is
// found from the working directory.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";

const require = createRequire(`${process.cwd()}/`);
const { McapIndexedReader, McapWriter, TempBuffer } = require("@mcap/core");

const [from, to] = process.argv.slice(2);
const bytes = readFileSync(from);
const readable = {
  size: async () => BigInt(bytes.length),
  read: async (offset, size) => new Uint8Array(bytes.subarray(Number(offset), Number(offset + size))),
};
const reader = await McapIndexedReader.Initialize({ readable });
const out = new TempBuffer();
const writer = new McapWriter({ writable: out, useChunks: true });
await writer.start({ profile: reader.header.profile, library: "rewritten" });
const schemas = new Map();
const channels = new Map();
for (const [id, s] of reader.schemasById) schemas.set(id, await writer.registerSchema(s));
for (const [id, c] of reader.channelsById)
  channels.set(id, await writer.registerChannel({ ...c, schemaId: schemas.get(c.schemaId) ?? 0 }));
for await (const a of reader.readAttachments()) await writer.addAttachment(a);
for await (const m of reader.readMetadata()) await writer.addMetadata(m);
for await (const m of reader.readMessages()) await writer.addMessage({ ...m, channelId: channels.get(m.channelId) });
await writer.end();
writeFileSync(to, out.get());
