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
await page.addInitScript(() => {
  const ask = window.requestAnimationFrame.bind(window);
  window.drawn = 0;
  window.requestAnimationFrame = (act) => ask((now) => (act(now), (window.drawn += 1)));
});
// Script as the page's thread has worked on it, without what others on this machine did meanwhile.
const devtools = await page.context().newCDPSession(page);
await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
async function scriptTime() {
  const { metrics } = await devtools.send("Performance.getMetrics");
  return 1000 * metrics.find(({ name }) => name === "ScriptDuration").value;
}

const start = Date.now();
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => document.documentElement.dataset.state, null, { timeout: 120000 });
console.log(`shown after ${((Date.now() - start) / 1000).toFixed(1)} s`);
for (const camera of ["whole", "follow", "top"]) {
  await page.waitForTimeout(1000);
  await page.evaluate(() => {
    const { clock } = window.volery;
    clock.seek((clock.start + clock.end) / 3);
    if (!clock.playing) clock.toggle();
  });
  await page.waitForTimeout(1500); // until it has found how many pixels it can afford
  const from = { processor: processorTime(), script: await scriptTime(), drawn: await page.evaluate(() => window.drawn), at: Date.now() };
  for (let drawn = 0; drawn < 60 && Date.now() < from.at + 30000; drawn = (await page.evaluate(() => window.drawn)) - from.drawn) await page.waitForTimeout(1000);
  const drawn = (await page.evaluate(() => window.drawn)) - from.drawn;
  const [rate, script, processor] = [(1000 * drawn) / (Date.now() - from.at), ((await scriptTime()) - from.script) / drawn, (processorTime() - from.processor) / drawn];
  console.log(`${camera}: ${rate.toFixed(1)} frames/s, ${script.toFixed(1)} ms of script and ${processor.toFixed(0)} ms of processor time per frame`);
  await page.keyboard.press("c");
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
