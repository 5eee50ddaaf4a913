/** Providers with several keys: the effect on a call when many of them are limited, and which key a session has. docs/routing.md. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import { chat } from "../rows/protocols.ts";

const keys = ["one", "two", "three", "four", "five", "six"];
let many: Recorder;
let spare: Recorder;
let gateway: GatewayUnderTest;
let number = 0;

const model = (suffix: number): string => `  - id: acme/talk-${suffix}
    kind: text
    endpoints: [chat_completions, responses]
    context_length: 100000
    max_output_tokens: 8000
    offers:
      - { provider: many, protocol: chat, upstream_model: talk-${suffix}, price: { input: "1", output: "1" } }
      - { provider: spare, protocol: chat, upstream_model: talk-${suffix}, price: { input: "2", output: "2" } }`;

beforeAll(async () => {
  many = await startRecorder(answering);
  spare = await startRecorder(answering);
  const credentials = keys.map((key) => `{ id: ${key}, api_key: key-${key} }`).join(", ");
  gateway = await startTestGateway({
    config: `providers:
  - { id: many, dialect: openai-compatible, base_url: "${many.url}/v1", credentials: [${credentials}] }
  - { id: spare, dialect: openai-compatible, base_url: "${spare.url}/v1", api_key: key-spare }
models:
${Array.from({ length: 9 }, (_one, index) => model(index + 1)).join("\n")}
`,
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway.close();
  await many.close();
  await spare.close();
});
beforeEach(() => {
  number += 1;
  for (const up of [many, spare]) {
    up.answer(answering);
    up.requests.length = 0;
  }
});

const call = (extra: object = {}, suffix = ":@price") => {
  const name = `acme/talk-${number}${suffix}`;
  return gateway.post(chat.path(name, false), { ...chat.body(name, false), ...extra });
};
const limited = (retryAfter?: string) =>
  json({ error: { message: "slow" } }, 429, retryAfter ? { "retry-after": retryAfter } : {});

it("if all keys of a provider are limited at once, another provider answers the same call", async () => {
  many.answer(limited());
  const answer = await call();
  expect(answer.status).toBe(200);
  expect(many.requests).toHaveLength(5);
  expect(spare.requests).toHaveLength(1);
});

it("an only provider is asked with at most six keys", async () => {
  many.answer(limited());
  expect((await call({}, ":many")).status).toBe(429);
  expect(new Set(many.requests.map(({ headers }) => headers.authorization)).size).toBe(6);
});

it.each([
  ["2", "3600"],
  ["3600", "2"],
])("429 has the Retry-After of the provider that is free first (%s and %s)", async (one, other) => {
  many.answer(limited(one));
  spare.answer(limited(other));
  const answer = await call();
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("2");
});

it("429 after another provider's brief failure has a short Retry-After", async () => {
  many.answer(json({ error: { message: "down" } }, 500));
  spare.answer(limited("3600"));
  const answer = await call();
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("5");
});

it("RESP-38: calls with one prompt_cache_key use one key of their provider, and different sessions use different keys", async () => {
  const used = new Map<string, Set<unknown>>();
  for (let session = 0; session < 12; session += 1)
    for (let count = 0; count < 4; count += 1) {
      const name = `session ${session}`;
      many.requests.length = 0;
      spare.requests.length = 0;
      expect((await call({ prompt_cache_key: name }, ":many")).status).toBe(200);
      const [request] = many.requests;
      used.set(name, (used.get(name) ?? new Set()).add(request!.headers.authorization));
    }
  expect([...used.values()].map(({ size }) => size)).toEqual(Array.from({ length: 12 }, () => 1));
  expect(new Set([...used.values()].flatMap((set) => [...set])).size).toBeGreaterThan(2);
});

it("a session whose key is limited uses another one, and returns afterwards", async () => {
  const usedKey = async (): Promise<string | undefined> => {
    many.requests.length = 0;
    expect((await call({ prompt_cache_key: "one session" }, ":many")).status).toBe(200);
    return many.requests.at(-1)!.headers.authorization;
  };
  const home = await usedKey();
  many.answer((request, response) =>
    (request.headers.authorization === home ? limited("1") : answering)(request, response),
  );
  const away = await usedKey();
  expect(away).not.toBe(home);
  expect(await usedKey()).toBe(away);
  many.answer(answering);
  await expect.poll(usedKey, { timeout: 10_000 }).toBe(home);
});
