// pace.mjs FOLDER PAGE.html - how fast a page plays in headless Chromium's software rendering: for each camera, frames per
// second, milliseconds of script per frame, and of processor time of the whole browser, which a busy machine changes least.
// FOLDER has node_modules, as BUILD/view after `make test-page`.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [folder, file] = process.argv.slice(2);
const { chromium } = createRequire(resolve(folder, "node_modules", "x.js"))("playwright-core");
const profile = mkdtempSync(join(tmpdir(), "volery-pace-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  viewport: { width: 1280, height: 720 },
  args: ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// Milliseconds of processor time of all processes below this one, by Linux's account in hundredths of a second.
function processorTime() {
  const parents = new Map();
  const spent = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${id}/stat`, "utf8");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      parents.set(Number(id), Number(fields[1]));
      spent.set(Number(id), 10 * (Number(fields[11]) + Number(fields[12])));
    } catch {
      // it has ended meanwhile
    }
  }
  const isOurs = (id) => id !== undefined && (parents.get(id) === process.pid || isOurs(parents.get(id)));
  return [...spent].reduce((sum, [id, time]) => sum + (isOurs(id) ? time : 0), 0);
}

const page = await browser.newPage();
await page.emulateMedia({ reducedMotion: "reduce" });
// How long each frame's script takes. The median is told: where others compute too, some frames are interrupted.
await page.addInitScript(() => {
  const ask = window.requestAnimationFrame.bind(window);
  window.scriptTimes = [];
  window.requestAnimationFrame = (act) =>
    ask((now) => {
      const start = performance.now();
      act(now);
      window.scriptTimes.push(performance.now() - start);
    });
});
const start = Date.now();
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => document.documentElement.dataset.state, null, { timeout: 120000 });
console.log(`shown after ${((Date.now() - start) / 1000).toFixed(1)} s`);
for (const camera of ["follow", "orbit", "top"]) {
  await page.waitForTimeout(1000);
  await page.evaluate(() => {
    const { clock } = window.volery;
    clock.seek((clock.start + clock.end) / 3);
    if (!clock.playing) clock.toggle();
  });
  await page.waitForTimeout(1500); // until it has found how many pixels it can afford
  const before = processorTime();
  await page.evaluate(() => (window.scriptTimes.length = 0));
  await page.waitForTimeout(6000);
  const times = await page.evaluate(() => window.scriptTimes.sort((a, b) => a - b));
  const spent = processorTime() - before;
  console.log(`${camera}: ${(times.length / 6).toFixed(1)} frames/s, ${times[times.length >> 1].toFixed(1)} ms of script and ${(spent / times.length).toFixed(0)} ms of processor time per frame`);
  await page.keyboard.press("c");
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
