/**
 * Tools within namespaces, as Codex sends those of MCP servers. Other protocols get each as a separate tool with a joined name;
 * calls come back with namespace and name separated. T13, T29, T33.
 */
import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../src/base/json-text.ts";
import { noteHeader } from "../../src/base/notes.ts";
import { noUsage } from "../../src/base/usage.ts";
import { codecs, type JsonObject, type UpstreamProtocol } from "../../src/protocols/index.ts";
import { passed, routeOf, streamedItems } from "./custom-wire.ts";
import { answerCalling, calling, streamCalling } from "./tool-wire.ts";

const schema = { type: "object", properties: { at: { type: "string" } } };
const tool = (name: string, description?: string): JsonObject => ({
  type: "function",
  name,
  ...(description === undefined ? {} : { description }),
  parameters: schema,
  strict: false,
});
const docs: JsonObject = {
  type: "namespace",
  name: "mcp__docs",
  description: "Documents of the house.",
  tools: [tool("find", "Finds one."), tool("open")],
};
const body: JsonObject = {
  model: "acme/talk",
  input: [
    { role: "user", content: "Find it." },
    {
      type: "function_call",
      call_id: "call_1",
      name: "find",
      namespace: "mcp__docs",
      arguments: '{"at":"a"}',
    },
    { type: "function_call_output", call_id: "call_1", output: "found" },
    { role: "user", content: "Again." },
  ],
  tools: [tool("find", "Finds a file."), docs],
  tool_choice: { type: "function", name: "find", namespace: "mcp__docs" },
};
const asked = (more: JsonObject): JsonObject => ({ ...body, ...more });

interface Shown {
  readonly tools: readonly (readonly [string, string | undefined])[];
  /** The tool that was called before; `chosen` is the one that must be called. */
  readonly called: unknown;
  readonly chosen: unknown;
}

const toolOf = ({ name, description }: { name: string; description?: string }) =>
  [name, description] as const;
type Named = { readonly name: string };

/** Reads tools, earlier call and choice from a target's body. */
const shown: Readonly<Record<string, (body: JsonObject) => Shown>> = {
  chat(body) {
    const {
      messages,
      tools,
      tool_choice: choice,
    } = body as unknown as {
      messages: { tool_calls: { function: Named }[] }[];
      tools: { function: Named }[];
      tool_choice: { function: Named };
    };
    return {
      tools: tools.map((one) => toolOf(one.function)),
      called: messages[1]!.tool_calls[0]!.function.name,
      chosen: choice.function.name,
    };
  },
  messages(body) {
    const {
      messages,
      tools,
      tool_choice: choice,
    } = body as unknown as {
      messages: { content: Named[] }[];
      tools: Named[];
      tool_choice: Named;
    };
    const called = messages[1]!.content[0]!.name;
    return { tools: tools.map(toolOf), called, chosen: choice.name };
  },
  generate_content(body) {
    const { contents, tools, toolConfig } = body as unknown as {
      contents: { parts: { functionCall: Named }[] }[];
      tools: { functionDeclarations: Named[] }[];
      toolConfig: { functionCallingConfig: { allowedFunctionNames: string[] } };
    };
    return {
      tools: tools[0]!.functionDeclarations.map(toolOf),
      called: contents[1]!.parts[0]!.functionCall.name,
      chosen: toolConfig.functionCallingConfig.allowedFunctionNames[0],
    };
  },
  converse(body) {
    const { messages, toolConfig } = body as unknown as {
      messages: { content: { toolUse: Named }[] }[];
      toolConfig: { tools: { toolSpec: Named }[]; toolChoice: { tool: Named } };
    };
    return {
      tools: toolConfig.tools.map((one) => toolOf(one.toolSpec)),
      called: messages[1]!.content[0]!.toolUse.name,
      chosen: toolConfig.toolChoice.tool.name,
    };
  },
};

const sent = (upstream: UpstreamProtocol, more: JsonObject = {}): Shown =>
  shown[upstream]!(routeOf("responses", upstream, { body: asked(more) }).body);

const namesOf = (tools: readonly JsonObject[], input = body["input"]!): string[] => {
  const route = routeOf("responses", "messages", {
    body: { model: "m", input, tools: [...tools] },
  });
  return (route.body["tools"] as { name: string }[]).map(({ name }) => name);
};

const targets = ["chat", "messages", "generate_content", "converse"] as const;

describe.each(targets)("tools in namespaces from responses to %s", (upstream) => {
  it("T33: get joined names, with the namespace's description on the first, which is reported", () => {
    const { tools, called, chosen } = sent(upstream);
    expect(tools.slice(0, 2)).toEqual([
      ["find", "Finds a file."],
      ["mcp__docs__find", "Finds one.\n\nAbout all tools of `mcp__docs`: Documents of the house."],
    ]);
    expect(tools[2]![0]).toBe("mcp__docs__open");
    expect([called, chosen]).toEqual(["mcp__docs__find", "mcp__docs__find"]);
    expect(routeOf("responses", upstream, { body }).notes).toEqual([
      {
        param: "tools",
        kind: "rewritten",
        detail: expect.stringContaining("tools within namespaces went as"),
      },
    ]);
  });
});

const given = '{"at":"b"}';

describe.each(["chat", "messages", "generate_content"] as const)("calls from %s", (upstream) => {
  const route = routeOf("responses", upstream, { body });
  const item = {
    type: "function_call",
    id: "fc_01abc_0",
    call_id: expect.stringMatching(/^(?:call|toolu)_2$|^c2$/),
    arguments: given,
    status: "completed",
  };
  const whole = (name: string) =>
    parseJsonText(calling(JSON.stringify(answerCalling[upstream](name)), given)) as JsonObject;
  const stream = (name: string) => calling(streamCalling[upstream](name), given);
  const own = [{ ...item, name: "find", namespace: "mcp__docs" }];

  it("T33: have separate tool and namespace when whole", () => {
    const answer = whole("mcp__docs__find");
    expect(route.answer(answer, [], noUsage)["output"]).toEqual(own);
    expect(streamedItems(route.framesOf(answer, noUsage))).toEqual(own);
  });

  it("T13 T33: have separate tool and namespace when streamed, from the first event", () => {
    const frames = passed(route, stream("mcp__docs__find"));
    expect(streamedItems(frames)).toEqual(own);
    const added = frames.find(({ event }) => event === "response.output_item.added")!;
    expect(parseJsonText(added.data)).toMatchObject({
      item: { name: "find", namespace: "mcp__docs" },
    });
  });

  it.each(["find", "open", "mcp__docs__close"])(
    "T33: do not include a name without a namespace: %s",
    (name) => {
      const plain = [{ ...item, name }];
      expect(route.answer(whole(name), [], noUsage)["output"]).toEqual(plain);
      expect(streamedItems(passed(route, stream(name)))).toEqual(plain);
    },
  );
});

describe("the joined names of namespaced tools", () => {
  const one = (namespace: string, ...names: string[]): JsonObject => ({
    type: "namespace",
    name: namespace,
    description: "",
    tools: names.map((name) => tool(name)),
  });
  const hash = /_[0-9a-f]{8}$/;

  it("T33: do not repeat a separator at the end of a namespace", () => {
    expect(namesOf([one("mcp__docs__", "find")])).toEqual(["mcp__docs__find"]);
  });

  it("T33: are made different if they would be equal, in any order", () => {
    const tools = [one("a__b", "c"), one("a", "b__c", "d"), one("x", "y"), tool("x__y")];
    const [first, second, third, fourth, plain] = namesOf(tools);
    expect([third, plain]).toEqual(["a__d", "x__y"]);
    for (const name of [first, second, fourth]) expect(name).toMatch(hash);
    expect(new Set([first, second, third, fourth, plain]).size).toBe(5);
    expect(namesOf(tools.toReversed())).toEqual([plain, fourth, second, third, first]);
    const route = routeOf("responses", "messages", { body: asked({ tools, tool_choice: "auto" }) });
    const back = [first!, second!, third!, fourth!, plain!].map((name) => {
      const answer = route.answer(answerCalling.messages(name), [], noUsage);
      const [call] = answer["output"] as JsonObject[];
      return [call!["namespace"], call!["name"]];
    });
    expect(back).toEqual([
      ["a__b", "c"],
      ["a", "b__c"],
      ["a", "d"],
      ["x", "y"],
      [undefined, "x__y"],
    ]);
  });

  it("T33: are the same in every turn, whatever was called before", () => {
    const called = (call_id: string, namespace: string, name: string): JsonObject[] => [
      { type: "function_call", call_id, namespace, name, arguments: "{}" },
      { type: "function_call_output", call_id, output: "x" },
    ];
    const input = [
      { role: "user", content: "Go." },
      ...called("c1", "a", "b__c"),
      ...called("c2", "gone", "tool"),
    ];
    const tools = [one("a__b", "c")];
    expect(namesOf(tools, input)).toEqual(namesOf(tools, "Go."));
    const route = routeOf("responses", "messages", { body: { model: "m", input, tools } });
    const uses = JSON.stringify(route.body["messages"]).match(/"name":"[^"]*"/g);
    expect(uses).toEqual([
      expect.stringMatching(/^"name":"a__b__c_[0-9a-f]{8}"$/),
      '"name":"gone__tool"',
    ]);
  });

  it("T33: are shortened if the vendor refuses them, and restored in answers", () => {
    const namespace = `mcp.${"server_".repeat(9)}`;
    const tools = [one(namespace, "find")];
    const route = routeOf("responses", "chat", { body: { model: "m", input: "Go.", tools } });
    const [{ function: sent }] = route.body["tools"] as [{ function: { name: string } }];
    expect(sent.name).toMatch(/^mcp_server_[\w-]{1,53}$/);
    const answer = route.answer(answerCalling.chat(sent.name), [], noUsage);
    expect(answer["output"]).toMatchObject([{ namespace, name: "find" }]);
  });
});

describe("the choice of a namespaced tool", () => {
  const others: JsonObject = { ...docs, name: "mcp__web", tools: [tool("open"), tool("load")] };
  const tools = [tool("find"), docs, others];

  it.each([
    [{ type: "function", name: "find" }, "find"],
    // Only one namespace has this tool.
    [{ type: "function", name: "load" }, "mcp__web__load"],
    // Two namespaces have it: the gateway does not guess.
    [{ type: "function", name: "open" }, "open"],
    [{ type: "function", name: "open", namespace: "mcp__web" }, "mcp__web__open"],
  ])("T33: is resolved from %o to %s", (choice, name) => {
    expect(sent("chat", { tools, tool_choice: choice }).chosen).toBe(name);
  });

  it("T29: may allow several tools, and the first one of a namespace has its description", () => {
    const allowed: JsonObject[] = [
      { type: "function", name: "find" },
      { type: "function", name: "open", namespace: "mcp__docs" },
    ];
    const choice = { type: "allowed_tools", mode: "required", tools: allowed };
    const request = asked({ tools, tool_choice: choice });
    const { body: sent } = routeOf("responses", "messages", { body: request });
    expect((sent["tools"] as JsonObject[]).map(({ name }) => name)).toEqual([
      "find",
      "mcp__docs__open",
    ]);
    expect((sent["tools"] as JsonObject[])[1]!["description"]).toContain("Documents of the house.");
  });
});

it("T33: a custom tool may be in a namespace", () => {
  const tools = [{ ...docs, tools: [{ type: "custom", name: "patch" }] }];
  const input: JsonObject[] = [
    { role: "user", content: "Edit." },
    { type: "custom_tool_call", call_id: "c1", name: "patch", namespace: "mcp__docs", input: "a" },
    { type: "custom_tool_call_output", call_id: "c1", output: "done" },
  ];
  for (const upstream of ["chat", "messages"] as const) {
    const request = { model: "m", input, tools };
    const route = routeOf("responses", upstream, { body: request });
    expect(JSON.stringify(route.body).match(/"mcp__docs__patch"/g)).toHaveLength(2);
    const text = calling(
      JSON.stringify(answerCalling[upstream]("mcp__docs__patch")),
      '{"input":"b"}',
    );
    const answer = route.answer(parseJsonText(text) as JsonObject, [], noUsage);
    expect(answer["output"]).toMatchObject([
      { type: "custom_tool_call", namespace: "mcp__docs", name: "patch", input: "b" },
    ]);
  }
});

it("T33: deferred tools are offered, because no search tool is, and that is reported once", () => {
  const deferred = ["find", "open", "shut"].map((name) => ({ ...tool(name), defer_loading: true }));
  const tools: JsonObject[] = [{ ...docs, tools: deferred }, { type: "tool_search" }];
  const route = routeOf("responses", "chat", { body: asked({ tools }) });
  expect(noteHeader(route.notes)).toBe("tools, tools.tools.defer_loading, tools[1]");
  expect(route.body["tools"]).toHaveLength(3);
});

it("T33: a member named namespace in chat completions is reported", () => {
  const custom = { name: "patch", input: "a", namespace: "mcp__docs" };
  const calls = [{ id: "c1", type: "custom", custom }];
  const said = { role: "assistant", content: null, tool_calls: calls };
  const result = { role: "tool", tool_call_id: "c1", content: "done" };
  const messages = [{ role: "user", content: "Edit." }, said, result];
  const route = routeOf("chat", "messages", { body: { model: "m", messages } });
  expect(JSON.stringify(route.body["messages"])).toContain('"name":"patch"');
  expect(noteHeader(route.notes)).toContain("namespace");
});

it("T33: unsupported tools in a namespace are reported by position, and a namespace without any as a whole", () => {
  const within = [tool("find"), { type: "function" }, { type: "mcp", name: "x" }];
  const tools = [
    { ...docs, tools: within },
    { ...docs, name: "none", tools: [] },
  ];
  const { notes } = routeOf("responses", "chat", { body: asked({ tools }) });
  expect(notes.map(({ param }) => param).toSorted()).toEqual([
    "tools",
    "tools[0].tools[1]",
    "tools[0].tools[2]",
    "tools[1]",
  ]);
});

it("T33: the canonical form keeps namespaces, and an answer repeats the request's own tools", () => {
  const tools = [docs, { type: "web_search" }, { ...docs, tools: [tool("shut"), { type: "x" }] }];
  const choice = {
    type: "allowed_tools",
    mode: "auto",
    tools: [{ type: "function", name: "find", namespace: "mcp__docs" }],
  };
  const request = asked({ tools, tool_choice: choice });
  const codec = codecs.responses;
  const again = codec.encodeRequest(
    codec.decodeRequest(request, { model: "m", stream: false }),
    "m",
  );
  const same = { tools: again["tools"], choice: again["tool_choice"] };
  expect(same).toEqual({ tools, choice });
  const [call] = (again["input"] as JsonObject[]).filter(({ type }) => type === "function_call");
  expect(call).toEqual((body["input"] as JsonObject[])[1]);
  const route = routeOf("responses", "chat", { body: asked({ tools: [docs] }) });
  const answer = route.answer(answerCalling.chat("mcp__docs__find"), [], noUsage);
  expect(answer["tools"]).toMatchObject([{ ...docs, tools: [{ name: "find" }, { name: "open" }] }]);
  const read = codec.decodeResponse(answer);
  expect(read.content).toMatchObject([{ type: "tool_call", name: "find", namespace: "mcp__docs" }]);
});
