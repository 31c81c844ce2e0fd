// read_log.mjs - reads what write_log.c wrote with the npm package @mcap/core, compares every value and count.
// usage: node read_log.mjs WHOLE... --torn TORN; packages are found from the working directory.
import assert from "node:assert/strict";
import { open, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename } from "node:path";

const require = createRequire(`${process.cwd()}/`);
const { McapIndexedReader, McapStreamReader } = require("@mcap/core");
const fzstd = require("fzstd");
const protobuf = require("protobufjs");
const { FileDescriptorSet } = require("protobufjs/ext/descriptor");

const STATES = 5000n;
const PERIOD = 1000000n;
const EVERY = { "/state": 1n, "/pose": 10n, "/events": 250n, "/scene": 1000n };
const COUNTS = Object.fromEntries(Object.entries(EVERY).map(([topic, every]) => [topic, STATES / every]));
const TOTAL = Object.values(COUNTS).reduce((a, b) => a + b);
const decompressHandlers = { zstd: (data, size) => fzstd.decompress(data, new Uint8Array(Number(size))) };

function decoder(schema) {
  const root = protobuf.Root.fromDescriptor(FileDescriptorSet.decode(schema.data));
  const type = root.lookupType(schema.name);
  const options = { longs: String, enums: String, defaults: true, bytes: Array };
  return (data) => type.toObject(type.decode(data), options);
}

const checks = {
  "/state": (k, m) => {
    const x = Number(k);
    assert.equal(m.tick, String(k));
    assert.equal(m.hash, String(BigInt.asUintN(64, k * 0x9e3779b97f4a7c15n)));
    assert.deepEqual(m.position, { x: 0.5 * x, y: -x, z: 1 / (x + 1) });
    assert.deepEqual(m.speeds, [x, x + 0.25, x + 0.5, x + 0.75]);
    assert.equal(m.offset, String(-k * 1000000007n));
    assert.equal(m.small, 2500 - x);
    assert.equal(m.flying, x % 2 === 1);
    assert.deepEqual(m.counts, [0, x, 4294967295]);
  },
  "/pose": (k, m) => {
    const ns = k * PERIOD;
    assert.deepEqual(m.timestamp, { seconds: String(ns / 1000000000n), nanos: Number(ns % 1000000000n) });
    assert.equal(m.frame_id, "world");
    assert.deepEqual(m.pose.position, { x: Number(k), y: 0, z: -0.125 * Number(k) });
    assert.deepEqual(m.pose.orientation, { x: 0, y: 0, z: 0, w: 1 });
  },
  "/scene": (k, m) => {
    assert.equal(m.lines.length, 2);
    m.lines.forEach((line, i) => {
      assert.equal(line.type, ["LINE_LOOP", "LINE_LIST"][i]);
      assert.equal(line.points.length, 20);
      line.points.forEach((p, j) => assert.deepEqual(p, { x: Number(k) + j, y: i, z: 0 }));
      assert.equal(line.label, "Flügel");
      assert.deepEqual(line.mesh, [0, 1, 2]);
    });
  },
  "/events": (k, m) => assert.deepEqual(m, { tick: String(k), text: "mark ü ?(?" }),
};

async function readIndexed(path) {
  const file = await open(path);
  const readable = {
    size: async () => BigInt((await file.stat()).size),
    read: async (offset, size) => {
      const data = new Uint8Array(Number(size));
      const { bytesRead } = await file.read(data, 0, Number(size), Number(offset));
      assert.equal(bytesRead, Number(size));
      return data;
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  assert.equal(reader.header.library, "volery test");
  const decoders = new Map();
  for (const channel of reader.channelsById.values()) {
    const schema = reader.schemasById.get(channel.schemaId);
    decoders.set(channel.id, decoder(schema));
    assert.equal(reader.statistics.channelMessageCounts.get(channel.id), COUNTS[channel.topic]);
    assert.equal(channel.metadata.get("units"), "SI");
  }
  const seen = Object.fromEntries(Object.keys(EVERY).map((topic) => [topic, 0n]));
  for await (const message of reader.readMessages()) {
    const { topic } = reader.channelsById.get(message.channelId);
    const k = seen[topic] * EVERY[topic];
    assert.equal(message.sequence, Number(seen[topic]));
    assert.equal(message.logTime, k * PERIOD);
    assert.equal(message.publishTime, k * PERIOD);
    checks[topic](k, decoders.get(message.channelId)(message.data));
    seen[topic] += 1n;
  }
  assert.deepEqual(seen, COUNTS);

  const times = [];
  const second = { topics: ["/pose"], startTime: 1000000000n, endTime: 1990000000n };
  for await (const message of reader.readMessages(second)) times.push(message.logTime);
  assert.deepEqual(times, Array.from({ length: 100 }, (_, i) => 1000000000n + BigInt(i) * 10n * PERIOD));

  for await (const a of reader.readAttachments()) {
    assert.deepEqual([a.name, a.mediaType], ["scenario.yaml", "application/yaml"]);
    assert.equal(new TextDecoder().decode(a.data), "volery: 1\n");
  }
  for await (const m of reader.readMetadata()) {
    assert.deepEqual([m.name, Object.fromEntries(m.metadata)], ["run", { seed: "42", name: "Flügel" }]);
  }
  assert.deepEqual([reader.statistics.attachmentCount, reader.statistics.metadataCount], [1, 1]);
  await file.close();
}

async function readTorn(path) {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  reader.append(await readFile(path));
  let count = 0;
  for (let record; (record = reader.nextRecord()); ) if (record.type === "Message") ++count;
  assert.ok(count > 0 && count < Number(TOTAL));
  assert.equal(reader.done(), false);
  console.log(`torn file: ${count} messages`);
}

const torn = process.argv.indexOf("--torn");
for (const path of process.argv.slice(2, torn)) {
  await readIndexed(path);
  console.log(`node @mcap/core: ${basename(path)}: ${TOTAL} messages agree`);
}
await readTorn(process.argv[torn + 1]);
