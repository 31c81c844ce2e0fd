// page.mjs FOLDER - opens the pages that view_app_test.sh made, uses them, and compares their numbers with the log's.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = process.argv[2];
const { chromium } = createRequire(join(folder, "node_modules", "x.js"))("playwright-core");
const profile = mkdtempSync(join(tmpdir(), "volery-view-"));
const options = {
  executablePath: "/usr/bin/chromium",
  headless: true,
  viewport: { width: 1280, height: 720 },
  args: ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
};
const browser = await chromium.launchPersistentContext(profile, options);
browser.setDefaultTimeout(120000); // a busy machine is not a fault
let failures = 0;
let checks = 0;

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  failures += 1;
  console.log(`FAILED: ${what} ${told}`);
}

// Open a page from disk. Anything on the console and any request beyond the file is a failure.
async function open(name, { width = 1280, height = 720, scheme = "light", expect = "ready", still = true } = {}) {
  const page = await browser.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: still ? "reduce" : "no-preference" });
  page.on("console", (m) => check(`${name}: console`, m.text().includes("GL Driver Message"), m.text()));
  page.on("pageerror", (e) => check(`${name}: error`, false, e.message));
  page.on("request", (r) => check(`${name}: request`, /^(file|data|blob):/.test(r.url()), r.url()));
  await page.goto(`file://${join(folder, name)}`);
  if (expect) {
    await page.waitForFunction(() => document.documentElement.dataset.state, null);
    const state = await page.evaluate(() => document.documentElement.dataset.state);
    check(`${name}: state`, state === expect, `${state}: ${(await page.innerText("body")).slice(0, 300)}`);
  }
  return page;
}

const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))));
const shot = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });
const timeOf = (page) => page.evaluate(() => window.volery.clock.time);

function readCsv(name) {
  const [head, ...rows] = readFileSync(join(folder, name), "utf8").trim().split("\n").map((line) => line.split(","));
  return new Map(head.map((column, i) => [column, rows.map((row) => (row[i] === "" ? NaN : Number(row[i])))]));
}

// Values of a line of a plot, straight from what is drawn.
const lineOf = (page, plot, label) =>
  page.evaluate(([p, l]) => {
    const line = window.volery.plots.plots.find((x) => x.group.id === p).lines.find((x) => x.label === l);
    return { time: [...line.time], values: [...line.values] };
  }, [plot, label]);

async function useIt() {
  const page = await open("a.html");
  await settled(page);
  check("title", (await page.title()) === "first flight – Volery");
  check("status", (await page.innerText(".chip")) === "completed");

  const start = await timeOf(page);
  await page.keyboard.press("Space");
  await page.waitForTimeout(1200);
  await page.keyboard.press("Space");
  const played = await timeOf(page);
  check("it plays", played > start + 0.2, `${start} ${played}`);
  await page.waitForTimeout(200);
  check("it pauses", (await timeOf(page)) === played);

  await page.keyboard.press("ArrowRight");
  const stepped = await timeOf(page);
  check("a step is a record", stepped > played && Math.abs(stepped * 100 - Math.round(stepped * 100)) < 1e-6, stepped);
  await page.keyboard.press("Home");
  check("Home", (await timeOf(page)) === 0);

  const box = await page.locator(".scrub").boundingBox();
  await page.mouse.click(box.x + box.width * 0.6, box.y + box.height / 2);
  check("scrub", Math.abs((await timeOf(page)) - 12) < 0.3, await timeOf(page));
  const event = page.locator(".event").first();
  const told = Number((await event.getAttribute("title")).split(" ")[0]);
  await event.click();
  check("an event is gone to", Math.abs((await timeOf(page)) - told) < 1e-9);

  await page.evaluate(() => window.volery.clock.seek(12.3));
  await settled(page);
  const before = await page.locator(".scene").screenshot();
  await page.keyboard.press("f");
  await settled(page);
  const after = await page.locator(".scene").screenshot({ path: join(folder, "forces.png") });
  check("forces are drawn", !before.equals(after));
  await page.click(".layer-box summary");
  check("forces are told", (await page.innerText('[data-layer="force-gravity"]')).includes("0.27 N"), await page.innerText('[data-layer="force-gravity"]'));
  await page.click('[data-layer="force-gravity"] input');
  check("a force is switched off", !(await page.isChecked('[data-layer="force-gravity"] input')));
  for (const mode of ["follow", "top", "whole"]) {
    await page.keyboard.press("c");
    await settled(page);
    check(`camera ${mode}`, await page.locator(".cameras .on", { hasText: mode }).isVisible());
    await shot(page, `camera-${mode}`);
  }

  await page.keyboard.press("h");
  check("help", await page.locator(".help .card").isVisible());
  await shot(page, "help");
  await page.keyboard.press("Escape");
  check("help closes", !(await page.locator(".help .card").isVisible()));
  await page.keyboard.press("i");
  const panel = await page.innerText(".panel");
  for (const words of ["final hash", "position_error of all at most 15 cm throughout: met", "negligibility", "seed", "volery: 1"]) check("panel", panel.includes(words), words);
  await shot(page, "panel");
  await page.keyboard.press("p");
  await page.keyboard.press("d");
  await settled(page);
  check("dark", (await page.evaluate(() => document.documentElement.dataset.theme)) === "dark");
  await shot(page, "dark");

  // Zoom by dragging in a plot, then out.
  const area = await page.locator('[data-plot="position"] .u-over').boundingBox();
  await page.mouse.move(area.x + area.width * 0.25, area.y + 40);
  await page.mouse.down();
  await page.mouse.move(area.x + area.width * 0.5, area.y + 40, { steps: 4 });
  await page.mouse.up();
  const range = () => page.evaluate(() => window.volery.plots.plots[0].chart.scales.x);
  const zoomed = await range();
  check("zoom", Math.abs(zoomed.min - 5) < 0.3 && Math.abs(zoomed.max - 10) < 0.3, JSON.stringify(zoomed));
  await page.keyboard.press("z");
  check("whole flight", Math.abs((await range()).max - 20) < 0.1);
  await page.close();
}

// Every value of these lines must be the log's, bit for bit.
async function compareNumbers() {
  const page = await open("a.html");
  const csv = readCsv("a.csv");
  const same = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);
  for (const [plot, label, column] of [["position", "x", "body.position.x"], ["position", "z", "body.position.z"], ["velocity", "y", "body.velocity.y"], ["rates", "x", "body.rate.x"], ["rotors", "0", "rotor_speed[0]"], ["rotors", "3", "rotor_speed[3]"], ["velocity", "estimated y", "estimate.velocity.y"], ["motors", "2", "control.motors[2]"]]) {
    const line = await lineOf(page, plot, label);
    check(`${plot} ${label}`, same(line.values, csv.get(column)), `${line.values.length} values, ${line.values[7]} ${csv.get(column)[7]}`);
  }
  const acceleration = await lineOf(page, "acceleration", "z"); // it begins with the second record
  check("acceleration", same(acceleration.values, csv.get("body.acceleration.z").slice(1)), acceleration.values.length);
  const error = await lineOf(page, "error", "length");
  check("the largest error is the run's", Math.abs(Math.max(...error.values) - 0.109926) < 2e-3, Math.max(...error.values));
  // What the legend says at a moment is the record of that moment.
  await page.evaluate(() => window.volery.clock.seek(5.2));
  await settled(page);
  const said = await page.innerText('[data-plot="position"] .key >> nth=0');
  const x = csv.get("body.position.x")[520];
  check("legend", said.includes(x.toFixed(3)), `${said} ${x}`);
  await page.close();
}

// The plots a flight must have, and what is worked out in the page against what the log says of the same moment.
async function compareWorked() {
  const page = await open("battery.html");
  const csv = readCsv("battery.csv");
  const has = await page.evaluate(() => window.volery.plots.plots.map((plot) => plot.group.id));
  for (const id of ["position", "error", "attitude", "rates", "motors", "rotors", "voltage", "current", "charge", "mocap", "gyro", "estimate", "forces", "torques", "energy", "work"]) check("plots", has.includes(id), id);
  const rowAt = new Map(csv.get("time").map((t, i) => [Math.round(t * 1e9), i]));
  const near = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(a), Math.abs(b));
  const at = (name, i) => csv.get(name)[i];
  const long = (name, i) => Math.hypot(...["x", "y", "z"].map((axis) => at(`${name}.${axis}`, i)));
  const angle = (i) => {
    const [w, x, y, z] = ["w", "x", "y", "z"].map((part) => at(`body.attitude.${part}`, i));
    return (Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * 180) / Math.PI;
  };
  for (const [plot, label, value] of [
    ["voltage", "voltage", (i) => at("battery.voltage", i)],
    ["current", "current", (i) => at("battery.current", i)],
    ["charge", "charge", (i) => at("battery.charge", i)],
    ["forces", "rotors", (i) => long("forces.rotors", i)],
    ["forces", "gravity", (i) => long("forces.gravity", i)],
    ["torques", "rotors", (i) => long("torques.rotors", i)],
    ["mocap", "y", (i) => at("mocap.position.y", i) - at("body.position.y", i)],
    ["gyro", "z", (i) => at("imu.gyro.z", i) - at("body.rate.z", i)],
    ["estimate", "x", (i) => at("estimate.position.x", i) - at("body.position.x", i)],
    ["error", "z", (i) => at("body.position.z", i) - at("reference.position.z", i)],
    ["attitude", "roll", angle],
    ["gps", "x", (i) => at("gps.position.x", i) - at("body.position.x", i)],
    ["gps-velocity", "z", (i) => at("gps.velocity.z", i) - at("body.velocity.z", i)],
    ["baro", "altitude", (i) => at("baro.altitude", i) - at("body.position.z", i)],
    ["esc", "2", (i) => at("esc.speed[2]", i) - at("rotor_speed[2]", i)],
    ["voltage", "measured", (i) => at("power.voltage", i)],
  ]) {
    const line = await lineOf(page, plot, label);
    const wrong = line.values.findIndex((said, k) => !near(said, value(rowAt.get(Math.round(line.time[k] * 1e9)))));
    check(`${plot} ${label} is the log's`, line.values.length > 90 && wrong < 0, `${line.values.length} values, ${wrong} at ${line.time[wrong]}: ${line.values[wrong]}`);
  }
  // The run's own account of energy, and the same worked out from where the drone was.
  const kinetic = await lineOf(page, "energy", "kinetic");
  const { mass, inertia } = await page.evaluate(() => window.volery.info.runs[0].drones[0]);
  const wrong = kinetic.values.findIndex((said, k) => {
    const i = rowAt.get(Math.round(kinetic.time[k] * 1e9));
    const w = ["x", "y", "z"].map((axis) => at(`body.rate.${axis}`, i));
    const turning = w.reduce((sum, a, m) => sum + w.reduce((inner, b, n) => inner + a * inertia[3 * m + n] * b, 0), 0);
    return Math.abs(said - (mass * long("body.velocity", i) ** 2 + turning) / 2) > 1e-12;
  });
  check("kinetic energy", kinetic.values.length > 100 && wrong < 0, `${wrong} ${kinetic.values[wrong]}`);
  await page.close();
}

async function seeEvents() {
  const page = await open("failed.html");
  await page.keyboard.press("e");
  const rows = page.locator(".events button");
  const all = await rows.count();
  check("events are listed", all === (await page.evaluate(() => window.volery.events.shown.length)) && all > 1, all);
  await page.locator('.events button[data-kind="failure"]').click();
  const failure = await page.evaluate(() => window.volery.events.all.find((event) => event.kind === "failure").time);
  check("a click in the list goes there", (await timeOf(page)) === failure);
  await settled(page);
  check("the list follows the time", (await page.innerText(".events .now .when")) === `${failure.toFixed(3)} s`);
  await shot(page, "events");
  const shapes = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".event")].map((mark) => [mark.dataset.kind, [mark.querySelector("path").getAttribute("d"), mark.querySelector("svg").style.getPropertyValue("--mark")]])));
  const kinds = Object.keys(shapes);
  check("kinds of events differ", kinds.length > 1 && new Set(kinds.map((kind) => shapes[kind][0])).size === kinds.length && new Set(kinds.map((kind) => shapes[kind][1])).size === kinds.length, JSON.stringify(shapes));
  await page.locator(".switch", { hasText: "negligibility" }).click();
  check("a kind is hidden", (await page.locator('.events button[data-kind="nap"]').count()) === 0 && (await page.locator('.event[data-kind="nap"]').count()) === 0);
  await page.close();
}

async function seeJoints() {
  const page = await open("load.html");
  const drawn = () => page.evaluate(() => ({ rods: window.volery.view.joints.rods.count, knobs: window.volery.view.joints.balls.count }));
  await settled(page);
  const slack = await drawn();
  check("a slack cable hangs", slack.rods > 10 && slack.knobs === 2, JSON.stringify(slack));
  await page.evaluate(() => window.volery.clock.seek(6));
  await settled(page);
  const taut = await drawn();
  check("a taut one is straight", taut.rods === 1, JSON.stringify(taut));
  const csv = readCsv("load.csv");
  const tension = await lineOf(page, "tension", "rope");
  const logged = csv.get("joints.rope.tension");
  check("its tension is the log's", tension.values.length === logged.length && tension.values.every((value, i) => value === logged[i]) && Math.max(...logged) > 2, `${tension.values[300]} ${logged[300]}`);
  await shot(page, "load");
  await page.close();
}

// Terrain, obstacles of every kind, and bodies of a declared shape; a shadow lies on the ground below its drone.
async function seeObstacles() {
  const page = await open("ground.html");
  await page.evaluate(() => window.volery.clock.seek(1));
  await settled(page);
  const found = await page.evaluate(() => {
    const { obstacles, fleet, camera, floor } = window.volery.view;
    const at = camera.position.clone().set(1, 2, 5);
    const top = camera.position.clone().set(6, 1, 9);
    return { count: obstacles.count, floor, ground: obstacles.below(at, floor, true), top: obstacles.below(top, floor, true), beside: obstacles.below(at.clone().set(-50, 0, 5), floor, true).height, sizes: fleet.crafts.map((craft) => craft.shape.size) };
  });
  check("all obstacles", found.count === 6, JSON.stringify(found));
  check("the height of the terrain", Math.abs(found.ground.height - 0.5 * 1) < 1e-12 && found.ground.normal.x < -0.4, JSON.stringify(found.ground)); // z = x / 2
  check("the top of a box", Math.abs(found.top.height - 4) < 1e-5 && found.top.normal.z > 0.999, JSON.stringify(found.top));
  check("nothing beside the terrain", found.beside === found.floor);
  check("a body has its shape", Math.abs(found.sizes[1] - Math.hypot(0.4, 0.2, 0.1) / 2) < 1e-6, JSON.stringify(found.sizes));
  await shot(page, "ground");
  await page.close();
  const gate = await open("gate.html");
  await gate.evaluate(() => window.volery.clock.seek(3.5));
  await settled(gate);
  await gate.keyboard.press("n");
  await gate.evaluate(() => window.volery.clock.seek(window.volery.events.all.find((event) => event.kind === "crash").time));
  await settled(gate);
  const touch = await gate.evaluate(() => {
    const { touches, arrows } = window.volery.view;
    return { spots: touches[0].spots.count, arrow: touches[0].arrows[0].head.visible, forces: arrows.kinds.map((kind) => kind.id) };
  });
  check("a contact is drawn", touch.spots > 0 && touch.arrow, JSON.stringify(touch));
  check("forces of contacts", touch.forces.includes("force-contacts"), touch.forces.join(" "));
  check("a crash is marked", (await gate.locator('.event[data-kind="crash"]').count()) > 0 && (await gate.locator('.event[data-kind="contact"]').count()) > 0);
  check("a drone beside obstacles has its size", (await gate.evaluate(() => window.volery.view.scale)) === 1);
  await shot(gate, "gate");
  await gate.close();
}

async function seeThrusters() {
  const page = await open("hopper.html");
  await page.evaluate(() => window.volery.clock.seek(1));
  await settled(page);
  const jets = await page.evaluate(() => ({ nozzles: window.volery.view.jets.nozzles.count, plumes: window.volery.view.jets.plumes.count }));
  check("thrusters have plumes", jets.nozzles >= 3 && jets.plumes > 0, JSON.stringify(jets));
  const csv = readCsv("hopper.csv");
  const line = await lineOf(page, "thrusters", "1");
  const logged = csv.get("thrust[1]").filter((value) => !Number.isNaN(value));
  check("their thrust is the log's", line.values.length > 100 && line.values.length === logged.length && line.values.every((value, i) => value === logged[i]), `${line.values.length} ${logged.length}`);
  await shot(page, "hopper");
  await page.close();
}

// A fan of rays on a wall, the beam of a range finder on the ground, a cable that hangs.
async function seeRays() {
  const page = await open("scene.html");
  const ends = () =>
    page.evaluate(() => {
      const { dots, lines } = window.volery.view.sight;
      const { position } = dots.geometry.attributes;
      return { visible: lines.visible, points: Array.from({ length: dots.geometry.drawRange.count }, (_, i) => [position.getX(i), position.getY(i), position.getZ(i)]) };
    });
  await page.evaluate(() => window.volery.clock.seek(0.01));
  await settled(page);
  check("no ray before the first sample", (await ends()).points.length === 0, JSON.stringify(await ends()));
  await page.evaluate(() => window.volery.clock.seek(0.5));
  await settled(page);
  const { points } = await ends();
  const wall = points.filter((p) => Math.abs(p[0] - 3.9) < 2e-3 && Math.abs(p[1]) <= 4).length;
  const ground = points.filter((p) => Math.abs(p[2]) < 2e-3).length;
  check("rays end where the wall and the ground are", wall > 15 && ground >= 1 && wall + ground === points.length, JSON.stringify(points));
  await shot(page, "rays");
  await page.click(".layer-box summary");
  await page.locator("label.layer", { hasText: "rays" }).locator("input").uncheck();
  await settled(page);
  check("rays can be hidden", (await ends()).visible === false);
  await page.evaluate(() => window.volery.clock.seek(0.1));
  await settled(page);
  const rods = await page.evaluate(() => window.volery.view.joints.rods.count);
  check("a slack cable is bent", rods > 10, rods);
  await page.close();
}

// A controller that stops replying: the failsafe takes over, and that is marked.
async function seeFailsafe() {
  const page = await open("failsafe.html");
  const mark = page.locator('.event[data-kind="failsafe"]').first();
  await mark.click();
  const told = await page.evaluate(() => window.volery.events.all.find((event) => event.kind === "failsafe").time);
  check("a failsafe is marked", (await timeOf(page)) === told && told > 0, told);
  // What the controller replied, as the table has it; fields that it never sets have no plot.
  const thrust = await lineOf(page, "reply-thrust", "thrust");
  const table = readCsv("failsafe.csv").get("reply.thrust");
  check("replies are plotted", thrust.values.length > 100 && thrust.values.at(-1) === table.at(-1) && thrust.values.every((value) => value > 0), thrust.values.length);
  check("others are not", await page.evaluate(() => !window.volery.plots.plots.some((plot) => plot.group.id === "reply-motors")));
  await shot(page, "failsafe");
  await page.close();
}

async function compareRuns() {
  const page = await open("both.html");
  const diff = JSON.parse(readFileSync(join(folder, "diff.json"), "utf8"));
  const mark = page.locator('.event[data-kind="difference"]');
  check("the first difference is marked", (await mark.count()) === 1);
  await mark.click();
  check("at its time", Math.abs((await timeOf(page)) - diff.difference.time_s) < 1e-9, `${await timeOf(page)} ${JSON.stringify(diff)}`);
  const legend = await page.innerText('[data-plot="position"] .legend');
  check("both runs in a plot", legend.includes("A x") && legend.includes("B x"), legend);
  check("both drones in the scene", (await page.evaluate(() => window.volery.view.fleet.crafts.length)) === 2);
  await page.keyboard.press("i");
  check("the difference is told", (await page.innerText(".difference")).includes("part at step"), await page.innerText(".difference"));
  await page.keyboard.press("p");
  await page.evaluate(() => window.volery.clock.seek(12.4));
  await settled(page);
  await shot(page, "both");
  const names = await page.locator(".run-name").allInnerTexts();
  check("runs are called by what differs", names.length === 2 && /seed 1$/.test(names[0]) && /seed 2$/.test(names[1]), names.join(" | "));
  // A - B of a plot is the difference of the two tables.
  const [a, b] = [readCsv("a.csv"), readCsv("b.csv")];
  const line = await lineOf(page, "apart", "y");
  const apart = a.get("body.position.y").map((value, i) => value - b.get("body.position.y")[i]);
  check("A - B is plotted", line.values.length === apart.length && line.values.every((value, i) => value === apart[i]) && apart.some((value) => value !== 0), `${line.values[1239]} ${apart[1239]}`);
  const colors = await page.evaluate(() => ["--run-0", "--run-1", "--line-0", "--line-1", "--line-2"].map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
  check("runs have colours of their own", new Set(colors).size === 5, colors.join(" "));
  await page.close();

  // A run that begins later: A - B is drawn from there on, to the size of what it is.
  const branched = await open("branched.html");
  await settled(branched);
  const later = await branched.evaluate(() => {
    const { lines, chart } = window.volery.plots.plots.find((plot) => plot.group.id === "apart");
    const values = lines.flatMap((line) => [...line.values].filter(Number.isFinite));
    return { min: chart.scales.y.min, max: chart.scales.y.max, least: Math.min(...values), most: Math.max(...values) };
  });
  check("A - B with a run that begins later", later.most > later.least && later.min <= later.least && later.max >= later.most && later.max - later.min < 3 * (later.most - later.least), JSON.stringify(later));
  await branched.close();
}

async function lookAround() {
  const moving = await open("a.html", { still: false });
  await moving.waitForTimeout(600);
  check("a page plays when it is opened", (await timeOf(moving)) > 0.05);
  const back = await moving.evaluate(() => {
    const { clock } = window.volery;
    clock.seek(clock.start);
    clock.advance(-3); // a frame may be of a moment before the one it is compared with
    return clock.time - clock.start;
  });
  check("time never runs backwards", back === 0, String(back));
  await moving.close();

  const failed = await open("failed.html");
  check("a failed run says so", (await failed.innerText(".chip")) === "failed");
  const mark = failed.locator('.event[data-kind="failure"]');
  check("the failure is marked", (await mark.count()) === 1);
  await mark.click();
  await settled(failed);
  await shot(failed, "failed");
  await failed.close();

  const thin = await open("thin.html");
  check("a thinned page says so", await thin.locator(".chip", { hasText: "thinned" }).isVisible());
  const csv = readCsv("west.csv");
  const byTime = new Map(csv.get("time").map((t, i) => [Math.round(t * 1e9), csv.get("body.position.y")[i]]));
  const line = await lineOf(thin, "position", "y");
  check("thinned", line.values.length < byTime.size && line.values.length > 10, line.values.length);
  check("what is left is the log's", line.values.every((value, i) => value === byTime.get(Math.round(line.time[i] * 1e9))));
  await thin.keyboard.press("n");
  check("next drone", (await thin.inputValue(".drone-select")) === "1");
  await thin.close();

  const swarm = await open("swarm.html", { scheme: "dark" });
  await swarm.keyboard.press("c");
  await swarm.evaluate(() => window.volery.clock.seek(6.5));
  await settled(swarm);
  await shot(swarm, "swarm");
  await swarm.close();

  const planet = await open("planet.html");
  await planet.evaluate(() => window.volery.clock.seek(10));
  await settled(planet);
  await shot(planet, "planet");
  await planet.close();

  const cut = await open("cut.html");
  check("a log that was cut off says so", (await cut.innerText(".chip")) === "cut off");
  await cut.close();

  const phone = await open("a.html", { width: 390, height: 844 });
  await settled(phone);
  check("a phone scrolls one way only", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  check("a phone has the buttons", await phone.locator(".round").isVisible());
  await phone.locator(".round").click();
  await phone.waitForTimeout(400);
  check("a phone plays", (await timeOf(phone)) > 0);
  await shot(phone, "phone");
  await phone.close();
}

// The first picture: all drones, their ways and what stands there are inside of it, and nothing plays before it is drawn.
async function seeWhole() {
  for (const name of ["swarm.html", "gate.html", "canyon.html", "a.html"]) {
    for (const [width, height] of [[1280, 720], [390, 844], [3840, 2160]]) {
      if (width > 3000 && name !== "a.html") continue;
      const page = await open(name, { width, height });
      await settled(page);
      const seen = await page.evaluate(() => {
        const { view } = window.volery;
        const outside = (p) => !(Math.abs(p.x) <= 1 && Math.abs(p.y) <= 1 && p.z < 1);
        let out = 0;
        for (const { motion } of view.fleet.crafts) {
          const [x, y, z] = motion.position;
          for (let i = 0; i < x.length; i += 20) if (outside(view.camera.position.clone().set(x[i], y[i], z[i]).project(view.camera))) ++out;
        }
        return { mode: view.mode, out, drawn: window.volery.plots.drawn, lines: window.volery.plots.plots[0].chart !== undefined };
      });
      check(`${name} ${width}: the whole flight is in the picture`, seen.mode === "whole" && seen.out === 0 && seen.drawn && seen.lines, JSON.stringify(seen));
      await shot(page, `whole-${name.replace(".html", "")}-${width}`);
      await page.close();
    }
  }
  const page = await open("canyon.html");
  await page.evaluate(() => window.volery.clock.seek(10));
  await settled(page);
  const wide = await page.evaluate(() => {
    const { view } = window.volery;
    return (2 * view.craft.shape.size * view.scale * view.box.clientHeight) / (2 * Math.tan((view.camera.fov * Math.PI) / 360) * view.camera.position.distanceTo(view.controls.target));
  });
  check("a drone between large walls can be seen", wide > 12, `${wide} px`);
  // Between two samples of the field: node 0 of the file at 0 s and 30 s.
  const wind = await page.evaluate(() => {
    const { view, info } = window.volery;
    const { times, velocity, count } = info.runs[0].wind_field;
    const nodes = count[0] * count[1] * count[2];
    const expected = [0, 1, 2].map((k) => velocity[k] + ((velocity[3 * nodes + k] - velocity[k]) * (10 - times[0])) / (times[1] - times[0]));
    return { drawn: view.wind.arrows.count, nodes, is: view.wind.at(0, 10).toArray(), expected };
  });
  check("the wind field is drawn", wind.drawn === wind.nodes && wind.nodes > 7 && wind.is.every((value, k) => Math.abs(value - wind.expected[k]) < 1e-12), JSON.stringify(wind));
  await page.close();
}

// Hundreds of drones: each is in the picture, in a few calls and of few triangles, and the chosen one in full.
async function seeMany() {
  const page = await open("many.html");
  await settled(page);
  await shot(page, "many");
  check("of many drones the chosen one has its name", (await page.locator(".label:visible").allInnerTexts()).join() === "d0");
  const paced = await page.evaluate(() => {
    const { view, clock } = window.volery;
    const now = () => (view.draw(clock.time), [view.renderer.getPixelRatio(), view.fleet.groups[0].levels[2].discs.count > 0]);
    for (let i = 0; i < 30; ++i) view.pace(60);
    const slow = now();
    view.pace(0);
    return [slow, now()].flat();
  });
  check("slow pictures are coarser until it stands", paced.join() === "0.5,false,1,true", paced.join());
  const seen = await page.evaluate(() => {
    const { view } = window.volery;
    const gl = view.renderer.getContext();
    const [wide, tall] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const picture = () => {
      const bytes = new Uint8Array(4 * wide * tall);
      view.renderer.render(view.scene, view.camera);
      gl.readPixels(0, 0, wide, tall, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
      return new Uint32Array(bytes.buffer);
    };
    const drawn = picture();
    const { calls, triangles } = view.renderer.info.render;
    const levels = view.fleet.groups[0].levels.map((level) => level.used);
    for (const { levels } of view.fleet.groups) for (const { body } of levels) body.layers.set(5);
    const bare = picture();
    const at = ({ pose }) => {
      const p = view.camera.position.clone().set(...pose.position).project(view.camera);
      return Math.floor(((p.y + 1) / 2) * tall) * wide + Math.floor(((p.x + 1) / 2) * wide);
    };
    return { missing: view.fleet.crafts.filter((craft) => drawn[at(craft)] === bare[at(craft)]).length, levels, calls, triangles };
  });
  check("each of many drones is drawn", seen.missing <= 2, JSON.stringify(seen)); // what is behind it may be as dark
  check("in few calls, of few triangles", seen.levels.length === 3 && seen.levels[0] >= 1 && seen.levels[2] > 50 && seen.calls <= 20 && seen.triangles < 40000, JSON.stringify(seen));
  // What nobody looks at is not read; when it is looked at, it is the log's.
  const put = () => page.evaluate(() => window.volery.runs[0].drones[150].streams.get("imu").putOff !== undefined);
  const before = await put();
  await page.evaluate(() => window.volery.choose(window.volery.runs[0].drones[150]));
  const logged = readCsv("many.csv").get("imu.accel.z").filter((value) => !Number.isNaN(value));
  const { values } = await lineOf(page, "accel", "z");
  check("records are read when they are looked at", before && !(await put()) && values.length > 50 && values.length === logged.length && values.every((value, i) => value === logged[i]), `${before} ${values.length} ${logged.length}`);
  await page.close();
}

// The whole path has fewer points than the log and is nowhere farther from one of them than can be seen.
async function followPaths() {
  const page = await open("swarm.html");
  const off = await page.evaluate(() => {
    const { view } = window.volery;
    const ends = view.paths.lines.geometry.getAttribute("position").array;
    let [farthest, at] = [0, 0];
    view.fleet.crafts.forEach(({ motion }, n) => {
      const pieces = view.paths.pieces[n];
      const [x, y, z] = motion.position;
      for (let i = 0; i < x.length; ++i) {
        let nearest = Infinity;
        for (let k = 0; k < pieces; ++k) {
          const [ax, ay, az, bx, by, bz] = ends.subarray(at + 6 * k, at + 6 * k + 6);
          const [ux, uy, uz] = [bx - ax, by - ay, bz - az];
          const along = Math.max(0, Math.min(1, ((x[i] - ax) * ux + (y[i] - ay) * uy + (z[i] - az) * uz) / (ux * ux + uy * uy + uz * uz)));
          nearest = Math.min(nearest, Math.hypot(x[i] - ax - along * ux, y[i] - ay - along * uy, z[i] - az - along * uz));
        }
        farthest = Math.max(farthest, nearest);
      }
      at += 6 * pieces;
    });
    return { farthest, reach: view.extent.reach, pieces: view.paths.pieces, records: view.fleet.crafts[0].motion.time.length };
  });
  check("the path stays at the records", off.farthest < off.reach / 1000 && off.pieces.every((count) => count > 10 && count < off.records / 3), JSON.stringify(off));
  await page.close();
}

// What the drone believes: the ghost is at the log's estimate, its ellipsoid is three standard deviations of the log's covariance.
async function seeEstimate() {
  const page = await open("sensors.html");
  const csv = readCsv("sensors.csv");
  await page.evaluate(() => window.volery.clock.seek(6));
  await settled(page);
  const row = csv.get("time").findIndex((t) => Math.abs(t - 6) < 1e-9);
  const at = (name) => csv.get(name)[row];
  const ghost = await page.evaluate(() => {
    const { body, ellipsoid } = window.volery.view.ghost;
    return { seen: body.visible && ellipsoid.visible, at: body.position.toArray(), m: ellipsoid.matrix.elements };
  });
  check("the ghost is where the estimate is", ghost.seen && ["x", "y", "z"].every((axis, k) => Math.abs(ghost.at[k] - at(`estimate.position.${axis}`)) < 1e-12), JSON.stringify(ghost));
  const covariance = (i, k) => [0, 1, 2].reduce((sum, c) => sum + ghost.m[4 * c + i] * ghost.m[4 * c + k], 0) / 9;
  const expected = [[0, 0, "variance.x"], [1, 1, "variance.y"], [2, 2, "variance.z"], [0, 1, "covariance.x"], [0, 2, "covariance.y"], [1, 2, "covariance.z"]];
  const wrong = expected.filter(([i, k, name]) => !(Math.abs(covariance(i, k) - at(`filter.${name}`)) < 1e-9));
  check("its ellipsoid is three sigma", wrong.length === 0 && at("filter.variance.x") > 0, JSON.stringify(wrong));
  const bound = await lineOf(page, "estimate", "+3σ x");
  const index = bound.time.findIndex((t) => Math.abs(t - 6) < 1e-9);
  check("and is plotted", Math.abs(bound.values[index] - 3 * Math.sqrt(at("filter.variance.x"))) < 1e-12, bound.values[index]);
  await shot(page, "estimate");
  await page.click(".layer-box summary");
  await page.locator("label.layer", { hasText: "estimate" }).locator("input").uncheck();
  await settled(page);
  check("the ghost can be hidden", await page.evaluate(() => !window.volery.view.ghost.body.visible && !window.volery.view.ghost.ellipsoid.visible));
  // The trail by speed: yellow where it is fastest, and the range is the log's.
  await page.locator(".trail-color select").selectOption("speed");
  await settled(page);
  const speeds = csv.get("body.velocity.x").map((x, i) => Math.hypot(x, csv.get("body.velocity.y")[i], csv.get("body.velocity.z")[i]));
  const told = (await page.innerText(".spread")).match(/[\d.]+/g).map(Number);
  check("the range of speeds", Math.abs(told[1] - Math.max(...speeds)) < 0.01, `${told} ${Math.max(...speeds)}`);
  await shot(page, "trail-speed");
  await page.close();
}

// Names of what is stacked do not cover one another.
async function readNames() {
  const page = await open("warehouse.html");
  await settled(page);
  const boxes = await page.evaluate(() => [...document.querySelectorAll(".label")].filter((label) => label.style.display !== "none").map((label) => label.getBoundingClientRect().toJSON()));
  const covered = boxes.filter((a, i) => boxes.some((b, k) => k !== i && a.left < b.right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1));
  check("names do not cover one another", boxes.length >= 5 && covered.length === 0, `${boxes.length} ${JSON.stringify(covered)}`);
  await page.close();
}

// A link to a moment; names beside drones; marks of the policy folded; a compass that turns; bodies at their own size.
async function findTheWay() {
  const page = await open("swarm.html#t=6.5&drone=middle");
  check("a link leads to its moment", Math.abs((await timeOf(page)) - 6.5) < 1e-9 && (await page.evaluate(() => window.volery.view.drone.name)) === "middle");
  check("and does not play", await page.evaluate(() => !window.volery.clock.playing));
  await page.evaluate(() => window.volery.clock.seek(3.25));
  await settled(page);
  check("the address follows", (await page.evaluate(() => location.hash)) === "#t=3.25&drone=middle", await page.evaluate(() => location.hash));
  const names = await page.locator(".label:visible").allInnerTexts();
  check("drones have names", ["west", "middle", "east", "heavy"].every((name) => names.includes(name)), names.join(" "));
  const colors = await page.evaluate(() => window.volery.view.fleet.crafts.map((craft) => craft.color.getHexString()));
  check("and colours", new Set(colors).size === colors.length, colors.join(" "));
  const box = await page.locator(".label", { hasText: "heavy" }).boundingBox();
  const [x, y, half] = await page.evaluate(() => {
    const { view } = window.volery;
    const craft = view.fleet.crafts.find(({ drone }) => drone.name === "heavy");
    const p = view.camera.position.clone().set(...craft.pose.position);
    const far = p.distanceTo(view.camera.position);
    const scene = view.box.getBoundingClientRect();
    p.project(view.camera);
    const size = (craft.shape.size * view.scale * scene.height) / (2 * far * Math.tan((view.camera.fov * Math.PI) / 360));
    return [scene.x + ((p.x + 1) / 2) * scene.width, scene.y + ((1 - p.y) / 2) * scene.height, size / 2];
  });
  check("its name is beside it", box.x >= x + Math.max(9, half) && box.x < x + 4 * half + 20, `${box.x} ${x} ${half}`);
  await page.mouse.click(x, y);
  check("a click chooses a drone", (await page.evaluate(() => window.volery.view.drone.name)) === "heavy");
  const turn = () => page.locator(".rose g").getAttribute("transform");
  const before = await turn();
  await page.keyboard.press("c");
  await page.keyboard.press("c"); // from above: north is up
  await settled(page);
  check("the compass turns", (await turn()) !== before && Math.abs(Number((await turn()).match(/-?[\d.]+/)[0])) < 0.5, `${before} ${await turn()}`);
  const scale = await page.evaluate(() => {
    const { view, compass } = window.volery;
    const a = view.controls.target.clone();
    const b = a.clone().setX(a.x + compass.length);
    const width = view.box.clientWidth;
    return { shown: parseFloat(document.querySelector(".scale-bar").style.width), is: ((b.project(view.camera).x - a.project(view.camera).x) * width) / 2 };
  });
  check("the scale is right", Math.abs(scale.shown - scale.is) < 1, JSON.stringify(scale));
  await page.click(".layer-box summary");
  check("bodies are drawn larger", await page.evaluate(() => window.volery.view.scale > 1));
  await page.locator("label.layer", { hasText: "larger" }).locator("input").uncheck();
  check("or at their size", await page.evaluate(() => window.volery.view.scale === 1));
  check("marks of the policy are folded", (await page.locator('.event[data-kind="nap"]').count()) === 0 && (await page.locator(".fold").innerText()) !== "0");
  await page.click(".fold");
  check("and unfold", (await page.locator('.event[data-kind="nap"]').count()) > 0);
  check("expectations are marked", (await page.locator('.event[data-kind="expectation"]').count()) > 0);
  await page.close();
}

// Nothing a log says is markup.
async function stayUnharmed() {
  const page = await open("hostile.html");
  await page.keyboard.press("i");
  await settled(page);
  check("no script of a log runs", (await page.evaluate(() => document.hacked)) === undefined);
  check("texts are shown as they are", (await page.innerText(".panel")).includes("</script><script>document.hacked=1</script>"), await page.innerText(".panel"));
  await shot(page, "hostile-run");
  await page.keyboard.press("e");
  check("events are shown as they are", (await page.innerText(".panel")).includes("<img src=x onerror=document.hacked=1>"), await page.innerText(".panel"));
  check("no image", (await page.locator("img").count()) === 0);
  await shot(page, "hostile");
  await page.close();
  for (const [name, words] of [["damaged.html", "damaged"], ["no-info.html", "damaged"]]) {
    const bad = await open(name, { expect: "failed" });
    const text = await bad.innerText("body");
    check(`${name}: a clear message`, text.includes("cannot be shown") && text.includes(words), text);
    await shot(bad, name.replace(".html", ""));
    await bad.close();
  }
  // A page that was cut off before its script cannot say anything by script; it must not be blank.
  const torn = await open("torn.html", { expect: "" });
  check("torn.html: not blank", (await torn.innerText("body")).includes("cut off"), (await torn.innerText("body")).slice(0, 200));
  await torn.close();
}

// What `chromium --screenshot` makes of a page that plays: the scene is in it, in more colours than its background has.
async function shootByCommand() {
  const picture = join(folder, "by-command.png");
  const own = mkdtempSync(join(tmpdir(), "volery-view-"));
  const flags = [...options.args, "--headless", `--user-data-dir=${own}`, "--window-size=1280,720", "--virtual-time-budget=4000", `--screenshot=${picture}`];
  execFileSync(options.executablePath, [...flags, `file://${join(folder, "swarm.html")}`], { stdio: "ignore" });
  rmSync(own, { recursive: true, force: true });
  const page = await browser.newPage();
  const count = await page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))]));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return new Set(new Uint32Array(context.getImageData(150, 300, 400, 250).data.buffer)).size;
  }, readFileSync(picture).toString("base64"));
  check("a screenshot by command shows the scene", count > 500, count);
  await page.close();
}

try {
  await shootByCommand();
  await useIt();
  await compareNumbers();
  await compareWorked();
  await seeEvents();
  await seeJoints();
  await seeObstacles();
  await seeThrusters();
  await seeRays();
  await seeFailsafe();
  await compareRuns();
  await seeWhole();
  await seeMany();
  await followPaths();
  await seeEstimate();
  await findTheWay();
  await readNames();
  await lookAround();
  await stayUnharmed();
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(failures === 0 ? `view: ok, ${checks} checks` : `view: ${failures} of ${checks} checks FAILED`);
process.exit(failures === 0 ? 0 : 1);
