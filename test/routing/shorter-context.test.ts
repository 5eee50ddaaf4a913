/** A request that is too long for only one provider or fallback: another one takes it, or the caller may retry. docs/routing.md. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { answering } from "../rows/world.ts";
import { chat } from "../rows/protocols.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, sse, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";

const names = ["short", "long", "spare"] as const;
type Name = (typeof names)[number];
const upstreams = {} as Record<Name, Recorder>;
let gateway: GatewayUnderTest;

const offer = (provider: Name, rate: number, record = "") =>
  `      - { provider: ${provider}, protocol: chat, upstream_model: m, price: { input: "${rate}", output: "${rate}" }${record} }`;
const model = (id: string, context: number, fallbacks = "") => `
  - id: ${id}
    kind: text
    context_length: ${context}
    max_output_tokens: 1000
    ${fallbacks}
    offers:`;

beforeAll(async () => {
  for (const name of names) upstreams[name] = await startRecorder(answering);
  gateway = await startTestGateway({
    config: [
      "providers:",
      ...names.map(
        (name) =>
          `  - { id: ${name}, dialect: openai-compatible, base_url: "${upstreams[name].url}/v1", api_key: k }`,
      ),
      "models:",
      model("lab/mixed", 200_000),
      offer("short", 1, ", record: { context_length: 8000 }"),
      offer("long", 2),
      model("lab/large", 200_000, "fallbacks: [lab/small, lab/spare]"),
      offer("long", 1),
      model("lab/small", 8000),
      offer("short", 1),
      model("lab/spare", 100_000),
      offer("spare", 1),
      model("lab/lone", 200_000, "fallbacks: [lab/small]"),
      offer("long", 1),
      "",
    ].join("\n"),
  });
  await gateway.credit("10");
});
afterAll(async () => {
  await gateway.close();
  await Promise.all(names.map((name) => upstreams[name].close()));
});
beforeEach(() => {
  for (const name of names) {
    upstreams[name].answer(answering);
    upstreams[name].requests.length = 0;
  }
});

const code = "context_length_exceeded";
const tooLongMessage = "This model's maximum context length is 8000 tokens.";
const tooLong = json(
  { error: { message: tooLongMessage, type: "invalid_request_error", code } },
  400,
);
/** OpenAI's error inside a stream. */
const tooLongInside = sse(
  `data: ${JSON.stringify({ error: { message: tooLongMessage, code } })}\n\n`,
);
const down = json({ error: { message: "down" } }, 503, { "retry-after": "7" });

const ask = (id: string, stream = false) =>
  gateway.post("/v1/chat/completions", chat.body(id, stream));
const triedProviders = () => names.filter((name) => upstreams[name].requests.length > 0);

it.each<[string, Answer, boolean]>([
  ["with a status", tooLong, false],
  ["inside an answer", tooLongInside, true],
])(
  "a prompt that is too long for one provider goes to the one with the longer context; refused %s",
  async (_how, refusal, stream) => {
    upstreams.short.answer(refusal);
    const answer = await ask("lab/mixed:@price", stream);
    expect([answer.status, triedProviders()]).toEqual([200, ["short", "long"]]);
    expect(await answer.text()).toContain("done");
  },
);

it("a refusal by the provider with the longest context is final: no other provider is tried", async () => {
  upstreams.long.answer(tooLong);
  const answer = await ask("lab/large");
  expect([answer.status, triedProviders()]).toEqual([400, ["long"]]);
  expect(await answer.json()).toMatchObject({ error: { code, message: tooLongMessage } });
});

it("a refusal by the provider that the request names is final too", async () => {
  upstreams.short.answer(tooLong);
  const answer = await ask("lab/mixed:short");
  expect([answer.status, triedProviders()]).toEqual([400, ["short"]]);
  expect(await answer.json()).toMatchObject({ error: { code } });
});

it("if a fallback with a shorter context refuses the prompt, the next fallback is tried", async () => {
  upstreams.long.answer(down);
  upstreams.short.answer(tooLong);
  const answer = await ask("lab/large");
  expect([answer.status, triedProviders()]).toEqual([200, [...names]]);
  expect(await answer.json()).toMatchObject({ model: "lab/spare" });
});

it("if the last fallback has a shorter context and refuses, the caller gets the model's own failure with Retry-After", async () => {
  upstreams.long.answer(down);
  upstreams.short.answer(tooLong);
  // Meanwhile the circuit of the model's own provider opens, which is the only other one for this request.
  for (let calls = 0; calls < 8; calls += 1) {
    const answer = await ask("lab/lone");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "7"]);
    expect(await answer.json()).toMatchObject({ error: { code: "no_provider_available" } });
  }
  upstreams.long.answer(answering);
  expect(await (await ask("lab/lone")).json()).toMatchObject({ model: "lab/lone" });
});

it("while the provider with the longer context is failing, the caller gets 503 with Retry-After", async () => {
  upstreams.long.answer(json({ error: { message: "down" } }, 500));
  for (let calls = 0; calls < 5; calls += 1) await (await ask("lab/mixed:long")).text();
  upstreams.long.requests.length = 0;
  upstreams.short.answer(tooLong);
  const answer = await ask("lab/mixed:@price");
  expect([answer.status, answer.headers.get("retry-after"), triedProviders()]).toEqual([
    503,
    "5",
    ["short"],
  ]);
  expect(await answer.json()).toMatchObject({ error: { code: "no_provider_available" } });
});
