/** Refusals apply on every endpoint that costs money: text, embeddings, images, tasks, videos. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { changeKey, disableKey, enableKey } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { plain } from "../image-tasks/support.ts";

const messages = [{ role: "user", content: "Hi" }];
const prompt = "a lighthouse";

/** A minimal body per endpoint, answered with 200 or 202. */
const calls: readonly [path: string, body: object][] = [
  ["/v1/chat/completions", { model: "sandbox/chat", messages }],
  ["/v1/responses", { model: "sandbox/chat", input: "Hi" }],
  ["/v1/messages", { model: "sandbox/chat", max_tokens: 9, messages }],
  ["/v1beta/models/sandbox/chat:generateContent", { contents: [{ parts: [{ text: "Hi" }] }] }],
  ["/v1/embeddings", { model: "sandbox/embedding", input: "Hi" }],
  ["/v1/images/generations", { model: "sandbox/image-model-a", prompt, size: "1024x1024" }],
  ["/v1/tasks", { model: "sandbox/task-image-model-1", prompt }],
  ["/v1/tasks", { model: "sandbox/video-model-tokens", prompt, duration: 1 }],
  ["/v1/videos/generations", { model: "sandbox/video-model-v1", prompt, duration: 1 }],
  [
    "/api/v3/contents/generations/tasks",
    { model: "sandbox/video-model-tokens", content: [{ type: "text", text: prompt }] },
  ],
];

let gateway: GatewayUnderTest;
let keyId: string;
let sandboxUrl: string;
beforeAll(async () => {
  gateway = await startTestGateway({ tasks: { timing: { firstPollMs: 30 } } });
  const [row] = await gateway.database.query<{ id: string }>("select id from api_keys");
  keyId = row!.id;
  sandboxUrl = gateway.sandboxUrl!;
});
afterAll(() => gateway.close());

const context = () => ({ database: gateway.database, clock: systemClock });

/** Builds an edit's form. Each call needs a new one, because a form can be sent only once. */
async function edit(): Promise<FormData> {
  const form = new FormData();
  form.set("model", "sandbox/image-model-b");
  form.set("prompt", prompt);
  form.set(
    "image",
    new Blob([new Uint8Array(await plain({ width: 1024, height: 1024 }))]),
    "one.png",
  );
  return form;
}

interface CallResult {
  readonly call: string;
  readonly status: number;
  readonly text: string;
}

async function callAll(): Promise<CallResult[]> {
  const told: CallResult[] = [];
  for (const [path, body] of calls) {
    const answer = await gateway.post(path, body);
    told.push({
      call: `${path} ${JSON.stringify(body)}`,
      status: answer.status,
      text: await answer.text(),
    });
  }
  const answer = await fetch(`${gateway.url}/v1/images/edits`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}` },
    body: await edit(),
  });
  told.push({ call: "/v1/images/edits", status: answer.status, text: await answer.text() });
  return told;
}

const vendorCalls = async () =>
  ((await (await fetch(`${sandboxUrl}/__journal`)).json()) as { data: unknown[] }).data.length;

describe("every endpoint that costs money", () => {
  it("answers with 200 or 202 while no rule refuses", async () => {
    for (const { call, status, text } of await callAll())
      expect(`${call} ${status} ${status > 202 ? text : ""}`).toMatch(/ 20[02] $/);
  });

  /** Expects every endpoint to refuse with this status and code, without asking a vendor. */
  async function refusedEverywhere(status: number, word: RegExp): Promise<void> {
    // Wait for the tasks of earlier calls, because the gateway polls vendors until they end.
    await expect
      .poll(async () => (await gateway.ledger.balance(gateway.workspaceId)).heldNano)
      .toBe(0n);
    const before = await vendorCalls();
    const { chargedNano } = await gateway.ledger.balance(gateway.workspaceId);
    for (const told of await callAll()) {
      expect(`${told.call} ${told.status}`).toBe(`${told.call} ${status}`);
      expect(told.text).toMatch(word);
    }
    expect(await vendorCalls()).toBe(before);
    expect((await gateway.ledger.balance(gateway.workspaceId)).chargedNano).toBe(chargedNano);
  }

  it("ALLOW-05: refuses a model outside the key's allowlist, and calls no vendor", async () => {
    await changeKey(context(), { id: keyId }, { modelAllowlist: ["sandbox/messages"] });
    await refusedEverywhere(403, /model_not_allowed|outside the model allowlist/);
    await changeKey(context(), { id: keyId }, { modelAllowlist: [] });
  });

  it("CAP-15: answers 402 when a cap is reached, with a code that names layer and window", async () => {
    await changeKey(context(), { id: keyId }, { spendCaps: { dailyNano: 0n } });
    await refusedEverywhere(402, /key_daily_spend_cap_reached|API key daily spend cap/);
    await changeKey(context(), { id: keyId }, { spendCaps: { dailyNano: null } });
  });

  it("KEY-09 KEY-10: refuses a disabled key, and accepts it again once enabled", async () => {
    await disableKey(context(), { id: keyId });
    await refusedEverywhere(401, /disabled|AuthenticationError|InvalidApiKey/);
    await enableKey(context(), { id: keyId });
    for (const { call, status } of await callAll()) expect(`${call} ${status}`).toMatch(/ 20[02]$/);
  });
});
