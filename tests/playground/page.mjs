// page.mjs FOLDER PLAYGROUND VOLERY - uses the playground as a person does, and compares what it says with the command.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processorTime } from "../view/processor.mjs";

const [folder, playground, volery] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, "node_modules", "x.js"))("playwright-core");
const profile = mkdtempSync(join(tmpdir(), "volery-playground-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  acceptDownloads: true,
  args: ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
browser.setDefaultTimeout(300000); // a busy machine is not a fault
let failures = 0;
let checks = 0;

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  failures += 1;
  console.log(`FAILED: ${what} ${told}`);
}

const run = (...words) => spawnSync(volery, words, { encoding: "utf8" });
const hashOf = (...words) => JSON.parse(run("run", ...words, "--no-log", "--json").stdout).final_hash;

async function open(file, hash = "", { width = 1280, height = 720, scheme = "light" } = {}) {
  const page = await browser.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  page.on("console", (m) => check(`${file}: console`, m.text().includes("GL Driver Message"), m.text()));
  page.on("pageerror", (e) => check(`${file}: error`, false, e.message));
  page.on("request", (r) => check(`${file}: request`, /^(file|data|blob):/.test(r.url()), r.url()));
  await page.goto(`file://${join(playground, file)}${hash}`);
  await flown(page);
  return page;
}

// Until the text that is there has been flown, or refused.
const flown = (page) => page.waitForFunction(() => {
  const p = window.playground;
  return document.documentElement.dataset.state === "failed" || (p && p.last && p.last.text === p.editor.text && !p.busy);
}, null, { polling: 50 });
const lastOf = (page) => page.evaluate(() => ({ hash: window.playground.last.outcome.final_hash, flown: window.playground.last.outcome.flown, error: window.playground.last.outcome.error, ms: window.playground.last.ms }));
const setText = async (page, text) => {
  await page.evaluate((t) => {
    const { view } = window.playground.editor;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: t } });
  }, text);
  await flown(page);
};
const shot = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)))));

// Every scenario that the command flies alone is there, and has the command's hash.
async function compareHashes(page) {
  const expected = new Map(readFileSync(join(folder, "hashes.txt"), "utf8").trim().split("\n").map((line) => line.split(" ")));
  const names = await page.evaluate(() => [...document.querySelectorAll(".scenario-select option")].map((option) => option.value));
  for (const [name, hash] of expected) check(`${name} is ${hash === "program" ? "not " : ""}there`, names.includes(name) === (hash !== "program"));
  for (const name of names) {
    await page.selectOption(".scenario-select", name);
    await flown(page);
    const { hash, error, ms } = await lastOf(page);
    check(`hash of ${name}`, hash === expected.get(name), `${hash} ${expected.get(name)} ${error ?? ""}`);
    check(`hash of ${name} is shown`, (await page.innerText(".final-hash")) === expected.get(name));
    console.log(`${name} ${hash} ${Math.round(ms)} ms`);
  }
}

// A mistake has the command's sentence, line and column.
async function compareMistakes(page) {
  await page.selectOption(".scenario-select", "first-flight");
  await flown(page);
  const good = await page.evaluate(() => window.playground.editor.text);
  const wrong = [good.replace("vehicle: crazyflie2x ", "vehikle: crazyflie2x "), good.replace("step: 1 ms", "step: 1 kg"), good.replace("seed: 1 ", "seed: [1 "), good.replace("max: 15 cm", "max: 15 cm, quantité: 2, at: never"), "", "volery: 1\ndrones: []\n"];
  for (const text of wrong) {
    const file = join(folder, "scenarios", "first-flight.yaml");
    execFileSync("mkdir", ["-p", join(folder, "scenarios")]);
    writeFileSync(file, text);
    const { stdout, stderr } = spawnSync(volery, ["check", "scenarios/first-flight.yaml", "--json"], { encoding: "utf8", cwd: folder });
    const told = JSON.parse(stdout);
    await setText(page, text);
    const shown = await page.evaluate(() => ({ errors: window.playground.last.outcome.errors, rows: [...document.querySelectorAll(".problem")].map((row) => row.textContent) }));
    const same = (a, b) => a.file === b.file && a.line === b.line && a.column === b.column && a.text === b.text;
    check("mistakes", told.errors.length > 0 && told.errors.length === shown.errors.length && told.errors.every((error, i) => same(error, shown.errors[i])), `${JSON.stringify(told.errors)} ${JSON.stringify(shown.errors)}`);
    for (const row of shown.rows) check("a mistake reads as the command's", stderr.includes(row), `${row} | ${stderr}`);
    check("mistakes are listed", shown.rows.length === told.errors.length, shown.rows.length);
    check("it is not flown", (await page.innerText(".chip")) === "not flown");
  }
  await setText(page, wrong[0]);
  await page.waitForSelector(".cm-lintRange-error");
  check("it is marked at its place", (await page.innerText(".cm-lintRange-error")) === "vehikle", await page.innerText(".cm-lintRange-error"));
  await page.click(".problem");
  const at = await page.evaluate(() => { const { state } = window.playground.editor.view; const line = state.doc.lineAt(state.selection.main.head); return `${line.number}:${state.selection.main.head - line.from + 1}`; });
  check("a click goes there", (await page.innerText(".problem")).includes(`:${at}:`), at);
  await shot(page, "mistake");
  await setText(page, good);
  check("and it flies again", (await lastOf(page)).flown);
}

async function complete(page) {
  const type = async (text, typed) => {
    await setText(page, text);
    await page.evaluate(() => { const { view } = window.playground.editor; view.dispatch({ selection: { anchor: view.state.doc.length } }); view.focus(); });
    await page.keyboard.type(typed);
    await page.waitForSelector(".cm-tooltip-autocomplete li");
    return page.locator(".cm-tooltip-autocomplete li .cm-completionLabel").allInnerTexts();
  };
  check("keys of a scenario", (await type("volery: 1\n", "dur")).includes("duration"));
  await page.keyboard.press("Escape");
  check("keys of a drone", (await type("volery: 1\ndrones:\n  - name: alpha\n    ", "contr")).includes("controller"));
  await page.waitForSelector(".cm-tooltip-autocomplete li[aria-selected]");
  await page.waitForTimeout(200); // the editor takes no Enter in the first moment of its list
  await page.keyboard.press("Enter");
  check("a key is completed", (await page.evaluate(() => window.playground.editor.text)).endsWith("    controller: "));
  const kinds = await type("volery: 1\ndisturbances:\n  - {", "ki");
  check("keys in braces", kinds.includes("kind"), kinds.join(" "));
  await page.keyboard.press("Escape");
  const words = await type("volery: 1\ndisturbances:\n  - {kind: ", "im");
  check("words of a key", words.includes("impulse"), words.join(" "));
  await page.keyboard.press("Escape");
}

// Move a slider as with a mouse or the keys.
async function slide(page) {
  await page.selectOption(".scenario-select", "first-flight");
  await flown(page);
  const name = "disturbances[1].force[1]";
  const place = await page.evaluate(() => window.playground.editor.text.indexOf("14 mN s"));
  await page.evaluate((at) => window.playground.editor.goTo(at), place);
  const slider = page.locator(`[data-number="${name}"] input`);
  await slider.waitFor();
  const before = await lastOf(page);
  await slider.focus();
  for (let i = 0; i < 12; ++i) await page.keyboard.press("ArrowRight");
  await flown(page);
  const text = await page.evaluate(() => window.playground.editor.text);
  const value = /force: \[0, ([\d.]+) mN s, 0\]/.exec(text)[1];
  check("a slider writes into the text", Number(value) > 14, value);
  const after = await lastOf(page);
  const expected = hashOf("scenarios/first-flight.yaml", "--set", `${name}=${value} mN s`);
  check("the flight is the command's with --set", after.hash === expected && after.hash !== before.hash, `${after.hash} ${expected}`);
  check("its hash is shown", (await page.innerText(".final-hash")) === expected);
  await settled(page);
  await shot(page, "slider");
  return { text, hash: after.hash };
}

// The link restores the text, in another page.
async function follow(page, { text, hash }) {
  await page.waitForFunction(() => location.hash.includes("text="), null, { polling: 50 });
  const link = await page.evaluate(() => location.hash);
  const other = await open("playground.html", link);
  check("a link holds the text", (await other.evaluate(() => window.playground.editor.text)) === text);
  check("and the flight", (await lastOf(other)).hash === hash);
  await other.close();
  const torn = await open("playground.html", `${link.slice(0, -20)}`);
  check("a torn link says so", (await torn.innerText(".problems")).includes("damaged") || (await lastOf(torn)).flown, await torn.innerText(".problems"));
  await torn.close();
}

// The log replays, and what is drawn is what it says.
async function download(page, hash) {
  const [got] = await Promise.all([page.waitForEvent("download"), page.click("text=log ↓")]);
  const file = join(folder, "flight.mcap");
  await got.saveAs(file);
  check("the log has the scenario's name", got.suggestedFilename() === "first-flight.mcap", got.suggestedFilename());
  const replayed = run("replay", file, "--json");
  check("the log replays", replayed.status === 0 && replayed.stdout.includes(hash), replayed.stdout + replayed.stderr);
  const viewed = run("view", file, "-o", join(folder, "flight.html"));
  check("volery view takes it", viewed.status === 0, viewed.stderr);
  const [head, ...rows] = run("export", file, "--csv", "-o", "-", "--fields", "body.position").stdout.trim().split("\n").map((line) => line.split(","));
  for (const axis of ["x", "y", "z"]) {
    const logged = rows.map((row) => Number(row[head.indexOf(`body.position.${axis}`)]));
    const drawn = await page.evaluate((label) => [...window.volery.plots.plots.find((plot) => plot.group.id === "position").lines.find((line) => line.label === label).values], axis);
    check(`position ${axis} is plotted as logged`, logged.length > 1000 && logged.length === drawn.length && logged.every((value, i) => value === drawn[i]), `${logged.length} ${drawn.length}`);
    const scene = await page.evaluate((k) => { const { motion } = window.volery.view.fleet.crafts[0]; return [...motion.position[k]]; }, "xyz".indexOf(axis));
    check(`position ${axis} is in the scene as logged`, logged.every((value, i) => value === scene[i]));
  }
}

// What cannot be flown here is refused in a sentence, and a flight that takes too long can be ended.
async function refuse(page) {
  await setText(page, "volery: 1\ndrones:\n  - name: alpha\n    controller: {kind: pilot}\n");
  const told = await page.innerText(".problems");
  check("a pilot is refused", told.includes("drone alpha is flown by a program or a person"), told);
  await page.evaluate(() => { const { view } = window.playground.editor; view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: "volery: 1\nduration: 1e6\nlog: {every: 1000000, display: 0}\ndrones:\n  - name: alpha\n" } }); });
  await page.click("text=stop");
  check("a flight is stopped", (await page.innerText(".chip")) === "stopped");
  await setText(page, "volery: 1\nduration: 1 s\nlog: {compression: zstd}\ndrones:\n  - name: alpha\n");
  const after = await lastOf(page);
  check("and the next one flies, its log plain", after.flown && (await page.innerText(".problems")).includes("plain"), after.error);
}

// The page's policy lets nothing out.
async function ask() {
  for (const file of ["playground.html", "site/index.html"]) {
    const page = await browser.newPage();
    await page.goto(`file://${join(playground, file)}`);
    const refused = await page.evaluate(() => new Promise((done) => {
      document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
      fetch("http://127.0.0.1:9/").then(() => done("asked"), () => setTimeout(() => done("only failed"), 5000));
    }));
    check(`${file}: the policy refuses a request`, refused === "connect-src", refused);
    await page.close();
  }
}

// A flight at each move of a slider: processor time of the worker, which reads, flies, logs and describes it.
async function measure(page) {
  const text = "volery: 1\nduration: 10 s\ndrones:\n  - name: alpha\n";
  const times = [];
  for (let i = 0; i < 40; ++i) {
    const before = processorTime("DedicatedWorker");
    await setText(page, `${text}seed: ${i + 1}\n`);
    times.push(processorTime("DedicatedWorker") - before);
  }
  const middle = (some) => [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)];
  const [first, later] = [middle(times.slice(0, 12)), middle(times.slice(20))];
  console.log(`10 s of one drone, again: ${first.toFixed(1)} ms of processor time in the first dozen flights, then ${later.toFixed(1)} ms`);
  check("a flight again takes less than 50 ms of processor time", later > 1 && later < 50, `${later} ms`);
}

const page = await open("playground.html");
await shot(page, "laptop");
await measure(page);
await compareMistakes(page);
await complete(page);
const moved = await slide(page);
await follow(page, moved);
await download(page, moved.hash);
await refuse(page);
await compareHashes(page);
await page.close();
await ask();
const site = await open("site/index.html", "#scenario=swarm");
check("the folder works from disk, too", (await site.innerText(".final-hash")) === hashOf("scenarios/swarm.yaml"));
await site.close();
for (const [name, width, height, scheme] of [["phone", 390, 844, "light"], ["phone-dark", 390, 844, "dark"], ["laptop-dark", 1440, 900, "dark"], ["tablet", 1024, 768, "light"], ["4k", 3840, 2160, "light"]]) {
  const shown = await open("playground.html", "", { width, height, scheme });
  await shown.evaluate(() => window.volery.clock.seek(7));
  await settled(shown);
  const wide = await shown.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  check(`${name} fits`, wide);
  await shot(shown, name);
  await shown.close();
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
console.log(`playground: ${checks} checks, ${failures} failed`);
process.exit(failures > 0 ? 1 : 0);
