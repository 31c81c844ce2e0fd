// pace.mjs FOLDER PAGE.html - how fast a page opens and plays in headless Chromium's software rendering: for each camera, frames per
// second, milliseconds of the page's main thread per frame (script, layout, painting; of that the script), and of processor time of
// the whole browser. Both are times of threads, which a busy machine changes least.
// FOLDER has node_modules, as BUILD/view after `make test-page`.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { processorTime } from "./processor.mjs";

const [folder, file] = process.argv.slice(2);
const { chromium } = createRequire(resolve(folder, "node_modules", "x.js"))("playwright-core");
const profile = mkdtempSync(join(tmpdir(), "volery-pace-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  viewport: { width: 1280, height: 720 },
  args: ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const page = await browser.newPage();
await page.emulateMedia({ reducedMotion: "reduce" });
await page.addInitScript(() => {
  const ask = window.requestAnimationFrame.bind(window);
  window.drawn = 0;
  window.requestAnimationFrame = (act) => ask((now) => (act(now), (window.drawn += 1)));
});
// What the page's thread has worked, without what others on this machine did meanwhile.
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
async function threadTimes() {
  const { metrics } = await devtools.send("Performance.getMetrics");
  const told = (wanted) => 1000 * metrics.find(({ name }) => name === wanted).value;
  return { main: told("TaskDuration"), script: told("ScriptDuration") };
}

const start = Date.now();
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => document.documentElement.dataset.state, null, { timeout: 120000 });
const { main } = await threadTimes();
console.log(`shown after ${((Date.now() - start) / 1000).toFixed(1)} s: ${(main / 1000).toFixed(1)} s of the main thread, ${(processorTime() / 1000).toFixed(1)} s of processor time`);
for (const camera of ["whole", "follow", "top"]) {
  await page.waitForTimeout(1000);
  await page.evaluate(() => {
    const { clock } = window.volery;
    clock.seek((clock.start + clock.end) / 3);
    if (!clock.playing) clock.toggle();
  });
  await page.waitForTimeout(1500); // until it has found how many pixels it can afford
  const from = { processor: processorTime(), thread: await threadTimes(), drawn: await page.evaluate(() => window.drawn), at: Date.now() };
  for (let drawn = 0; drawn < 60 && Date.now() < from.at + 30000; drawn = (await page.evaluate(() => window.drawn)) - from.drawn) await page.waitForTimeout(1000);
  const drawn = (await page.evaluate(() => window.drawn)) - from.drawn;
  const now = await threadTimes();
  const per = (spent) => spent / drawn;
  const rate = (1000 * drawn) / (Date.now() - from.at);
  const [main, script, processor] = [per(now.main - from.thread.main), per(now.script - from.thread.script), per(processorTime() - from.processor)];
  console.log(`${camera}: ${rate.toFixed(1)} frames/s; per frame ${main.toFixed(1)} ms of the main thread, ${script.toFixed(1)} ms of it script; ${processor.toFixed(0)} ms of processor time`);
  await page.keyboard.press("c");
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
