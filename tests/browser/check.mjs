// check.mjs: drives Chromium by the DevTools protocol over a pipe, so that nothing but Node.js is needed.
//
//   node check.mjs CHROMIUM PROFILE_DIR REPORT.html OUTDIR
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { measure } from "./measure.mjs";

const [browserPath, profile, report, outDir] = process.argv.slice(2);
if (!existsSync(report)) {
  console.error(`${report}: no such file`);
  process.exit(2);
}
const url = pathToFileURL(resolve(report)).href;
const name = basename(report, ".html");

// ---- the protocol: JSON messages that end with a NUL, in on descriptor 3, out on 4 ----

const browser = spawn(
  browserPath,
  ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
   "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
   "--hide-scrollbars", "--remote-debugging-pipe", `--user-data-dir=${profile}`],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);
const waiting = new Map();
const listeners = new Set();
let lastId = 0;
let pending = "";

browser.on("exit", (code) => {
  for (const { reject } of waiting.values()) reject(new Error(`Chromium ended with status ${code}`));
});
browser.stdio[4].on("data", (chunk) => {
  pending += chunk;
  const messages = pending.split("\0");
  pending = messages.pop();
  for (const text of messages) {
    const message = JSON.parse(text);
    if (message.id === undefined) {
      for (const listener of listeners) listener(message);
      continue;
    }
    const { resolve: done, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else done(message.result);
  }
});

const send = (method, params = {}, sessionId = undefined) =>
  new Promise((done, reject) => {
    const id = ++lastId;
    waiting.set(id, { resolve: done, reject });
    browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  });

const eventOf = (sessionId, method) =>
  new Promise((done) => {
    const listener = (message) => {
      if (message.sessionId !== sessionId || message.method !== method) return;
      listeners.delete(listener);
      done(message.params);
    };
    listeners.add(listener);
  });

// ---- one page at one size ----

const faults = [];

function watch(sessionId, where) {
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

async function evaluate(session, expression) {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true }, session);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

async function look(width, scheme, print) {
  const where = `${name} at ${width} px, ${scheme}`;
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true });
  const unwatch = watch(session, where);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`, {}, session);
  const metrics = { width, height: width < 600 ? 800 : 900, deviceScaleFactor: 1, mobile: width < 600 };
  await send("Emulation.setDeviceMetricsOverride", metrics, session);
  const features = [{ name: "prefers-color-scheme", value: scheme }];
  await send("Emulation.setEmulatedMedia", { features }, session);
  const loaded = eventOf(session, "Page.loadEventFired");
  await send("Page.navigate", { url }, session);
  await loaded;
  faults.push(...(await evaluate(session, `(${measure})()`)).map((fault) => `${where}: ${fault}`));
  await screenshot(session, `${name}-${width}-${scheme}.png`);
  // A page of a thousand scenarios takes Chromium a minute to draw whole; its sections are those of a small one.
  if (await evaluate(session, "document.querySelectorAll('*').length < 20000")) {
    await evaluate(session, "for (const d of document.querySelectorAll('details')) d.open = true");
    faults.push(...(await evaluate(session, `(${measure})()`)).map((fault) => `${where}, opened: ${fault}`));
    await screenshot(session, `${name}-${width}-${scheme}-opened.png`);
  }
  if (print) {
    await evaluate(session, "for (const d of document.querySelectorAll('details')) d.open = false");
    const { data } = await send("Page.printToPDF", { printBackground: true, preferCSSPageSize: true }, session);
    writeFileSync(join(outDir, `${name}.pdf`), Buffer.from(data, "base64"));
  }
  unwatch();
  await send("Target.closeTarget", { targetId });
}

const timer = setTimeout(() => {
  console.error(`${report}: the browser did not answer within two minutes`);
  browser.kill("SIGKILL");
  process.exit(1);
}, 120_000);

try {
  for (const width of [320, 380, 768, 1440])
    for (const scheme of ["light", "dark"]) await look(width, scheme, width === 1440 && scheme === "light");
} catch (error) {
  faults.push(error.message);
}
clearTimeout(timer);
const ended = new Promise((done) => browser.once("exit", done));
await Promise.race([send("Browser.close").catch(() => {}), ended]);
await ended;
for (const fault of new Set(faults)) console.error(fault);
console.log(`${report}: ${faults.length ? "FAULTS" : "looks right"} at 320, 380, 768 and 1440 px, light and dark; screenshots in ${outDir}`);
process.exit(faults.length ? 1 : 0);
