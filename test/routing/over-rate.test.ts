/**
 * A request that is larger than an account's tokens a minute is not a rate limit: the gateway tries other accounts, and health
 * avoids none. docs/routing.md.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { chat } from "../rows/protocols.ts";
import { answering } from "../rows/world.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, sse, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import { twoProviders } from "./two-providers.ts";

let vendor: Recorder;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  vendor = await startRecorder(answering);
  const keys = (id: string) =>
    `credentials: [{ id: one, api_key: ${id}-one }, { id: two, api_key: ${id}-two }]`;
  gateway = await startTestGateway({ config: twoProviders({ url: vendor.url, keys }) });
  await gateway.credit("10");
});
afterAll(async () => {
  await gateway.close();
  await vendor.close();
});

const openai =
  "Request too large for gpt-4o in organization org-4711 on tokens per min (TPM): Limit 30000, Requested 42387. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.";
const groq =
  "Request too large for model `m` in organization `org_4711` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7312, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing";
const errorOf = (message: string) => ({
  error: { message, type: "tokens", param: null, code: "rate_limit_exceeded" },
});
const refusals: readonly [string, Answer][] = [
  ["OpenAI's 429", json(errorOf(openai), 429)],
  ["Groq's 413", json(errorOf(groq), 413)],
  ["OpenAI's error in a stream", sse(`data: ${JSON.stringify(errorOf(openai))}\n\n`)],
];

/** Refuses large requests at these paths. */
const refusing =
  (refusal: Answer, places: readonly string[]): Answer =>
  (request, response) => {
    const isRefused =
      request.text.includes("large") && places.some((one) => request.path.startsWith(one));
    return (isRefused ? refusal : answering)(request, response);
  };
const ask = (content: string) =>
  gateway.post("/v1/chat/completions", {
    ...chat.body("lab/chat:@price", true),
    messages: [{ role: "user", content }],
  });
/** The provider and the key of each request. */
const triedKeys = () =>
  vendor.requests.map(
    ({ path, headers }) =>
      `${path.split("/")[1]} ${/(one|two)$/.exec(headers.authorization ?? "")?.[1]}`,
  );
beforeEach(() => void (vendor.requests.length = 0));

it.each(refusals)(
  "%s: a request that is too large is tried at the other account, then at the other provider; later calls still go to the first",
  async (_name, refusal) => {
    vendor.answer(refusing(refusal, ["/first"]));
    for (let calls = 0; calls < 3; calls += 1) {
      const answer = await ask("large");
      expect(answer.status).toBe(200);
      await answer.text();
      const keys = triedKeys().slice(-3);
      expect(keys.toSorted().slice(0, 2)).toEqual(["first one", "first two"]);
      expect(keys[2]).toMatch(/^second/);
      await (await ask("small")).text();
      expect(triedKeys().at(-1)).toMatch(/^first/);
    }
  },
);

it.each(refusals)(
  "%s: if all accounts refuse it, the caller gets 413 with the reason, and nothing about the operator's account",
  async (_name, refusal) => {
    vendor.answer(refusing(refusal, ["/first", "/second"]));
    const answer = await ask("large");
    // Clients do not retry 413 automatically.
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([413, null]);
    const text = await answer.text();
    expect(text).toMatch(/Request too large for .* tokens per min.*: Limit \d+, Requested \d+/);
    expect(text).not.toMatch(/org|4711|tier|https/i);
    expect(new Set(triedKeys()).size).toBe(4);
  },
);
