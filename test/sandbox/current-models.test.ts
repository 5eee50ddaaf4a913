/**
 * The strict simulated vendors refuse what current models refuse, and accept the gateway's requests for any caller.
 * docs/models.md.
 */
import { describe, expect, it } from "vitest";
import { environmentCatalog, removeUnsupported, type TextModel } from "../../src/catalog/index.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { fullRequest } from "../records/requests.ts";
import { useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { models } = environmentCatalog({ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" });

const vendors = {
  messages: [
    "/anthropic/v1/messages",
    { "x-api-key": "sandbox", "anthropic-version": "2023-06-01" },
  ],
  responses: ["/openai/v1/responses", { authorization: "Bearer sandbox" }],
} as const;
type Vendor = keyof typeof vendors;

const current = [
  ["anthropic/claude-opus-5-5", "messages"],
  ["anthropic/claude-sonnet-5-5", "messages"],
  ["openai/gpt-6.2-sol", "responses"],
] as const;

/** The vendor's status, and its message if it refuses. */
async function ask(protocol: Vendor, body: JsonObject): Promise<string> {
  const [path, headers] = vendors[protocol];
  const response = await fetch(`${sandbox.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { error?: { message?: string } };
  return `${response.status} ${answer.error?.message ?? ""}`.trim();
}

function sentFor(model: TextModel, [caller, upstream]: readonly [ProtocolName, ProtocolName]) {
  const { body } = removeUnsupported(model, caller, fullRequest(caller));
  const parts = {
    requestedModel: model.id,
    model: model.id,
    inputEstimate: 1,
    id: "a",
    createdAt: 0,
  };
  return createRoute({
    ...parts,
    caller: codecs[caller],
    upstream: codecs[upstream],
    body,
    stream: false,
    upstreamModel: model.offers[0]!.upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    abilities: model,
  }).body;
}

describe.each(current)("%s", (id, protocol) => {
  const model = models.get(id) as TextModel;

  it.each(protocolNames)(
    "accepts every parameter of %s, as the gateway sends it",
    async (caller) => {
      expect(await ask(protocol, sentFor(model, [caller, protocol]))).toBe("200");
    },
  );
});

describe("a request that the gateway did not fit to the model", () => {
  const user = { role: "user", content: "Hi" };
  const claude = { model: "claude-opus-5-5", max_tokens: 4000, messages: [user] };
  const sol = { model: "gpt-6.2-sol", input: "Hi" };
  const tools = [{ name: "look", input_schema: { type: "object" } }];

  it.each([
    ["messages", { ...claude, temperature: 0.5 }, /temperature/],
    ["messages", { ...claude, top_k: 5 }, /top_k/],
    ["messages", { ...claude, thinking: { type: "enabled", budget_tokens: 2000 } }, /enabled/],
    ["messages", { ...claude, thinking: { type: "disabled" } }, /disabled/],
    ["messages", { ...claude, tools, tool_choice: { type: "any" } }, /tool_choice/],
    ["messages", { ...claude, messages: [user, { role: "assistant", content: "W" }] }, /prefill/],
    ["messages", { ...claude, output_config: { effort: "none" } }, /effort/],
    ["responses", { ...sol, temperature: 1 }, /temperature/],
    ["responses", { ...sol, top_p: 1 }, /top_p/],
    ["responses", { ...sol, reasoning: { effort: "none" } }, /none/],
  ] as const)("is refused by the vendor: %s %o", async (protocol, body, words) => {
    const said = await ask(protocol, body as unknown as JsonObject);
    expect(said).toMatch(/^400 /);
    expect(said).toMatch(words);
  });
});
