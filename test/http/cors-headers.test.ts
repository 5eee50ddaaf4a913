/** A page of another origin can read every gateway header of an answer. docs/configuration.md "cors". */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import { decide, secret } from "../hooks/support.ts";
import { eventually } from "../support/patience.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { startBench, type Bench } from "../task-http/support.ts";

const page = "https://app.example.com";
let hook: Recorder;
let bench: Bench;
let key: string;
beforeAll(async () => {
  hook = await startRecorder(
    decide(({ body }) =>
      JSON.stringify(body).includes("refuse me")
        ? { action: "refuse", code: "house_rule" }
        : { action: "allow" },
    ),
  );
  bench = await startBench({
    sandbox: "on",
    config: `
cors: { origins: ["${page}"] }
hooks: [{ name: guard, at: before, url: "${hook.url}", secret: ${secret} }]
`,
  });
  await bench.credit("1");
  ({ key } = await createKey(await bench.internals(), {
    workspaceId: bench.workspaceId,
    name: "widget",
    createdBy: null,
    responseCache: { ttlSeconds: 600, chargePercent: 0 },
    rateLimits: { requestsPerMinute: 1_000, tokensPerMinute: 1_000_000 },
  }));
});
afterAll(async () => {
  await bench?.close();
  await hook?.close();
});

async function ask(text: string, stream: boolean) {
  const answer = await bench.send("POST", "/v1/chat/completions", {
    key,
    body: {
      model: "sandbox/chat",
      stream,
      messages: [{ role: "user", content: text }],
    },
    headers: { origin: page },
  });
  await answer.text();
  const { headers } = answer;
  const names = [...headers.keys()].filter((name) => /^(?:x-(?!accel)|retry-after)/.test(name));
  const exposed = headers.get("access-control-expose-headers")!.split(", ");
  return { headers, hidden: names.filter((name) => !exposed.includes(name)) };
}

it.each([false, true])(
  "a page can read every gateway header of a miss, a hit and a refusal by a hook, stream %s",
  async (stream) => {
    const asked = [await ask("Hello", stream), await ask("refuse me", stream)];
    const hit = await eventually(async () => {
      const found = await ask("Hello", stream);
      return found.headers.get("x-gw-cache") === "hit" && found;
    }, "a hit");
    expect(asked[1]!.headers.get("x-gw-hook-code")).toBe("house_rule");
    expect([...asked, hit].map(({ hidden }) => hidden)).toEqual([[], [], []]);
  },
);
