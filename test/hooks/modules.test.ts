// Hooks in the operator's own modules: they run in a thread, so that the gateway survives whatever they do.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { openHooks } from "../../src/hooks/index.ts";
import { createPools } from "../../src/upstream/index.ts";
import { tollgateHere } from "../support/command.ts";
import { preparedDataDir } from "../support/postgres.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import { expectBooks } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-hooks-"));
const module = (name: string, text: string): string => {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, text);
  return path;
};

/** Does as the last message says. */
const guard = module(
  "guard",
  `
let calls = 0;
export async function before({ body }) {
  calls += 1;
  const said = body.messages.at(-1).content;
  if (said === "hang") return new Promise(() => {});
  if (said === "block") for (;;);
  if (said === "exit") process.exit(1);
  if (said === "throw") throw new Error("a mistake of mine");
  if (said === "late throw") { setTimeout(() => { throw new Error("later"); }); return new Promise(() => {}); }
  if (said === "memory") { const all = []; for (;;) all.push(new Array(1e6).fill(calls)); }
  if (said === "huge") return { action: "allow", more: "x".repeat(1_500_000) };
  if (said === "nothing") return;
  if (said === "bigint") return { action: 1n };
  if (said === "no") return { action: "refuse", message: "Not here." };
  if (said === "yes") return { action: "allow" };
  return { action: "change", body: { ...body, messages: [{ role: "user", content: "changed" }] } };
}
`,
);
const ear = module("ear", "export const after = ({ id }) => { if (!id) throw id; };");

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({
    sandbox: "on",
    config: `hooks:
  - { name: own, at: before, module: "${guard}", timeout_ms: 400, endpoints: [chat_completions] }
  - { name: heard, at: after, module: "${ear}" }
`,
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = async (content: string) => {
  const answer = await bench.post("/v1/chat/completions", {
    model: "sandbox/chat",
    messages: [{ role: "user", content }],
  });
  const body = (await answer.json()) as { error?: { code: string; message: string } };
  return { status: answer.status, error: body.error };
};

describe("a hook in a module", () => {
  it("allows, refuses and changes", async () => {
    await bench.received(/./);
    expect(await say("yes")).toMatchObject({ status: 200 });
    expect(await say("no")).toMatchObject({
      status: 403,
      error: { code: "hook_refused", message: "Not here." },
    });
    expect(await say("my words")).toMatchObject({ status: 200 });
    const sent = await bench.received(/chat/);
    expect(JSON.stringify(sent.at(-1)!.body)).toContain("changed");
    expect(sent).toHaveLength(2);
  });

  it.each(["hang", "throw", "huge", "nothing", "bigint"])(
    'fails only this call with "%s", and serves the next one at once',
    async (what) => {
      expect(await say(what)).toMatchObject({ status: 503, error: { code: "hook_failed" } });
      expect(await say("yes")).toMatchObject({ status: 200 });
    },
  );

  it.each(["block", "exit", "late throw", "memory"])(
    'gets a new thread after "%s", and other calls are served meanwhile',
    async (what) => {
      const failing = say(what);
      const others = await bench.post("/v1/messages", {
        model: "sandbox/chat",
        max_tokens: 10,
        messages: [{ role: "user", content: "Hello" }],
      });
      expect(others.status).toBe(200);
      await others.text();
      expect(await failing).toMatchObject({ status: 503, error: { code: "hook_failed" } });
      await eventually(async () => (await say("yes")).status === 200, "a new thread");
    },
  );

  it("receives ended calls", async () => {
    const heard = /tollgate_hook_questions_total\{hook="heard",at="after",outcome="heard"\} [1-9]/;
    await expect.poll(async () => (await fetch(`${bench.url}/metrics`)).text()).toMatch(heard);
  });
});

describe("a module that cannot be loaded stops the start", () => {
  it.each([
    ["a syntax error", "export function before( {", /SyntaxError/],
    ["a missing import", 'import "./nowhere.mjs"; export const before = () => {};', /nowhere/],
    ["another export", "export const after = () => {};", /exports no function named before/],
    ["an error at its start", 'throw new Error("no settings");', /no settings/],
    ["an end at its start", "process.exit(0);", /thread ended/],
  ])("with the hook's name and the reason: %s", async (what, text, why) => {
    const path = module(what.replaceAll(" ", "-"), text);
    const opening = openHooks({
      hooks: [
        {
          name: "broken",
          at: "before",
          target: { module: path, path },
          timeoutMs: 100,
          onFailure: "refuse",
        },
      ],
      pools: createPools(),
      clock: systemClock,
      log: silentLog,
      observe: () => undefined,
      note: () => undefined,
      room: new ByteBudget(1e9).part(1),
    });
    await expect(opening).rejects.toThrow(/the hook "broken" cannot be loaded/);
    await expect(opening).rejects.toThrow(why);
  });

  it("with one line and exit code 2, as for a wrong configuration", async () => {
    const config = join(folder, "tollgate.yaml");
    const broken = module("not-loaded", 'throw new Error("no settings");');
    writeFileSync(config, `hooks: [{ name: broken, at: before, module: "${broken}" }]\n`);
    const { code, stderr } = await tollgateHere(["serve", "--port", "0"], {
      TOLLGATE_CONFIG: config,
      TOLLGATE_DATA_DIR: await preparedDataDir(),
      TOLLGATE_SANDBOX: "off",
      TOLLGATE_WORKERS: "1",
    });
    expect(code).toBe(2);
    expect(stderr).toContain('tollgate: the hook "broken" cannot be loaded');
  });
});

it("the ledger has no differences after all these calls", () => expectBooks(bench));
