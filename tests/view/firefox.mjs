// firefox.mjs VOLERY FOLDER WS - the page in Firefox, under Xvfb with WebGL by software: what plots and scene show against the log, from a
// file and while it flies. Firefox speaks WebDriver BiDi over a WebSocket (the package ws, in the folder WS); nothing else is needed.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [, , volery, folder, packages] = process.argv;
const WebSocket = createRequire(join(packages, "node_modules", "x.js"))("ws");
const PATIENCE = 600000; // [ms] a busy machine is not a fault
let checks = 0;
let failures = 0;

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  failures += 1;
  console.log(`FAILED: firefox: ${what} ${told}`);
}

const profile = mkdtempSync(join(tmpdir(), "volery-firefox-"));
const settings = { "webgl.force-enabled": true, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false, "app.update.enabled": false, "network.captive-portal-service.enabled": false, "ui.prefersReducedMotion": 1 };
writeFileSync(join(profile, "user.js"), Object.entries(settings).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${value});\n`).join(""));
const firefox = spawn("xvfb-run", ["-a", "-s", "-screen 0 1280x800x24", "firefox-esr", "--profile", profile, "--remote-debugging-port", "0", "--no-remote"], { stdio: ["ignore", "ignore", "pipe"], detached: true });
const flights = [];

// One question after the other, each with its answer; events are heard by their name.
async function connect() {
  let told = "";
  const address = await new Promise((found) => firefox.stderr.on("data", (data) => (told += data) && /BiDi listening on ws:\S+/.test(told) && found(told.match(/ws:\S+/)[0])));
  const socket = new WebSocket(`${address}/session`);
  await new Promise((open) => socket.on("open", open));
  const asked = new Map();
  const events = [];
  let last = 0;
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (message.type === "event") events.push(message);
    else asked.get(message.id)?.(message);
  });
  const ask = (method, params) =>
    new Promise((done, fail) => {
      asked.set(++last, (answer) => (answer.type === "error" ? fail(new Error(`${method}: ${answer.message}`)) : done(answer.result)));
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await ask("session.new", { capabilities: {} });
  await ask("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent"] });
  const context = (await ask("browsingContext.getTree", {})).contexts[0].context;
  const evaluate = async (expression) => {
    const answer = await ask("script.evaluate", { expression: `JSON.stringify(${expression})`, target: { context }, awaitPromise: true });
    if (answer.type === "exception") throw new Error(answer.exceptionDetails.text);
    return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
  };
  const until = async (expression) => {
    const end = Date.now() + PATIENCE;
    while (!(await evaluate(expression))) {
      if (Date.now() > end) throw new Error(`never: ${expression}`);
      await new Promise((rest) => setTimeout(rest, 100));
    }
  };
  const open = async (url) => {
    await ask("browsingContext.navigate", { context, url, wait: "complete" });
    await until("!!document.documentElement.dataset.state");
    check(`${url}: it is shown`, (await evaluate("document.documentElement.dataset.state")) === "ready");
  };
  return { ask, context, events, evaluate, until, open };
}

// Positions in the table, in the plot and in the scene, and that the scene is more than one colour.
async function compare(browser, log) {
  const { evaluate } = browser;
  const [head, ...rows] = execFileSync(volery, ["export", join(folder, log), "--csv", "--fields", "body.position"], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").map((line) => line.split(","));
  const seen = await evaluate(`(() => {
    const app = window.volery, truth = app.runs[0].drones[0].streams.get("truth");
    const lines = app.plots.plots.find((plot) => plot.group.id === "position").lines.slice(0, 3);
    app.view.draw(app.clock.end);
    const canvas = document.querySelector(".scene-canvas"), copy = document.createElement("canvas");
    [copy.width, copy.height] = [64, 64];
    const context = copy.getContext("2d");
    context.drawImage(canvas, 0, 0, 64, 64);
    const pixels = new Uint32Array(context.getImageData(0, 0, 64, 64).data.buffer);
    return { table: ["x", "y", "z"].map((k) => [...truth.column("position." + k)]), lines: lines.map((line) => [...line.values]), pose: [...app.view.fleet.crafts[0].pose.position], colors: new Set(pixels).size };
  })()`);
  ["x", "y", "z"].forEach((k, i) => {
    const wanted = rows.map((row) => Number(row[head.indexOf(`body.position.${k}`)]));
    check(`${log}: ${k} is the log's`, wanted.length === seen.table[i].length && wanted.every((value, n) => value === seen.table[i][n]), `${wanted.length} ${seen.table[i].length}`);
    check(`${log}: ${k} is plotted`, wanted.length === seen.lines[i].length && wanted.every((value, n) => value === seen.lines[i][n]));
    check(`${log}: ${k} in the scene`, Math.abs(seen.pose[i] - wanted[wanted.length - 1]) < 1e-9, seen.pose[i]);
  });
  check(`${log}: something is drawn`, seen.colors > 50, seen.colors);
}

try {
  const browser = await connect();
  await browser.open(`file://${join(folder, "a.html")}`);
  await compare(browser, "a.mcap");
  await browser.open(`file://${join(folder, "canyon.html")}`);
  await compare(browser, "canyon.mcap");

  const flight = spawn(volery, ["run", "first-flight", "-q", "-o", join(folder, "firefox.mcap"), "--watch"], { stdio: ["ignore", "inherit", "pipe"] });
  flights.push(flight);
  const ended = new Promise((done) => flight.on("exit", done));
  let told = "";
  const address = await new Promise((found) => flight.stderr.on("data", (data) => (told += data) && /http:\S+\/\n/.test(told) && found(told.match(/http:\S+/)[0])));
  await browser.open(address);
  check("the flight ends by itself", (await ended) === 0);
  await browser.until("window.volery.live === undefined");
  await compare(browser, "firefox.mcap");

  const { origin } = new URL(address);
  for (const { method, params } of browser.events) {
    const url = params.request?.url ?? "";
    if (method === "network.beforeRequestSent") check("no outside address", /^(file|data|blob|about):/.test(url) || url.startsWith(origin) || url.startsWith(origin.replace("http", "ws")), url);
    else check("nothing on the console", params.level !== "error", params.text);
  }
  await browser.ask("browser.close", {}).catch(() => undefined);
} finally {
  for (const flight of flights) flight.kill("SIGKILL");
  try {
    process.kill(-firefox.pid, "SIGKILL"); // Xvfb and what Firefox has started
  } catch {
    // they have ended
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
console.log(failures === 0 ? `firefox: ok, ${checks} checks` : `firefox: ${failures} of ${checks} checks FAILED`);
process.exit(failures === 0 ? 0 : 1);
