// browser.mjs: Chromium, driven by the DevTools protocol over a pipe, so that nothing but Node.js is needed: JSON
// messages that end with a NUL, in on descriptor 3, out on 4.
import { spawn } from "node:child_process";

export function launch(path, profile) {
  const browser = spawn(
    path,
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

  // A new page with these domains enabled.
  const open = async (...domains) => {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    for (const domain of domains) await send(`${domain}.enable`, {}, sessionId);
    return { targetId, session: sessionId };
  };

  const evaluate = async (session, expression) => {
    const question = { expression, returnByValue: true, awaitPromise: true };
    const { result, exceptionDetails } = await send("Runtime.evaluate", question, session);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };

  const close = async () => {
    const ended = new Promise((done) => browser.once("exit", done));
    await Promise.race([send("Browser.close").catch(() => {}), ended]);
    await ended;
  };

  return { send, eventOf, listeners, open, evaluate, close, kill: () => browser.kill("SIGKILL") };
}
