// pace.mjs FOLDER PAGE.html - how fast a page plays in headless Chromium's software rendering: for each camera, frames per
// second and milliseconds of script per frame. FOLDER has node_modules, as BUILD/view after `make test-page`.
import { mkdtempSync, rmSync } from "node:fs";
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
const page = await browser.newPage();
await page.emulateMedia({ reducedMotion: "reduce" });
const start = Date.now();
await page.goto(`file://${resolve(file)}`);
await page.waitForFunction(() => document.documentElement.dataset.state, null, { timeout: 120000 });
console.log(`shown after ${((Date.now() - start) / 1000).toFixed(1)} s`);
for (const camera of ["follow", "orbit", "top"]) {
  await page.waitForTimeout(1000);
  await page.evaluate(() => {
    const { clock, frames } = window.volery;
    clock.seek((clock.start + clock.end) / 3);
    if (!clock.playing) clock.toggle();
    Object.assign(frames, { count: 0, script: 0 });
  });
  await page.waitForTimeout(6000);
  const { count, script } = await page.evaluate(() => window.volery.frames);
  console.log(`${camera}: ${(count / 6).toFixed(1)} frames/s, ${(script / count).toFixed(1)} ms of script per frame`);
  await page.keyboard.press("c");
}
await browser.close();
rmSync(profile, { recursive: true, force: true });
