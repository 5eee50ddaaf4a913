/**
 * A conversation that changes its model. Reasoning converted from another protocol goes back on a direct route to a vendor that
 * only accepts its own. CONV-219, RESP-27; trap T39.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { routeOf } from "./route.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

type Body = Record<string, unknown>;

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

const script = { reasoning: "The shelf first.", reply: "It stands there." };
const question = `Where is it?\n#sandbox ${JSON.stringify(script)}`;
const first = { role: "user", content: question };
const second = { role: "user", content: "And now?" };

async function whole(path: string, body: Body): Promise<Body> {
  const answer = await gateway.post(path, body);
  const text = await answer.text();
  expect([answer.status, answer.ok ? "" : text]).toEqual([200, ""]);
  return JSON.parse(text) as Body;
}

/** The content blocks of a messages stream, assembled as a client does. */
async function streamedBlocks(body: Body): Promise<Body[]> {
  const answer = await gateway.post("/v1/messages", { ...body, stream: true });
  const parser = createSseParser();
  const frames = [...parser.push(new Uint8Array(await answer.arrayBuffer())), ...parser.end()];
  const blocks: Body[] = [];
  for (const { data } of frames) {
    const event = JSON.parse(data) as { type: string; content_block: Body; delta: Body };
    if (event.type === "content_block_start") blocks.push({ ...event.content_block });
    if (event.type !== "content_block_delta") continue;
    const block = blocks.at(-1)!;
    for (const member of ["text", "thinking", "signature"]) {
      const piece = event.delta[member];
      if (typeof piece === "string") block[member] = String(block[member]) + piece;
    }
  }
  return blocks;
}

const droppedIn = (answer: Body): unknown => (answer["gw"] as Body | undefined)?.["droppedParams"];

describe("a messages conversation", () => {
  const request = { model: "sandbox/chat", max_tokens: 2000, messages: [first] };
  const shown = [
    { type: "thinking", thinking: script.reasoning, signature: "gw_unsigned" },
    { type: "text", text: script.reply },
  ];

  it.each([
    ["whole", async () => (await whole("/v1/messages", request))["content"]],
    ["streamed", () => streamedBlocks(request)],
  ])("CONV-219: continues at a messages upstream after a %s chat answer", async (_, ask) => {
    const content = await ask();
    expect(content).toEqual(shown);
    const messages = [first, { role: "assistant", content }, second];
    const answer = await whole("/v1/messages", { ...request, model: "sandbox/messages", messages });
    expect(droppedIn(answer)).toEqual(["messages.content.thinking"]);
    // The simulated vendor refuses unsigned thinking; the forwarded request has none.
    const sent = JSON.stringify(await lastSent("anthropic"));
    expect(sent).toContain(script.reply);
    expect(sent).not.toContain("gw_unsigned");
  });

  it("sends thinking back unchanged to the vendor that signed it", async () => {
    const own = { ...request, model: "sandbox/messages", max_tokens: 4000 };
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const { content } = await whole("/v1/messages", { ...own, thinking });
    expect(content).toMatchObject([{ type: "thinking", thinking: script.reasoning }, {}]);
    const messages = [first, { role: "assistant", content }, second];
    const answer = await whole("/v1/messages", { ...own, messages });
    expect(droppedIn(answer)).toBeUndefined();
    expect((await lastSent("anthropic"))["messages"]).toEqual(messages);
  });
});

const settings = {
  max_tokens: 4000,
  tools: [{ name: "look", input_schema: { type: "object", properties: {} } }],
  thinking: { type: "enabled", budget_tokens: 1024 },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
};

describe("a tool loop of a messages conversation that another vendor began", () => {
  it("T39: continues without thinking until the user's next question, which is reported", async () => {
    const calling = { reasoning: "Hm.", tool_calls: [{ name: "look", arguments: {} }] };
    const messages: Body[] = [
      { role: "user", content: `And now?\n#sandbox ${JSON.stringify(calling)}` },
    ];
    const ask = (model: string) => whole("/v1/messages", { ...settings, model, messages });
    const { content } = await ask("sandbox/chat");
    const [, call] = content as [Body, Body];
    expect(content).toMatchObject([{ signature: "gw_unsigned" }, { type: "tool_use" }]);
    const result = { type: "tool_result", tool_use_id: call["id"], content: "there" };
    messages.push({ role: "assistant", content }, { role: "user", content: [result] });
    const answer = await ask("sandbox/messages");
    const lost = ["thinking", "context_management", "messages.content.thinking"];
    expect(droppedIn(answer)).toEqual(lost);
    const sent = await lastSent("anthropic");
    expect([sent["thinking"], sent["context_management"]]).toEqual([undefined, undefined]);
    messages.push({ role: "assistant", content: "It is there." }, second);
    await ask("sandbox/messages");
    const { thinking, context_management } = settings;
    expect(await lastSent("anthropic")).toMatchObject({ thinking, context_management });
  });

  const loop = (id: string, before: Body[] = []): Body[] => [
    first,
    { role: "assistant", content: [...before, { type: "tool_use", id, name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "there" }] },
    second,
  ];
  const thinkingAt = (upstreamModel: string, messages: readonly Body[]): unknown => {
    const body = { ...settings, model: "acme/x", messages: [...messages] };
    return routeOf("messages", "messages", body, { upstreamModel }).body["thinking"];
  };
  const signed = { type: "thinking", thinking: "Hm.", signature: "Eq" };
  const claude = "claude-haiku-4-5";

  const unsigned = { type: "thinking", thinking: "Hm.", signature: "gw_unsigned" };
  const begun = (...before: Body[]): Body[] => [
    first,
    { role: "assistant", content: [...before, { type: "text", text: "It is" }] },
  ];

  it.each([
    ["with thinking", begun(unsigned)],
    ["in a tool loop", [...loop("call_1", [unsigned]).slice(0, 3), begun()[1]!]],
    ["with thinking that it did not sign", begun({ ...unsigned, signature: "" })],
  ])("T39: so does an answer that it began %s", (_what, messages) => {
    expect(thinkingAt(claude, messages)).toBeUndefined();
  });

  it.each([
    ["the vendor has not thought", loop("call_1")],
    ["Claude has continued it", [...loop("call_1"), ...loop("toolu_01A").slice(1)]],
  ])("T39: continues without thinking at Claude if %s", (_what, messages) => {
    expect(thinkingAt(claude, messages)).toBeUndefined();
  });

  it.each([
    ["the call is Claude's own", claude, loop("toolu_01A")],
    ["the call is Bedrock's own", claude, loop("tooluse_Ab")],
    ["it begins with signed thinking", claude, loop("call_1", [signed])],
    ["it is over", claude, [...loop("call_1"), { role: "assistant", content: "There." }, second]],
    ["the model is not Claude", "kimi-k3", loop("call_1")],
    ["an answer begins with signed thinking", claude, begun(signed)],
    ["the caller wrote the beginning of the answer", claude, begun()],
  ])("keeps its thinking if %s", (_what, model, messages) => {
    expect(thinkingAt(model, messages)).toEqual(settings.thinking);
  });
});

describe("a responses conversation", () => {
  it("RESP-27: continues at a responses upstream after an answer of a chat upstream", async () => {
    const request = { model: "sandbox/chat", input: [first] };
    const { output } = (await whole("/v1/responses", request)) as { output: Body[] };
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    const input = [first, ...output, second];
    const answer = await whole("/v1/responses", { model: "sandbox/responses", input });
    expect(droppedIn(answer)).toEqual(["input.reasoning"]);
    expect((await lastSent("openai"))["input"]).toEqual([first, output[1], second]);
  });
});

/** The body of the last request to this simulated vendor. */
async function lastSent(vendor: string): Promise<Body> {
  const query = `contains=${encodeURIComponent("And now?")}`;
  const journal = await fetch(`${gateway.sandboxUrl!}/__journal?${query}`);
  const { data } = (await journal.json()) as { data: { vendor: string; body: Body }[] };
  return data.findLast((entry) => entry.vendor === vendor)!.body;
}
