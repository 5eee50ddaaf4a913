/**
 * A fallback, or one provider, with a lower output limit than the model of the call: the gateway requests its maximum. T30;
 * docs/routing.md.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { at, chat, messages, protocols, type Protocol } from "../rows/protocols.ts";
import { answering } from "../rows/world.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { steadyHealthRules } from "../support/steady-health.ts";

let gateway: AdminGateway;
let first: Recorder;
let second: Recorder;

const upstreams: readonly Protocol["name"][] = protocols.map(({ name }) => name);
const fallbackOf = (name: Protocol["name"]) => `small/${name}`;

/** Each large model is at the first provider, each small one at the second. */
const model = (id: string, maximum: number, lines: readonly string[]) =>
  [
    `  - id: ${id}`,
    "    kind: text",
    "    context_length: 200000",
    `    max_output_tokens: ${maximum}`,
    ...lines,
    "    offers:",
  ].join("\n");
const offer = (provider: string, protocol: string, record = "") =>
  `      - { provider: ${provider}, protocol: ${protocol}, upstream_model: m, price: { input: "1", output: "1" }${record} }`;

beforeAll(async () => {
  first = await startRecorder(answering);
  second = await startRecorder(answering);
  const provider = (id: string, { url }: Recorder) =>
    `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}/v1", api_key: k }`;
  gateway = await startAdminGateway({
    health: steadyHealthRules,
    config: [
      "providers:",
      provider("first", first),
      provider("second", second),
      "models:",
      ...upstreams.flatMap((name) => [
        model(`large/${name}`, 64_000, [`    fallbacks: [${fallbackOf(name)}]`]),
        offer("first", name),
        model(fallbackOf(name), 4_000, []),
        offer("second", name),
      ]),
      model("mixed/chat", 64_000, []),
      offer("second", "chat", ", weight: 1, record: { max_output_tokens: 4000 }"),
      offer("first", "chat", ", weight: 0"),
      "",
    ].join("\n"),
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway.close();
  await first.close();
  await second.close();
});
beforeEach(() => {
  first.answer(json({ error: { message: "down" } }, 503));
  second.answer(answering);
  first.requests.length = 0;
  second.requests.length = 0;
});

const limitPaths: Readonly<Record<Protocol["name"], readonly string[]>> = {
  chat: ["max_tokens"],
  responses: ["max_output_tokens"],
  messages: ["max_tokens"],
  generate_content: ["generationConfig", "maxOutputTokens"],
};
/** A minimal body with a limit of output tokens. */
const bodyWithLimit = (protocol: Protocol, id: string, maximum: number) => {
  const [outer, inner] = limitPaths[protocol.name] as [string, string?];
  const limit = inner === undefined ? { [outer]: maximum } : { [outer]: { [inner]: maximum } };
  return { ...protocol.body(id, false), ...limit };
};
const ask = (protocol: Protocol, id: string, body: object, headers = {}) =>
  gateway.post(protocol.path(id, false), body, headers);

describe.each(protocols)("$name", (protocol) => {
  it.each(upstreams)(
    "a fallback in %s gets its own maximum of output tokens, and the change is reported",
    async (name) => {
      const id = `large/${protocol.name}`;
      const headers = { "x-gw-fallback-models": fallbackOf(name) };
      const answer = await ask(protocol, id, bodyWithLimit(protocol, id, 50_000), headers);
      expect(answer.status).toBe(200);
      expect(at(first.requests[0]!.body, ...limitPaths[protocol.name])).toBe(50_000);
      expect(at(second.requests[0]!.body, ...limitPaths[name])).toBe(4_000);
      const gw = ((await answer.json()) as { gw?: { droppedParams?: string[] } }).gw;
      expect(gw?.droppedParams).toContain(limitPaths[protocol.name].join("."));
    },
  );

  it("a limit within the fallback's maximum is forwarded unchanged, and nothing is reported", async () => {
    const id = `large/${protocol.name}`;
    const answer = await ask(protocol, id, bodyWithLimit(protocol, id, 3_000));
    expect(await answer.json()).not.toHaveProperty("gw");
    expect(at(second.requests[0]!.body, ...limitPaths[protocol.name])).toBe(3_000);
  });

  it("no limit is filled in for the fallback if the caller sent none", async () => {
    const id = `large/${protocol.name}`;
    const body = protocol.body(id, false);
    const answer = await ask(protocol, id, body);
    expect(await answer.json()).not.toHaveProperty("gw");
    const [outer] = limitPaths[protocol.name] as [string];
    // Messages requires a limit, so the body has one.
    expect(outer in body).toBe(protocol === messages);
    expect(second.requests[0]!.body[outer]).toBe((body as Record<string, unknown>)[outer]);
  });

  it("a limit above the model's own maximum is forwarded unchanged", async () => {
    first.answer(answering);
    const id = `large/${protocol.name}`;
    await (await ask(protocol, id, bodyWithLimit(protocol, id, 70_000))).text();
    expect(at(first.requests[0]!.body, ...limitPaths[protocol.name])).toBe(70_000);
  });
});

it("a reasoning budget is lowered to stay below the fallback's maximum", async () => {
  const thinking = { type: "enabled", budget_tokens: 30_000 };
  const body = { ...bodyWithLimit(messages, "large/messages", 50_000), thinking };
  expect((await ask(messages, "large/messages", body)).status).toBe(200);
  const sent = second.requests[0]!.body;
  expect(sent["max_tokens"]).toBe(4_000);
  expect(at(sent, "thinking", "budget_tokens")).toBe(3_200);
});

it("an offer with a lower maximum in its record gets that maximum", async () => {
  const answer = await ask(chat, "mixed/chat", bodyWithLimit(chat, "mixed/chat", 50_000));
  expect(await answer.json()).toMatchObject({ gw: { droppedParams: ["max_tokens"] } });
  expect(second.requests[0]!.body["max_tokens"]).toBe(4_000);
});

it("a fallback for a paused model gets its own maximum too", async () => {
  const until = new Date(Date.now() + 60_000).toISOString();
  expect((await gateway.admin("POST", "/providers/first/pause", { until })).status).toBe(200);
  const answer = await ask(chat, "large/chat", bodyWithLimit(chat, "large/chat", 50_000));
  expect([answer.status, second.requests[0]!.body["max_tokens"]]).toEqual([200, 4_000]);
});
