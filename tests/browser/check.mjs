// check.mjs: what is wrong with reports, in every size and colour scheme.
//
//   node check.mjs CHROMIUM PROFILE_DIR OUTDIR AXE.js|"" REPORT.html...
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";
import { measure } from "./measure.mjs";

const [browserPath, profile, outDir, axePath, ...reports] = process.argv.slice(2);
for (const report of reports) {
  if (existsSync(report)) continue;
  console.error(`${report}: no such file`);
  process.exit(2);
}
const axe = axePath ? readFileSync(axePath, "utf8") : null;

const { send, eventOf, listeners, open, evaluate, close, kill } = launch(browserPath, profile);

// ---- one page at one size ----

function watch(sessionId, where, url, faults) {
  const listener = ({ sessionId: from, method, params }) => {
    if (from !== sessionId) return;
    if (method === "Runtime.exceptionThrown") faults.push(`${where}: ${params.exceptionDetails.text}`);
    if (method === "Runtime.consoleAPICalled") faults.push(`${where}: console.${params.type}`);
    if (method === "Log.entryAdded" && params.entry.level !== "verbose") faults.push(`${where}: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && params.request.url.split("#")[0] !== url)
      faults.push(`${where}: asks for ${params.request.url}`);
  };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function screenshot(session, file) {
  const { cssContentSize } = await send("Page.getLayoutMetrics", {}, session);
  const clip = { x: 0, y: 0, width: cssContentSize.width, height: Math.min(cssContentSize.height, 12000), scale: 1 };
  const shot = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip }, session);
  writeFileSync(join(outDir, file), Buffer.from(shot.data, "base64"));
}

// What axe-core finds: each violated rule with the first place that violates it.
async function violations(session) {
  if (!axe) return [];
  await evaluate(session, `window.axe ?? (() => { ${axe} })()`);
  const options = JSON.stringify({ resultTypes: ["violations"] });
  const found = await evaluate(session, `axe.run(document, ${options}).then(({ violations }) => violations.map(
    ({ id, help, nodes }) => id + ": " + help + ", " + nodes.length + " times, first " + nodes[0].html.slice(0, 160)))`);
  return found.map((text) => `axe: ${text}`);
}

// What a keyboard does not reach, or reaches without a sign of it, from the top of the page to its end. The page
// takes notes itself: an answer to each key would come with the next frame only, and there are many controls.
async function keyboard(session) {
  const reachable = await evaluate(session, `(() => {
    document.activeElement?.blur();
    window.tabbed = [];
    document.addEventListener("focusin", ({ target }) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(target);
      window.tabbed.push({ name: target.localName + " " + target.textContent.trim().slice(0, 40),
                           shown: outlineStyle !== "none" && parseFloat(outlineWidth) > 0 });
    });
    return [...document.querySelectorAll('a[href], button, input, summary, [tabindex]')]
      .filter((element) => element.checkVisibility()).length;
  })()`);
  const key = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 };
  const keys = [];
  for (let i = 0; i < reachable; i++)
    for (const type of ["keyDown", "keyUp"]) keys.push(send("Input.dispatchKeyEvent", { type, ...key }, session));
  await Promise.all(keys);
  const tabbed = await evaluate(session, "window.tabbed");
  const faults = tabbed.filter(({ shown }) => !shown).map(({ name }) => `keyboard: the focus is not seen on ${name}`);
  if (tabbed.length !== reachable) faults.push(`keyboard: Tab reaches ${tabbed.length} of ${reachable} controls`);
  return faults;
}

const setDetails = (session, open) =>
  evaluate(session, `for (const d of document.querySelectorAll('details')) d.open = ${open}`);

// One page at one width: loaded once, then seen in both colour schemes.
async function look({ url, name, faults }, width) {
  const { targetId, session } = await open("Page", "Runtime", "Log", "Network");
  const unwatch = watch(session, `${name} at ${width} px`, url, faults);
  const metrics = { width, height: width < 600 ? 800 : 900, deviceScaleFactor: 1, mobile: width < 600 };
  await send("Emulation.setDeviceMetricsOverride", metrics, session);
  const loaded = eventOf(session, "Page.loadEventFired");
  await send("Page.navigate", { url }, session);
  await loaded;
  // A page of a thousand scenarios takes Chromium a minute to draw whole; its sections are those of a small one.
  const small = await evaluate(session, "document.querySelectorAll('*').length < 20000");
  for (const scheme of ["light", "dark"]) {
    const where = `${name} at ${width} px, ${scheme}`;
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    await send("Emulation.setEmulatedMedia", { features }, session);
    faults.push(...(await evaluate(session, `(${measure})()`)).map((fault) => `${where}: ${fault}`));
    await screenshot(session, `${name}-${width}-${scheme}.png`);
    if (!small) continue;
    await setDetails(session, true);
    faults.push(...(await evaluate(session, `(${measure})()`)).map((fault) => `${where}, opened: ${fault}`));
    if ((width === 320 && scheme === "light") || (width === 1440 && scheme === "dark")) // it takes seconds
      faults.push(...(await violations(session)).map((fault) => `${where}, opened: ${fault}`));
    await screenshot(session, `${name}-${width}-${scheme}-opened.png`);
    await setDetails(session, false);
  }
  if (width === 1440) {
    if (small) faults.push(...(await keyboard(session)).map((fault) => `${name} at ${width} px: ${fault}`));
    await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "light" }] }, session);
    const { data } = await send("Page.printToPDF", { printBackground: true, preferCSSPageSize: true }, session);
    writeFileSync(join(outDir, `${name}.pdf`), Buffer.from(data, "base64"));
  }
  unwatch();
  await send("Target.closeTarget", { targetId });
}

// ---- all pages ----

async function check(report) {
  const page = { url: pathToFileURL(resolve(report)).href, name: basename(report, ".html"), faults: [] };
  const timer = setTimeout(() => {
    console.error(`${report}: the browser did not answer within five minutes`);
    kill();
    process.exit(1);
  }, 300_000);
  try {
    for (const width of [320, 380, 768, 1440, 2560]) await look(page, width);
  } catch (error) {
    page.faults.push(error.message);
  }
  clearTimeout(timer);
  for (const fault of new Set(page.faults)) console.error(fault);
  const looked = `at 320, 380, 768, 1440 and 2560 px, light and dark, by keyboard${axe ? ", axe-core included" : ""}`;
  console.log(`${report}: ${page.faults.length ? "FAULTS" : "looks right"} ${looked}; screenshots in ${outDir}`);
  return page.faults.length;
}

// Pages side by side, as many as there are processors: each in a tab of its own.
let faulty = 0;
const waiting = [...reports];
async function work() {
  while (waiting.length > 0) faulty += (await check(waiting.shift())) > 0;
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
await close();
process.exit(faulty ? 1 : 0);
