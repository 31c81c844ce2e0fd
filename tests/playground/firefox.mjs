// firefox.mjs FOLDER PLAYGROUND VOLERY PACKAGES - the playground in Firefox, from disk: hashes, plots and scene against the command.
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { colorsOf, startFirefox } from "../view/firefox_page.mjs";

const [folder, playground, volery, packages] = process.argv.slice(2);
const SCENARIOS = ["first-flight", "swarm", "gate", "canyon"];
let checks = 0;
let failures = 0;

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  failures += 1;
  console.log(`FAILED: firefox: ${what} ${told}`);
}

const { page, version, close } = await startFirefox(packages, {
  request: (url) => check("no outside address", /^(file|data|blob|about):/.test(url), url),
  said: (text) => check("nothing on the console", false, text),
});

// Until the text that is there has been flown, or refused.
const flown = () => page.waitForFunction(() => document.documentElement.dataset.state === "failed" || (window.playground?.last && window.playground.last.text === window.playground.editor.text && !window.playground.busy));
const hashShown = () => page.$eval(".final-hash", (shown) => shown.textContent);
const hashOf = (...words) => JSON.parse(spawnSync(volery, ["run", ...words, "--no-log", "--json"], { encoding: "utf8" }).stdout).final_hash;

// Every position of the first drone: plotted, and in the scene.
async function compare(name) {
  const log = join(folder, "firefox.mcap");
  spawnSync(volery, ["run", `scenarios/${name}.yaml`, "-q", "-o", log]);
  const [head, ...rows] = execFileSync(volery, ["export", log, "--csv", "-o", "-", "--fields", "body.position"], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").map((line) => line.split(","));
  await page.evaluate(() => window.volery.clock.seek(window.volery.clock.end));
  const colors = { scene: await colorsOf(page, ".scene-canvas"), plot: await colorsOf(page, '[data-plot="position"] canvas') };
  const seen = await page.evaluate(() => {
    const { plots, view } = window.volery;
    const lines = plots.plots.find((plot) => plot.group.id === "position").lines.slice(0, 3);
    return { lines: lines.map((line) => [...line.values]), pose: [...view.fleet.crafts[0].pose.position] };
  });
  ["x", "y", "z"].forEach((k, i) => {
    const wanted = rows.map((row) => Number(row[head.indexOf(`body.position.${k}`)]));
    check(`${name}: ${k} is plotted`, wanted.length > 100 && wanted.length === seen.lines[i].length && wanted.every((value, n) => value === seen.lines[i][n]), `${wanted.length} ${seen.lines[i].length}`);
    check(`${name}: ${k} in the scene`, Math.abs(seen.pose[i] - wanted[wanted.length - 1]) < 1e-9, seen.pose[i]);
  });
  check(`${name}: something is drawn`, colors.scene > 50 && colors.plot > 5, JSON.stringify(colors));
}

try {
  for (const file of ["playground.html", "site/index.html"]) {
    await page.goto(`file://${join(playground, file)}`);
    await flown();
    check(`${file}: it has flown`, (await hashShown()) === hashOf("scenarios/first-flight.yaml"), await hashShown());
  }
  for (const name of SCENARIOS) {
    await page.select(".scenario-select", name);
    await flown();
    check(`hash of ${name}`, (await hashShown()) === hashOf(`scenarios/${name}.yaml`), await hashShown());
    if (name === "first-flight" || name === "canyon") await compare(name);
  }
  // A slider writes into the text, and what is flown then is the command's.
  await page.select(".scenario-select", "first-flight");
  await flown();
  await page.evaluate(() => window.playground.editor.goTo(window.playground.editor.text.indexOf("14 mN s")));
  await (await page.waitForSelector('[data-number="disturbances[1].force[1]"] input')).focus();
  for (let i = 0; i < 5; ++i) await page.keyboard.press("ArrowRight");
  await flown();
  const [, value] = /force: \[0, ([\d.]+) mN s, 0\]/.exec(await page.evaluate(() => window.playground.editor.text));
  check("a slider flies anew", Number(value) > 14 && (await hashShown()) === hashOf("scenarios/first-flight.yaml", "--set", `disturbances[1].force[1]=${value} mN s`), value);
  const times = [];
  for (let i = 0; i < 24; ++i) {
    await page.evaluate((seed) => {
      const { view } = window.playground.editor;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: `volery: 1\nduration: 10 s\ndrones:\n  - name: alpha\nseed: ${seed}\n` } });
    }, i + 1);
    await flown();
    times.push(await page.evaluate(() => window.playground.last.ms));
  }
  times.sort((a, b) => a - b);
  console.log(`firefox: 10 s of one drone, again: ${times[0].toFixed(1)} ms at best, ${times[12].toFixed(1)} ms in the middle, by the clock of the worker`);
  writeFileSync(join(folder, "firefox.png"), await page.screenshot());
} finally {
  await close();
}
console.log(failures === 0 ? `firefox: ok, ${checks} checks, ${version}` : `firefox: ${failures} of ${checks} checks FAILED`);
process.exit(failures === 0 ? 0 : 1);
