// live.mjs VOLERY FOLDER - a flight in the page while it flies, in headless Chromium: pause, step, speed, and every number the log's.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [, , volery, folder] = process.argv;
const { chromium } = createRequire(join(folder, "node_modules", "x.js"))("playwright-core");
const profile = mkdtempSync(join(tmpdir(), "volery-live-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  viewport: { width: 640, height: 480 }, // small: it draws all the time
  args: ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
browser.setDefaultTimeout(300000); // a busy machine is not a fault
const flights = [];
let failures = 0;
let checks = 0;

function check(what, good, told = "") {
  checks += 1;
  if (good) return;
  failures += 1;
  console.log(`FAILED: ${what} ${told}`);
}

// A flight, and the promise of its end.
async function fly(log, ...more) {
  return flyScenario("first-flight", log, ...more);
}

async function flyScenario(scenario, log, ...more) {
  const flight = spawn(volery, ["run", scenario, "-q", "-o", join(folder, log), "--watch", ...more], { stdio: ["ignore", "inherit", "pipe"] });
  flights.push(flight);
  let told = "";
  const address = new Promise((found) => flight.stderr.on("data", (data) => (told += data) && /http:\S+\/\n/.test(told) && found(told.match(/http:\S+/)[0])));
  const ended = new Promise((done) => flight.on("exit", (status) => done({ status, told })));
  return { flight, address: await address, ended };
}

async function open(address) {
  const page = await browser.newPage();
  await page.emulateMedia({ reducedMotion: "reduce" });
  const { origin, host } = new URL(address);
  page.on("console", (m) => check("console", m.text().includes("GL Driver Message"), m.text()));
  page.on("pageerror", (e) => check("error", false, e.message));
  page.on("request", (r) => check("request", /^(data|blob):/.test(r.url()) || r.url().startsWith(origin), r.url()));
  page.on("websocket", (s) => check("socket", new URL(s.url()).host === host, s.url()));
  await page.goto(address);
  await until(page, () => document.documentElement.dataset.state);
  check("it is shown", (await page.evaluate(() => document.documentElement.dataset.state)) === "ready", await page.innerText("body"));
  return page;
}

// Every position of the page, and where the scene has the drone at its end, against the log.
async function compare(page, log, status = "completed") {
  await page.bringToFront(); // only what is in front draws
  await until(page, () => window.volery.live === undefined); // all is there
  const [head, ...rows] = execFileSync(volery, ["export", join(folder, log), "--csv", "--fields", "body.position"], { encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n").map((line) => line.split(","));
  const seen = await page.evaluate(() => {
    const app = window.volery;
    const truth = app.runs[0].drones[0].streams.get("truth");
    const lines = app.plots.plots.find((plot) => plot.group.id === "position").lines.slice(0, 3);
    app.view.draw(app.clock.end);
    return { time: [...truth.time], table: ["x", "y", "z"].map((k) => [...truth.column(`position.${k}`)]), lines: lines.map((line) => [...line.values]), pose: app.view.fleet.crafts[0].pose.position, end: app.clock.end };
  });
  check(`${log}: all records`, seen.time.length === rows.length, `${seen.time.length} ${rows.length}`);
  const column = (name) => rows.map((row) => Number(row[head.indexOf(name)]));
  ["x", "y", "z"].forEach((k, i) => {
    const wanted = column(`body.position.${k}`);
    check(`${log}: ${k} is the log's`, wanted.every((value, n) => value === seen.table[i][n]));
    check(`${log}: ${k} is plotted`, wanted.every((value, n) => value === seen.lines[i][n]) && seen.lines[i].length === wanted.length, seen.lines[i].length);
    check(`${log}: ${k} in the scene`, Math.abs(seen.pose[i] - wanted[wanted.length - 1]) < 1e-9, `${seen.pose[i]}`);
  });
  await press(page, "i");
  const panel = await page.innerText(".panel");
  const { final_hash: hash } = JSON.parse(execFileSync(volery, ["replay", join(folder, log), "--json"], { encoding: "utf8" }));
  check(`${log}: the hash`, panel.includes(hash), hash);
  check(`${log}: the status`, (await page.innerText(".chip")) === status);
  check(`${log}: expectations`, status !== "completed" || (panel.match(/: (not )?met,/g) ?? []).length === 3);
}

// Neither needs a picture: on a busy machine one may take seconds.
const until = (page, what, argument) => page.waitForFunction(what, argument, { polling: 100 });
const click = (page, what) => page.evaluate((w) => document.querySelector(w).click(), what);
const press = (page, key) => page.evaluate((k) => document.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })), key);
const chip = (page, words) => until(page, (w) => document.querySelector(".chip").textContent === w, words);
const flown = (page) => page.evaluate(() => window.volery.runs[0].end);

// As fast as it goes: it begins when the page is there, and all of it arrives.
async function watchFast() {
  const { address, ended } = await fly("fast.mcap");
  const page = await open(address);
  check("the flight ends by itself", (await ended).status === 0);
  await compare(page, "fast.mcap");
  await page.close();
}

// In real time, and long enough: paused, stepped, looked back at, let go on, paused again, stopped. A second page comes later.
async function watchPaced() {
  const { flight, address, ended } = await fly("paced.mcap", "--realtime", "--duration", "100000");
  const page = await open(address);
  await until(page, () => window.volery.runs[0].end > 2 && window.volery.clock.time > 1.5);
  check("it is live", (await page.innerText(".chip")) === "live");
  check("at the speed that was asked for", (await page.inputValue(".live-speed")) === "1");
  await page.evaluate(() => {
    for (let i = 0; i < 30; ++i) window.volery.view.pace(60); // as where frames are slow
  });
  await click(page, ".live-pause");
  await chip(page, "paused");
  await until(page, () => window.volery.view.renderer.getPixelRatio() === 1); // it stands, and is drawn in full
  const paused = await flown(page);
  for (let i = 1; i <= 3; ++i) {
    await press(page, ".");
    await until(page, (t) => window.volery.runs[0].end > t - 1e-6, paused + 0.01 * i);
  }
  await press(page, "Home");
  check("it can be looked back", (await page.evaluate(() => window.volery.clock.follows)) === false && (await page.evaluate(() => window.volery.clock.time)) < paused);
  await click(page, ".live-now");
  await until(page, () => window.volery.clock.follows && window.volery.clock.end - window.volery.clock.time < 0.01);
  const second = await open(address);
  await chip(second, "paused");
  check("who comes later has it from the start", (await second.evaluate(() => window.volery.runs[0].start)) === 0 && (await flown(second)) === (await flown(page)));
  await second.evaluate(() => {
    const speed = document.querySelector(".live-speed");
    speed.value = "10";
    speed.dispatchEvent(new Event("change"));
  });
  await page.bringToFront();
  await until(page, () => document.querySelector(".live-speed").value === "10");
  await press(page, "o");
  await chip(page, "live");
  await press(page, "o");
  await chip(page, "paused"); // by then it has all there is
  await second.bringToFront();
  await chip(second, "paused");
  flight.kill("SIGINT");
  check("Ctrl-C", (await ended).status === 130);
  await compare(page, "paced.mcap", "interrupted");
  await compare(second, "paced.mcap", "interrupted");
  await page.close();
  await second.close();
}

// A push, a gust and a fault by buttons, and both that can be aimed by dragging: each is in the log, which replays.
async function watchDisturbed() {
  const { flight, address, ended } = await fly("disturbed.mcap", "--realtime", "--duration", "100000", "--set", "expect=[]");
  const page = await open(address);
  await until(page, () => window.volery.runs[0].end > 0.5 && window.volery.live.records > 0);
  await click(page, ".live-pause");
  await chip(page, "paused");
  await page.evaluate(() => (document.querySelector(".inject-box").open = true));
  check("what cannot be flown is not offered", !(await page.isVisible(".live-fly")));
  const injected = () => page.evaluate(() => window.volery.runs[0].events.filter((event) => event.kind === "injection").map(({ drone, text }) => `${drone}: ${text}`));
  const step = async (count) => {
    await press(page, ".");
    await until(page, (n) => window.volery.runs[0].events.filter((event) => event.kind === "injection").length >= n, count);
  };
  await click(page, ".inject-push");
  await click(page, ".inject-gust");
  await page.evaluate(() => {
    const kind = document.querySelector(".inject-box select[title='what fails']");
    kind.value = "motor at half thrust";
    kind.dispatchEvent(new Event("change"));
    document.querySelector(".inject-box input[title^='seconds of the fault']").value = "0.2";
  });
  await click(page, ".inject-fault");
  await step(3);
  const weight = await page.evaluate(() => window.volery.runs[0].drones[0].info.mass * Math.hypot(...(window.volery.runs[0].info.gravity ?? [0, 0, 9.80665])));
  const texts = await injected();
  check("push", texts[0] === `alpha: push of ${Number((weight / 2).toPrecision(3))} N (${Number((weight / 2).toPrecision(3))}, 0, 0) for 0.3 s`, texts[0]);
  check("gust", texts[1] === ": gust of 6 m/s (6, 0, 0), for 1.6 s", texts[1]);
  check("fault", texts[2] === "alpha: motor_weak for 0.2 s", texts[2]);
  // From the drone upwards in the picture, 80 pixels: half its weight, mostly up.
  await page.evaluate(() => (document.querySelector(".inject-box").open = false));
  await click(page, ".live-now");
  await until(page, () => window.volery.clock.follows);
  const [x, y] = await page.evaluate(() => {
    const { view } = window.volery;
    view.draw(window.volery.clock.time);
    const box = document.querySelector(".scene-canvas").getBoundingClientRect();
    const at = view.camera.position.clone().set(...view.fleet.crafts[0].pose.position).project(view.camera);
    return [((at.x + 1) / 2) * box.width + box.left, ((1 - at.y) / 2) * box.height + box.top];
  });
  const drag = async (fromX, fromY, toX, toY) => {
    await page.keyboard.down("Shift");
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    await page.mouse.move(toX, toY, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
  };
  await drag(x, y, x, y - 80);
  await step(4);
  const [, size, east, north, up] = (await injected())[3].match(/push of (\S+) N \((\S+), (\S+), (\S+)\)/).map(Number);
  check("a drag from a drone", Math.abs(size - weight / 2) < 0.02 * weight && up > 0.8 * size && Math.abs(Math.hypot(east, north, up) - size) < 0.01 * size, (await injected())[3]);
  const scene = await page.evaluate(() => document.querySelector(".scene-canvas").getBoundingClientRect().toJSON());
  await drag(scene.left + 0.2 * scene.width, scene.top + 0.7 * scene.height, scene.left + 0.2 * scene.width + 60, scene.top + 0.7 * scene.height);
  await step(5);
  check("a drag from elsewhere", /^: gust of 3 m\/s \(\S+, \S+, 0\)/.test((await injected())[4]), (await injected())[4]);
  await press(page, "o");
  await until(page, (t) => window.volery.runs[0].end > t + 0.3, await flown(page));
  await press(page, "o");
  await chip(page, "paused");
  flight.kill("SIGINT");
  check("Ctrl-C after that", (await ended).status === 130);
  await compare(page, "disturbed.mcap", "interrupted");
  check("nothing can be done to what is over", (await page.$(".inject-box")) === null);
  await page.close();
}

// A flight that is killed says nothing more: the page keeps what it has, and tells so. On a phone its controls fit.
async function watchKilled() {
  const { flight, address, ended } = await fly("killed.mcap", "--realtime", "--duration", "100000", "--set", "expect=[]");
  const page = await open(address);
  await until(page, () => window.volery.runs[0].end > 0.5 && window.volery.live.records > 0);
  await page.setViewportSize({ width: 390, height: 844 });
  const over = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".top .tool, .top select")].map((part) => part.getBoundingClientRect()).filter((box) => box.width > 0);
    return boxes.filter((a, i) => a.right > innerWidth || boxes.some((b, k) => k !== i && a.left < b.right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1)).length;
  });
  check("controls on a phone stand apart", over === 0, over);
  await page.screenshot({ path: join(folder, "live-phone.png") });
  flight.kill("SIGKILL");
  await ended;
  await chip(page, "cut off");
  check("what can be done is told", (await page.innerText(".live-words")).includes("load the page again"), await page.innerText(".live-words"));
  check("what is there stays", (await flown(page)) > 0.5);
  await page.close();
}

// A gamepad that the browser knows flies the drone.
async function watchGamepad() {
  const { flight, address, ended } = await flyScenario("pilot", "gamepad.mcap", "--realtime");
  const page = await open(address);
  await page.evaluate(() => {
    navigator.getGamepads = () => [{ connected: true, axes: [0.5, -0.25, 1, -0.62] }];
  });
  await until(page, () => window.volery.live?.state.pilots.length === 1);
  await click(page, ".live-fly");
  await until(page, () => (window.volery.runs[0].drones[0].streams.get("reply")?.column("throttle") ?? []).some((value) => value === 6));
  const reply = await page.evaluate(() => {
    const table = window.volery.runs[0].drones[0].streams.get("reply");
    const i = [...table.column("throttle")].findIndex((value) => value === 6);
    return ["throttle", "strafe", "vertical", "yaw"].map((name) => table.column(name)[i]);
  });
  check("a gamepad's sticks", JSON.stringify(reply) === "[6,1,0.25,0.5]", JSON.stringify(reply));
  flight.kill("SIGINT");
  await ended;
  execFileSync(volery, ["replay", join(folder, "gamepad.mcap")]);
  await page.close();
}

try {
  await watchFast();
  await watchPaced();
  await watchDisturbed();
  await watchGamepad();
  await watchKilled();
} finally {
  for (const flight of flights) flight.kill("SIGKILL"); // those that are left
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(failures === 0 ? `live: ok, ${checks} checks` : `live: ${failures} of ${checks} checks FAILED`);
process.exit(failures === 0 ? 0 : 1);
