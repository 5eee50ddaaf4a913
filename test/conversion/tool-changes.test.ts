/**
 * Turns that change the tools, as Claude Code and the tool runner of Anthropic's SDK write them, and items of responses that do so.
 * Other upstreams get the tools that exist at the end. Expired turns are not sent. T33.
 */
import { describe, expect, it } from "vitest";
import { noteHeader } from "../../src/base/notes.ts";
import type { ErrorCode, GatewayError } from "../../src/base/errors.ts";
import { routeOf } from "./route.ts";
import type { Body, Name } from "./world.ts";

const targets = ["chat", "generate_content", "converse"] as const;
type Target = Name | "converse";

/** The names of the offered tools in a body of any protocol. */
const offered = (body: Body): unknown[] =>
  [...JSON.stringify(body["tools"] ?? body["toolConfig"] ?? []).matchAll(/"name":"(\w+)"/g)].map(
    ([, name]) => name,
  );
const asked = (from: Name, to: Target, body: Body) => {
  const { body: sent, notes } = routeOf(from, to, body);
  // Ignore `max_tokens`: a small value is raised towards responses.
  const reported = noteHeader(notes.filter(({ param }) => param !== "max_tokens")) ?? "";
  return { tools: offered(sent), reported, text: JSON.stringify(sent) };
};

const schema = { type: "object", properties: { at: { type: "string" } } };
const tool = (name: string, more: Body = {}): Body => ({ name, input_schema: schema, ...more });
const change = (type: string, of: Body): Body => ({ type, tool: of });
const reference = (name: string): Body => ({ type: "tool_reference", name });
const definition = (of: Body): Body => ({ type: "tool_definition", definition: of });

const said = (...system: Body[]): Body => ({
  model: "acme/x",
  max_tokens: 100,
  tools: [tool("find"), tool("open", { defer_loading: true })],
  messages: [
    { role: "user", content: "Hi" },
    { role: "system", content: system },
  ],
});

describe.each([...targets, "responses"] as const)("tool changes from messages to %s", (to) => {
  it("T33: add a defined tool or replace one of its name, and losses are reported", () => {
    const added = [
      change("tool_addition", definition(tool("close", { defer_loading: true }))),
      change("tool_addition", definition(tool("find", { description: "Anew" }))),
    ];
    const { tools, reported, text } = asked("messages", to, said(...added));
    expect(tools).toEqual(["find", "open", "close"]);
    for (const lost of ["[0]", "[0].tool.definition.defer_loading", "[1]"])
      expect(reported.split(", ")).toContain(`messages[1].content${lost}`);
    expect(text).toContain("Anew");
    expect(text).not.toContain("tool_addition");
  });

  it("T33: remove a tool until a later turn refers to it", () => {
    const without = change("tool_removal", reference("find"));
    const again = change("tool_addition", reference("find"));
    const unknown = change("tool_addition", reference("nobody"));
    expect(asked("messages", to, said(without)).tools).toEqual(["open"]);
    expect(asked("messages", to, said(without, again, unknown)).tools).toEqual(["open", "find"]);
    expect(asked("messages", to, said(without)).reported).toContain("messages[1].content[0]");
  });

  it("T33: may be cleared: such a turn is sent until the user's next message, without a report", () => {
    const once = { role: "system", content: "Only once.", clear_at: "next_user_message" };
    const user = { role: "user", content: "Hi" };
    const body = (...messages: Body[]) => ({ model: "acme/x", max_tokens: 9, messages });
    const begun = body(user, { role: "assistant", content: "A" }, user, once);
    const shown = asked("messages", to, begun);
    expect(shown.text).toContain("Only once.");
    expect(shown.reported).not.toContain("clear_at");
    const over = asked("messages", to, body(user, once, { role: "assistant", content: "A" }, user));
    expect([over.text.includes("Only once."), over.reported]).toEqual([false, ""]);
    const never = { ...once, clear_at: "never" };
    expect(asked("messages", to, body(user, never, user)).reported).toContain(
      "messages[1].clear_at",
    );
  });

  it("T33: tools that a result loads are named in it, as in that of Claude Code's ToolSearch", () => {
    const use = (id: string) => ({ type: "tool_use", id, name: "find", input: {} });
    const load = (tool_name?: string) => ({ type: "tool_reference", tool_name });
    const result = (tool_use_id: string, ...content: Body[]) => ({
      type: "tool_result",
      tool_use_id,
      content,
    });
    const results = [result("a", load("open"), load(), load("close")), result("b", load())];
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [use("a"), use("b")] },
      { role: "user", content: results },
    ];
    const { text, reported } = asked("messages", to, { ...said(), messages });
    expect(text.match(/You can call these tools now: [^"]*/g)).toEqual([
      "You can call these tools now: open, close",
    ]);
    expect(text).not.toContain("tool_reference");
    expect(reported.split(", ")).toContain("messages.content.tool_reference");
    // A marker goes with the text, or is reported.
    results[0] = result("a", { ...load("open"), cache_control: { type: "ephemeral" } });
    const marked = asked("messages", to, { ...said(), messages });
    const isSent = /cache_control|cachePoint/.test(marked.text);
    expect([isSent, marked.reported]).toEqual([
      isSent,
      expect.stringContaining(isSent ? "" : "cache_control"),
    ]);
  });

  it("T33: a result names only the tools that it loads itself, also if calls of two turns have one id", () => {
    const turn = (name: string): Body[] => [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "find", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "a",
            content: [{ type: "tool_reference", tool_name: name }],
          },
        ],
      },
    ];
    const { text } = asked("messages", to, {
      ...said(),
      messages: [...turn("open"), ...turn("find")],
    });
    expect(
      [...text.matchAll(/You can call these tools now: ([^"]*)/g)].map(([, own]) => own),
    ).toEqual(["open", "find"]);
  });

  it("T33: loaded tools have the names in it under which they are offered, if theirs are refused", () => {
    const long = `mcp__${"plugin_".repeat(9)}_read`;
    const use = { type: "tool_use", id: "a", name: "find", input: {} };
    const loaded = { type: "tool_reference", tool_name: long };
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [use] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: [loaded] }] },
    ];
    const tools = [tool("find"), tool(long, { defer_loading: true })];
    const { tools: names, text } = asked("messages", to, { ...said(), messages, tools });
    expect(names).toHaveLength(2);
    expect(names[1] === long).toBe(to === "generate_content");
    expect(text).toContain(`You can call these tools now: ${String(names[1])}"`);
  });

  it("T33: may contain only an effort, which is reported as lost", () => {
    const user = { role: "user", content: "Hi" };
    const wish = { role: "system", output_config: { effort: "low" } };
    const body = { model: "acme/x", max_tokens: 9, messages: [user, wish] };
    expect(asked("messages", to, body).reported).toBe("messages[1].output_config");
  });
});

const codeOf = (from: Name, to: Target, body: Body): ErrorCode | undefined => {
  try {
    routeOf(from, to, body);
    return undefined;
  } catch (error) {
    return (error as GatewayError).code;
  }
};

it("T33: turns with tools of MCP servers or vendor tools are refused", () => {
  const server = change("tool_addition", { type: "mcp_toolset_reference", server_name: "s" });
  const own = change("tool_addition", definition({ type: "bash_20250124", name: "bash" }));
  for (const block of [server, own])
    expect(codeOf("messages", "chat", said(block))).toBe("unsupported_content");
});

it("T33: turns that change the tools are sent unchanged in the same protocol", () => {
  const text = [{ type: "text", text: "x" }];
  const body = said(
    ...text,
    change("tool_addition", definition(tool("close", { defer_loading: true }))),
    change("tool_removal", reference("find")),
  );
  const cleared = { role: "system", content: text, clear_at: "next_user_message" };
  const wish = { role: "system", content: text, output_config: { effort: "low" } };
  const [, changing] = body["messages"] as Body[];
  const messages = [{ role: "user", content: text }, changing!, cleared, wish];
  for (const forced of [true, false]) {
    const { body: sent } = routeOf("messages", "messages", { ...body, messages }, { forced });
    expect(sent).toMatchObject({ messages, tools: body["tools"] as Body[] });
  }
  const { output_config } = wish;
  const bare = { ...body, messages: [messages[0]!, { role: "system", output_config }] };
  expect(routeOf("messages", "messages", bare).body).toMatchObject({ messages: bare.messages });
});

const functionTool = (name: string): Body => ({ type: "function", name, parameters: schema });
const found = { type: "namespace", name: "docs", description: "D", tools: [functionTool("read")] };

describe.each([...targets, "messages"] as const)("tool changes from responses to %s", (to) => {
  it("T33: add tools, including those that a search has found", () => {
    const content = [{ type: "input_text", text: "Hi" }];
    const said = { type: "message", role: "user", content };
    const input = [
      said,
      { type: "additional_tools", role: "developer", tools: [functionTool("close")] },
      { type: "tool_search_call", call_id: "c1", execution: "client", arguments: { q: "docs" } },
      { type: "tool_search_output", call_id: "c1", execution: "client", tools: [found] },
      said,
    ];
    const body = { model: "acme/x", tools: [functionTool("find")], input };
    const { tools, reported } = asked("responses", to, body);
    expect(tools).toEqual(["find", "close", "docs__read"]);
    for (const index of [1, 2, 3]) expect(reported).toContain(`input[${index}]`);
    expect(routeOf("responses", "responses", body, { forced: true }).body).toMatchObject({
      input,
      tools: body.tools,
    });
  });

  it("T33: keep a function and a custom tool of one name apart", () => {
    const items = [
      { role: "user", content: "Hi" },
      { type: "additional_tools", role: "developer", tools: [functionTool("close")] },
    ];
    const both = [functionTool("edit"), { type: "custom", name: "edit" }];
    const body = { model: "acme/x", tools: both, input: items };
    expect(asked("responses", to, body).tools).toEqual(["edit", "edit_custom", "close"]);
  });
});
