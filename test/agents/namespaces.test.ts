/**
 * Codex's tools within a namespace, as it sends them. Upstreams of other protocols get them as separate tools, and Codex gets
 * their calls in its own form. T33.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collect } from "../../src/protocols/canonical/collect.ts";
import { codecs } from "../../src/protocols/index.ts";
import { createSseParser } from "../../src/base/sse.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { models, readCase } from "./cases.ts";

const codex = readCase("codex-on-responses");
/** The tools of an MCP server named `docs`, as Codex 0.169 sends them; `description` is the server's own. */
const mcp = {
  type: "namespace",
  name: "mcp__docs",
  description: "House documents.",
  tools: [
    {
      type: "function",
      name: "find",
      description: "Finds a document.",
      strict: false,
      parameters: { type: "object", properties: { at: { type: "string" } } },
    },
  ],
};
const script = {
  tool_calls: [
    { name: "multi_agent_v1__close_agent", arguments: { target: "agent_1" } },
    { name: "mcp__docs__find", arguments: { at: "shelf" } },
  ],
  next: { reply: "It is closed." },
};
const task = {
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: `Close it.\n#sandbox ${JSON.stringify(script)}` }],
};

describe("tools of Codex's own namespace and of an MCP server", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.close());

  async function asked(model: string, input: readonly object[]) {
    const tools = [...(codex.body["tools"] as object[]), mcp];
    const body = { ...codex.body, ...codex.steps[0], model, input, tools };
    const answer = await gateway.post(codex.path, body, codex.headers);
    const frames = createSseParser();
    const decoder = codecs.responses.decodeStream();
    const sent = [...frames.push(Buffer.from(await answer.text())), ...frames.end()];
    const events = sent.flatMap((frame) => decoder.push(frame));
    const items = sent.flatMap(({ event, data }) =>
      event === "response.output_item.done" ? [(JSON.parse(data) as { item: object }).item] : [],
    );
    return { items, told: collect([...events, ...decoder.end({ kind: "complete" })]).content };
  }

  it.each([models.chat, models.messages, models.generate_content])(
    "T33: are called by %s, and their calls are sent back",
    async (model) => {
      const { items, told } = await asked(model, [task]);
      const called = [
        { name: "close_agent", namespace: "multi_agent_v1", arguments: '{"target":"agent_1"}' },
        { name: "find", namespace: "mcp__docs", arguments: '{"at":"shelf"}' },
      ];
      expect(items).toMatchObject(called.map((call) => ({ type: "function_call", ...call })));
      expect(told).toMatchObject(called.map((call) => ({ type: "tool_call", ...call })));
      const outputs = (items as { call_id: string }[]).map(({ call_id }) => ({
        type: "function_call_output",
        call_id,
        output: "done",
      }));
      const later = await asked(model, [task, ...items, ...outputs]);
      expect(later.told).toMatchObject([{ type: "text", text: "It is closed." }]);
      const found = await fetch(`${gateway.sandboxUrl!}/__journal?contains=agent_1`);
      const { data } = (await found.json()) as { data: { body: object }[] };
      const sent = JSON.stringify(data.at(-1)!.body);
      // Once as an offered tool, once as an earlier call.
      for (const { name } of script.tool_calls)
        expect(sent.split(`"name":"${name}"`).length).toBeGreaterThan(2);
      expect(sent).toContain("About all tools of `mcp__docs`: House documents.");
      expect(sent).not.toContain('"namespace"');
    },
  );
});
