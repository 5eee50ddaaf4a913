// The thread of a hook module: calls without an answer, late answers, and when the thread is replaced.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import type { Log } from "../../src/base/log.ts";
import type { HookTransport } from "../../src/hooks/transport.ts";
import { moduleHook } from "../../src/hooks/module-hook.ts";
import { eventually } from "../support/patience.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-thread-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A module that counts its calls and does as it is told. */
const text = `
let calls = 0;
const held = [];
export async function before({ what, ms }) {
  calls += 1;
  if (what === "hang") return new Promise(() => {});
  if (what === "hold") return new Promise((resolve) => held.push(resolve));
  if (what === "let go") { for (const resolve of held.splice(0)) resolve({ calls }); return { calls }; }
  if (what === "block") for (;;);
  if (what === "throw later") { setTimeout(() => { throw new Error("out of the blue"); }); return new Promise(() => {}); }
  if (what === "throw text") throw "no error";
  if (what?.names) return { names: Object.keys(what.names) };
  if (what === "size") return "x".repeat(ms);
  return { calls };
}
`;
const path = join(folder, "thread.mjs");
writeFileSync(path, text);

let open: HookTransport | undefined;
let warned: string[] = [];
afterEach(() => open?.close());

async function start(module = path): Promise<HookTransport> {
  warned = [];
  const warn = ({ why }: { readonly why: string }): void => void warned.push(why);
  open = await moduleHook({
    name: "own",
    at: "before",
    path: module,
    log: { warn } as unknown as Log,
  });
  return open;
}

const ask = async (
  asker: HookTransport,
  what: string,
  { timeoutMs = 5_000, answerBytesMax = 1_000, ms = 0 } = {},
) => {
  const question = { id: "req", text: JSON.stringify({ what, ms }), timeoutMs, answerBytesMax };
  return Buffer.from(await asker.ask(question)).toString();
};
const callsIn = (answer: string): number => (JSON.parse(answer) as { calls: number }).calls;

it("a call that never ends fails alone, and the thread stays", async () => {
  const asker = await start();
  for (let at = 0; at < 5; at += 1)
    await expect(ask(asker, "hang", { timeoutMs: 20 })).rejects.toThrow("no answer within 20 ms");
  // Longer than a blocked thread has to show that it is alive.
  await expect(ask(asker, "hang", { timeoutMs: 400 })).rejects.toThrow("no answer within 400 ms");
  expect(callsIn(await ask(asker, "count"))).toBe(7);
  expect(warned).toEqual([]);
});

it("a thread with more than 100 unanswered calls is replaced, and calls meanwhile fail at once", async () => {
  const asker = await start();
  const hang = () => ask(asker, "hang", { timeoutMs: 5 }).catch((error: Error) => error.message);
  const said = await Promise.all(Array.from({ length: 100 }, hang));
  expect(new Set(said)).toEqual(new Set(["no answer within 5 ms"]));
  expect(warned).toEqual([]);
  expect(callsIn(await ask(asker, "count"))).toBe(101);
  await hang();
  expect(warned).toEqual(["it left too many questions unanswered"]);
  await expect(ask(asker, "count")).rejects.toThrow("its thread is being replaced");
  const first = await eventually(() => ask(asker, "count").catch(() => undefined), "a new thread");
  expect(callsIn(first)).toBeLessThan(50);
});

it("late answers are ignored, and no longer count as unanswered calls", async () => {
  const asker = await start();
  for (let round = 0; round < 3; round += 1) {
    const late = Array.from({ length: 90 }, () =>
      ask(asker, "hold", { timeoutMs: 5 }).catch((error: Error) => error.message),
    );
    expect(new Set(await Promise.all(late))).toEqual(new Set(["no answer within 5 ms"]));
    await ask(asker, "let go");
  }
  expect(callsIn(await ask(asker, "count"))).toBe(274);
  expect(warned).toEqual([]);
});

it("a thread queues at most 1,000 calls", async () => {
  const asker = await start();
  const waiting = Array.from({ length: 1_000 }, () => ask(asker, "hold"));
  await expect(ask(asker, "count")).rejects.toThrow("too many questions wait for it");
  await asker.close();
  const ends = await Promise.allSettled(waiting);
  const reasons = ends.map((end) => end.status === "rejected" && String(end.reason));
  expect(new Set(reasons)).toEqual(new Set(["HookFailedError: the gateway stops"]));
  expect(warned).toEqual([]);
});

it.each([
  ["block", "it blocked its thread"],
  ["throw later", "its thread failed: out of the blue"],
])('"%s" fails all waiting calls, and the log says why', async (what, why) => {
  const asker = await start();
  const held = ask(asker, "hold").catch((error: Error) => error.message);
  await expect(ask(asker, what, { timeoutMs: 1_000 })).rejects.toThrow(/no answer|its thread/);
  expect(await held).toBe(why);
  expect(warned).toEqual([why]);
  const first = await eventually(() => ask(asker, "count").catch(() => undefined), "a new thread");
  expect(callsIn(first)).toBeLessThan(50);
  expect(warned).toEqual([why]);
});

it("an answer may have `answerBytesMax` bytes, and errors name what was thrown", async () => {
  const asker = await start();
  expect(await ask(asker, "size", { ms: 8, answerBytesMax: 10 })).toBe('"xxxxxxxx"');
  await expect(ask(asker, "size", { ms: 9, answerBytesMax: 10 })).rejects.toThrow(
    "Error: its answer is longer than 10 bytes",
  );
  await expect(ask(asker, "throw text")).rejects.toThrow("no error");
});

it("a module that loads slowly starts again, however many calls come meanwhile", async () => {
  const slow = join(folder, "slow.mjs");
  writeFileSync(
    slow,
    'const until = performance.now() + 700;\nwhile (performance.now() < until);\nexport const before = ({ what }) => (what === "exit" ? process.exit() : {});',
  );
  const asker = await start(slow);
  await expect(ask(asker, "exit")).rejects.toThrow("its thread ended");
  // More calls during its loading than a thread may leave unanswered, each with a shorter timeout than loading takes.
  const all = await eventually(async () => {
    const asked = Array.from({ length: 20 }, () => ask(asker, "count", { timeoutMs: 50 }));
    const ends = await Promise.allSettled(asked);
    return ends.every(({ status }) => status === "fulfilled");
  }, "a new thread");
  expect(all).toBe(true);
  expect(warned).toEqual(["its thread ended"]);
});

it("messages that a module posts itself do not disturb the gateway", async () => {
  const chatty = join(folder, "chatty.mjs");
  writeFileSync(
    chatty,
    `import { parentPort } from "node:worker_threads";
for (const own of ["hello", null, 5, {}, { id: 1 }, { id: 1, error: {} }, { unloadable: {} }]) parentPort.postMessage(own);
export const before = () => ({ action: "allow" });`,
  );
  const asker = await start(chatty);
  expect(await ask(asker, "anything")).toBe('{"action":"allow"}');
  expect(warned).toEqual([]);
});

it("member names of a request reach the module unchanged, also after another name", async () => {
  const asker = await start();
  const limits = { id: "req", timeoutMs: 5_000, answerBytesMax: 1_000 };
  for (const name of ["\\", "\n"]) {
    const text = JSON.stringify({ what: { names: { a: 1, [name]: 2 } } });
    const said = Buffer.from(await asker.ask({ ...limits, text })).toString();
    expect(said).toBe(JSON.stringify({ names: ["a", name] }));
  }
});
