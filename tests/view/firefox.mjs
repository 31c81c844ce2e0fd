// firefox.mjs VOLERY FOLDER PACKAGES - the page in Firefox: what plots and scene show against the log, from a file and while it flies.
import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { colorsOf, startFirefox } from "./firefox_page.mjs";

const [, , volery, folder, packages] = process.argv;
let checks = 0;
let failures = 0;
let origin = "file:";

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  failures += 1;
  console.log(`FAILED: firefox: ${what} ${told}`);
}

const flights = [];
const { page, version, close } = await startFirefox(packages, {
  request: (url) => check("no outside address", /^(file|data|blob|about):/.test(url) || url.startsWith(origin) || url.startsWith(origin.replace("http", "ws")), url),
  said: (text) => check("nothing on the console", false, text),
});

async function open(url) {
  await page.goto(url);
  await page.waitForFunction(() => document.documentElement.dataset.state);
  const state = await page.evaluate(() => document.documentElement.dataset.state);
  check(`${url}: it is shown`, state === "ready", state);
}

// Positions in the table, in the plot and in the scene; the pixels of scene and plot.
async function compare(log) {
  const [head, ...rows] = execFileSync(volery, ["export", join(folder, log), "--csv", "--fields", "body.position"], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").map((line) => line.split(","));
  await page.evaluate(() => window.volery.clock.seek(window.volery.clock.end));
  const colors = { scene: await colorsOf(page, ".scene-canvas"), plot: await colorsOf(page, '[data-plot="position"] canvas') };
  const seen = await page.evaluate(() => {
    const app = window.volery;
    const truth = app.runs[0].drones[0].streams.get("truth");
    const lines = app.plots.plots.find((plot) => plot.group.id === "position").lines.slice(0, 3);
    return { table: ["x", "y", "z"].map((k) => [...truth.column(`position.${k}`)]), lines: lines.map((line) => [...line.values]), pose: [...app.view.fleet.crafts[0].pose.position] };
  });
  ["x", "y", "z"].forEach((k, i) => {
    const wanted = rows.map((row) => Number(row[head.indexOf(`body.position.${k}`)]));
    check(`${log}: ${k} is the log's`, wanted.length === seen.table[i].length && wanted.every((value, n) => value === seen.table[i][n]), `${wanted.length} ${seen.table[i].length}`);
    check(`${log}: ${k} is plotted`, wanted.length === seen.lines[i].length && wanted.every((value, n) => value === seen.lines[i][n]));
    check(`${log}: ${k} in the scene`, Math.abs(seen.pose[i] - wanted[wanted.length - 1]) < 1e-9, seen.pose[i]);
  });
  check(`${log}: something is drawn`, colors.scene > 50 && colors.plot > 5, JSON.stringify(colors));
  writeFileSync(join(folder, `firefox-${log.replace(".mcap", "")}.png`), await page.screenshot());
}

try {
  await open(`file://${join(folder, "a.html")}`);
  await compare("a.mcap");
  await open(`file://${join(folder, "canyon.html")}`);
  await compare("canyon.mcap");

  const flight = spawn(volery, ["run", "first-flight", "-q", "-o", join(folder, "firefox.mcap"), "--watch"], { stdio: ["ignore", "inherit", "pipe"] });
  flights.push(flight);
  const ended = new Promise((done) => flight.on("exit", done));
  let told = "";
  const address = await new Promise((found) => flight.stderr.on("data", (data) => (told += data) && /http:\S+\/\n/.test(told) && found(told.match(/http:\S+/)[0])));
  ({ origin } = new URL(address));
  await open(address);
  check("the flight ends by itself", (await ended) === 0);
  await page.waitForFunction(() => window.volery.live === undefined);
  await compare("firefox.mcap");
} finally {
  for (const flight of flights) flight.kill("SIGKILL"); // those that are left
  await close();
}
console.log(failures === 0 ? `firefox: ok, ${checks} checks, ${version}` : `firefox: ${failures} of ${checks} checks FAILED`);
process.exit(failures === 0 ? 0 : 1);
