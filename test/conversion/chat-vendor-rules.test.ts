/**
 * Requests that chat vendors refuse although the protocol allows them, and how they are sent. MiniMax, Moonshot, Cloudflare and LM Studio.
 * CONV-208, CONV-209; traps T23, T24, T29.
 */
import { describe, expect, it } from "vitest";
import { vendorQuirks } from "../../src/catalog/index.ts";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const text = (value: string) => [{ role: "user", content: value }];
const paramsOf = (route: { notes: readonly { param: string }[] }) =>
  route.notes.map(({ param }) => param);

describe("a tool without arguments", () => {
  const empty = { type: "object", properties: {} };

  it.each([
    [
      "generate_content",
      {
        contents: [{ role: "user", parts: [{ text: "Go" }] }],
        tools: [{ functionDeclarations: [{ name: "go" }] }],
      },
    ],
    ["responses", { input: "Go", tools: [{ type: "function", name: "go", strict: false }] }],
  ] as const)("T24: from %s has an empty schema: MiniMax refuses none", (from, fields) => {
    const route = routeOf(from, "chat", { model: "acme/x", ...fields });
    expect(route.body["tools"]).toEqual([
      { type: "function", function: { name: "go", parameters: empty } },
    ]);
    expect(route.notes).toEqual([]);
  });
});

describe("the schema of a tool for Kimi", () => {
  const properties = {
    to: { type: "string", anyOf: [{ enum: ["a"] }, { type: "string", minLength: 3 }] },
    id: { type: "string", format: "uuid", $ref: "#/definitions/id" },
    level: { enum: [1, 2] },
    plain: { type: "integer" },
  };
  const definitions = { id: { type: "string", minLength: 1 } };
  const taken = {
    type: "object",
    properties: {
      to: {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "string", minLength: 3 },
        ],
      },
      id: { format: "uuid", $ref: "#/$defs/id" },
      level: { type: "number", enum: [1, 2] },
      plain: { type: "integer" },
    },
    $defs: definitions,
  };
  const bodyWith = (schema: Body): Body => ({
    model: "acme/x",
    max_tokens: 9,
    messages: text("Go"),
    tools: [{ name: "go", input_schema: schema }],
  });
  const sent = (upstreamModel: string, schema: Body) => {
    const route = routeOf("messages", "chat", bodyWith(schema), { upstreamModel });
    const [tool] = route.body["tools"] as { function: Body }[];
    return { schema: tool!.function["parameters"], reported: paramsOf(route) };
  };
  const given = { type: "object", properties, definitions };

  it.each(["kimi-k3", "moonshotai/Kimi-K2.6"])(
    "T23: has types and references where %s takes them, and that is reported",
    (model) => {
      expect(sent(model, given)).toEqual({ schema: taken, reported: ["tools"] });
    },
  );

  it("T23: stays as it is if Kimi takes it, and for other models", () => {
    expect(sent("kimi-k3", taken)).toEqual({ schema: taken, reported: [] });
    expect(sent("glm-5.3", given)).toEqual({ schema: given, reported: [] });
  });

  it("T23: is rewritten and reported on the direct route too, if Kimi refuses it", () => {
    const other = { type: "function", function: { name: "stop" } };
    const tool = (parameters: Body) => ({ type: "function", function: { name: "go", parameters } });
    const direct = (upstreamModel: string, schema: Body) => {
      const body = { model: "acme/x", messages: text("Go"), tools: [other, tool(schema)] };
      const route = routeOf("chat", "chat", body, { upstreamModel });
      return { tools: route.body["tools"], reported: paramsOf(route) };
    };
    expect(direct("kimi-k3", given)).toEqual({ tools: [other, tool(taken)], reported: ["tools"] });
    expect(direct("kimi-k3", taken)).toEqual({ tools: [other, tool(taken)], reported: [] });
    expect(direct("glm-5.3", given)).toEqual({ tools: [other, tool(given)], reported: [] });
  });
});

describe("an answer of only calls", () => {
  const calls = [{ id: "c1", type: "function", function: { name: "go", arguments: "{}" } }];
  const result = { role: "tool", tool_call_id: "c1", content: "Gone." };
  const chat = {
    model: "acme/x",
    messages: [...text("Go"), { role: "assistant", content: null, tool_calls: calls }, result],
  };
  const messages = {
    model: "acme/x",
    max_tokens: 9,
    messages: [
      ...text("Go"),
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "go", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "Gone." }] },
    ],
  };

  it.each([
    ["chat", chat],
    ["messages", messages],
  ] as const)("from %s has an empty text at Cloudflare, which refuses null", (from, body) => {
    const answer = (refusesNullContent: boolean) => {
      const route = routeOf(from, "chat", body, { refusesNullContent });
      expect(route.notes).toEqual([]);
      return (route.body["messages"] as Body[])[1];
    };
    expect(answer(true)).toEqual({ role: "assistant", content: "", tool_calls: calls });
    expect(answer(false)).toEqual({ role: "assistant", content: null, tool_calls: calls });
  });
});

describe("a choice that names a tool", () => {
  const tool = (name: string) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: {} } },
  });
  const chat = {
    model: "acme/x",
    messages: text("Go"),
    tools: [tool("go"), tool("stay")],
    tool_choice: { type: "function", function: { name: "go" } },
  };
  const messages = {
    model: "acme/x",
    max_tokens: 9,
    messages: text("Go"),
    tools: ["go", "stay"].map((name) => ({ name, input_schema: { type: "object" } })),
    tool_choice: { type: "tool", name: "go" },
  };

  it.each([
    ["chat", chat],
    ["messages", messages],
  ] as const)("T29: from %s leaves only that tool at LM Studio, reported", (from, body) => {
    const route = routeOf(from, "chat", body, { refusesNamed: true });
    const { tools, tool_choice } = route.body;
    expect({ tools, tool_choice }).toEqual({ tools: [tool("go")], tool_choice: "required" });
    expect(paramsOf(route)).toEqual(["tool_choice"]);
  });

  it("T29: is sent to others as it is, and so is a name that is not offered", () => {
    const named = routeOf("chat", "chat", chat, {});
    expect(named.body).toMatchObject({ tools: chat.tools, tool_choice: chat.tool_choice });
    const other = { ...chat, tools: [tool("stay")] };
    const route = routeOf("chat", "chat", other, { refusesNamed: true });
    expect([route.body["tool_choice"], route.notes]).toEqual([chat.tool_choice, []]);
  });
});

describe("an earlier answer that refused", () => {
  const refused = (more: object) => {
    const refusal = { type: "refusal", refusal: "No." };
    const answer = { type: "message", role: "assistant", content: [refusal] };
    const input = [...text("Do it."), answer, ...text("Why?")];
    const route = routeOf("responses", "chat", { model: "acme/x", input }, more);
    expect(route.notes).toEqual([]);
    return (route.body["messages"] as Body[])[1];
  };

  it("T25: is a text for vendors without refusals, which refuse an empty answer", () => {
    expect(refused({})).toEqual({ role: "assistant", content: "No." });
  });

  it("T25: is a refusal for OpenAI and Azure", () => {
    expect(refused({ customTools: true })).toEqual({
      role: "assistant",
      content: null,
      refusal: "No.",
    });
  });
});

describe("reasoning of MiniMax's own endpoint", () => {
  const at = (id: string, upstreamModel: string, from: "messages" | "chat" = "messages") => {
    const quirks = vendorQuirks({
      id,
      baseUrl: "https://up.test/v1",
      dialect: "openai-compatible",
    });
    const thinking = { type: "thinking", thinking: "Look.", signature: "gw_unsigned" };
    const earlier = {
      messages: { content: [thinking, { type: "text", text: "There." }] },
      chat: { content: "<think>Look.</think>There." },
    }[from];
    const messages = [...text("Where?"), { role: "assistant", ...earlier }, ...text("Sure?")];
    const body = { model: "acme/x", max_tokens: 9, messages };
    return routeOf(from, "chat", body, { ...quirks, upstreamModel });
  };

  it("T40: is asked for apart from the text, and sent back so", () => {
    const { body, notes } = at("minimax", "MiniMax-M2.7");
    const details = [{ type: "reasoning.text", text: "Look." }];
    expect(body).toMatchObject({ reasoning_split: true });
    expect((body["messages"] as Body[])[1]).toEqual({
      role: "assistant",
      content: "There.",
      reasoning_details: details,
    });
    expect(notes).toEqual([]);
  });

  it("T18: comes once, though a stream has it twice", () => {
    const tap = at("minimax", "MiniMax-M2.7").tap();
    const frames = ["Lo", "ok."].flatMap((piece) => {
      const reasoning_details = [{ type: "reasoning.text", index: 0, text: piece }];
      const delta = { role: "assistant", content: "", reasoning_content: piece, reasoning_details };
      return tap.push({ data: JSON.stringify({ choices: [{ index: 0, delta }] }) });
    });
    const thought = frames.flatMap(({ data }) => {
      const { delta } = JSON.parse(data) as { delta?: { thinking?: string } };
      return delta?.thinking ?? [];
    });
    expect(thought).toEqual(["Lo", "ok."]);
  });

  it.each([
    ["other vendors, which refuse the member", "together", "MiniMax-M2.7", "messages"],
    ["models that do not reason", "minimax", "MiniMax-Text-01", "messages"],
    ["the direct route, where the caller decides", "minimax", "MiniMax-M2.7", "chat"],
  ] as const)("is not asked for at %s", (_where, id, model, from) => {
    expect(at(id, model, from).body).not.toHaveProperty("reasoning_split");
  });
});
