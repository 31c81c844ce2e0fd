// foxglove.mjs VOLERY FOLDER - Foxglove's own client (@foxglove/ws-protocol) watches a flight: channels, messages, time, parameters.
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , volery, folder] = process.argv;
const require = createRequire(join(folder, "node_modules", "x.js"));
const { FoxgloveClient } = require("@foxglove/ws-protocol");
const WebSocket = require("ws");
let checks = 0;

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  console.log(`foxglove: FAILED: ${what} ${told}`);
  process.exit(1);
}

const log = join(folder, "foxglove.mcap");
const flight = spawn(volery, ["run", "first-flight", "-q", "-o", log, "--watch"], { stdio: ["ignore", "inherit", "pipe"] });
const ended = new Promise((done) => flight.on("exit", done));
let told = "";
const address = await new Promise((found) => flight.stderr.on("data", (data) => (told += data) && /http:\S+\/\n/.test(told) && found(told.match(/http:\S+/)[0])));

const socket = new WebSocket(address.replace(/^http/, "ws"), ["foxglove.sdk.v1"]);
const client = new FoxgloveClient({ ws: socket });
const next = (name) => new Promise((heard) => client.on(name, heard));
client.on("error", (error) => check("no error", false, error.message));
const [info, channels] = await Promise.all([next("serverInfo"), next("advertise")]);
check("it says what it can do", ["time", "parameters", "parametersSubscribe"].every((word) => info.capabilities.includes(word)), JSON.stringify(info));
const byTopic = new Map(channels.map((channel) => [channel.topic, channel]));
for (const [topic, schema] of [["/drones/alpha/truth", "volery.Truth"], ["/tf", "foxglove.FrameTransforms"], ["/scene", "foxglove.SceneUpdate"]]) {
  const channel = byTopic.get(topic);
  check(`channel ${topic}`, channel?.encoding === "protobuf" && channel.schemaEncoding === "protobuf" && Buffer.from(channel.schema, "base64").includes(schema.split(".")[1]), JSON.stringify(channel)?.slice(0, 200));
}

// Parameters before the first step: paused, then let go.
client.subscribeParameterUpdates(["/flight/paused"]);
const once = (id) => new Promise((heard) => client.on("parameterValues", (message) => message.id === id && heard(new Map(message.parameters.map(({ name, value }) => [name, value])))));
const paused = once("p");
client.setParameters([{ name: "/flight/paused", value: true }], "p");
check("a parameter is set", (await paused).get("/flight/paused") === true);
const asked = once("g");
client.getParameters(["/flight/speed", "/flight/status"], "g");
const got = await asked;
check("parameters by name", got.size === 2 && got.get("/flight/speed") === 0 && got.get("/flight/status") === "flying", JSON.stringify([...got]));

const count = new Map();
let time = 0n;
const topics = new Map(["/drones/alpha/truth", "/tf", "/scene"].map((topic) => [client.subscribe(byTopic.get(topic).id), topic]));
client.on("message", ({ subscriptionId }) => count.set(topics.get(subscriptionId), (count.get(topics.get(subscriptionId)) ?? 0) + 1));
client.on("time", ({ timestamp }) => {
  check("time goes forward", timestamp >= time);
  time = timestamp;
});
const closed = next("close");
client.setParameters([{ name: "/flight/paused", value: false }]);
await closed;
check("the flight ends", (await ended) === 0);
const rows = execFileSync(volery, ["export", log, "--csv", "--fields", "body.position"], { encoding: "utf8" }).trim().split("\n").length - 1;
check("every record but the first, which was before", count.get("/drones/alpha/truth") === rows - 1, `${count.get("/drones/alpha/truth")} ${rows}`);
check("transforms and shapes", count.get("/tf") > 100 && count.get("/scene") > 0, JSON.stringify([...count]));
check("the last time is the flight's", time === 20_000_000_000n, time);
console.log(`foxglove: ok, ${checks} checks`);
