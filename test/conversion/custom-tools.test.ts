/**
 * Custom tools, whose input is one text, such as Codex's `apply_patch`. Chat completions and responses convert them to each other;
 * other upstreams get them as functions. T13, T33.
 */
import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../src/base/json-text.ts";
import { formatSse } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { objectOf } from "../../src/protocols/read.ts";
import {
  answers,
  before,
  bodies,
  call,
  givenCall,
  grammar,
  passed,
  patch,
  routeOf,
  streamedCall,
  streams,
  wholeCall,
} from "./custom-wire.ts";
import { answerCalling, calling, streamCalling } from "./tool-wire.ts";

/** Reads the tool and its earlier input from a body for a target that only has functions. */
const shown: Readonly<Record<string, (body: JsonObject) => readonly unknown[]>> = {
  chat: (body) => {
    const { messages, tools, tool_choice: choice } = body as Record<string, JsonObject[]>;
    const { function: tool } = tools![1] as { function: JsonObject };
    const [call] = messages![1]!["tool_calls"] as { type: string; function: JsonObject }[];
    const input = parseJsonText(call!.function["arguments"] as string);
    expect([call!.type, choice]).toMatchObject(["function", { type: "function" }]);
    return [tool["description"], tool["parameters"], input];
  },
  messages: (body) => {
    const { messages, tools, tool_choice: choice } = body as Record<string, JsonObject[]>;
    const content = messages![1]!["content"] as JsonObject[];
    expect(choice).toMatchObject({ type: "tool", name: "apply_patch" });
    return [tools![1]!["description"], tools![1]!["input_schema"], content[0]!["input"]];
  },
  generate_content: (body) => {
    const { contents, tools } = body as Record<string, JsonObject[]>;
    const [, tool] = tools![0]!["functionDeclarations"] as JsonObject[];
    const [part] = contents![1]!["parts"] as { functionCall: JsonObject }[];
    const schema = tool!["parametersJsonSchema"] ?? tool!["parameters"];
    return [tool!["description"], schema, part!.functionCall["args"]];
  },
  converse: (body) => {
    const { messages, toolConfig } = body as Record<string, JsonObject[]>;
    const { tools } = toolConfig as unknown as { tools: { toolSpec: JsonObject }[] };
    const spec = tools[1]!.toolSpec;
    const content = messages![1]!["content"] as { toolUse: JsonObject }[];
    const { json } = spec["inputSchema"] as JsonObject;
    return [spec["description"], json, content[0]!.toolUse["input"]];
  },
};

const asFunction = [
  ["chat", "messages"],
  ["chat", "generate_content"],
  ["chat", "converse"],
  ["responses", "chat"],
  ["responses", "messages"],
  ["responses", "generate_content"],
  ["responses", "converse"],
] as const;

describe.each(asFunction)("a custom tool as a function, from %s to %s", (caller, upstream) => {
  const route = routeOf(caller, upstream);

  it("T33: becomes a function with one text, which is reported", () => {
    const [description, schema, input] = shown[upstream]!(route.body);
    expect(description).toBe(
      `Edits files.\n\n\`input\` must match this lark grammar:\n${grammar.definition}`,
    );
    expect(schema).toMatchObject({
      type: "object",
      properties: { input: { type: "string" } },
      required: ["input"],
    });
    expect(input).toEqual({ input: before });
    expect(JSON.stringify(route.body)).toContain("done");
    expect(route.notes).toEqual([
      {
        param: "tools",
        kind: "rewritten",
        detail: expect.stringMatching(/^custom tools went as .* grammars .* nothing enforces/),
      },
    ]);
  });
});

const converted = asFunction.flatMap(([caller, upstream]) =>
  upstream === "converse" ? [] : [[caller, upstream] as const],
);

describe.each(converted)("calls of a custom tool from %s to %s", (caller, upstream) => {
  const route = routeOf(caller, upstream);
  const id = expect.stringMatching(/^(?:call|toolu)_2$|^c2$/) as string;
  const expected = givenCall[caller]({ id, name: "apply_patch", input: patch });
  const answerWith = (given: string): JsonObject =>
    parseJsonText(
      calling(JSON.stringify(answerCalling[upstream]("apply_patch")), given),
    ) as JsonObject;
  const given = JSON.stringify({ input: patch });

  it("T33: are read as custom calls when whole, with the input as the model wrote it", () => {
    const answer = answerWith(given);
    expect(wholeCall[caller](route.answer(answer, [], noUsage))).toEqual(expected);
    expect(streamedCall[caller](route.framesOf(answer, noUsage))).toEqual(expected);
  });

  it("T13 T33: are read as custom calls when streamed", () => {
    const stream = calling(streamCalling[upstream]("apply_patch"), given);
    expect(streamedCall[caller](passed(route, stream))).toEqual(expected);
  });

  it("T33: are understood if the model names the text differently", () => {
    const answer = answerWith(JSON.stringify({ patch }));
    expect(wholeCall[caller](route.answer(answer, [], noUsage))).toEqual(expected);
  });

  it("T33: do not include calls of a function next to it", () => {
    const answer = answerCalling[upstream]("look");
    const given = JSON.stringify(wholeCall[caller](route.answer(answer, [], noUsage)));
    expect(given).not.toContain("custom");
    expect(given).toContain('"name":"look"');
  });
});

describe("a custom tool between chat completions and responses", () => {
  const pairs = [
    ["chat", "responses"],
    ["responses", "chat"],
  ] as const;

  it.each(pairs)("T33: is sent unchanged from %s to %s", (caller, upstream) => {
    const { body, notes } = routeOf(caller, upstream, { customTools: true });
    const { tools, tool_choice: choice } = bodies[upstream];
    expect(notes).toEqual([]);
    const [, custom] = body["tools"] as JsonObject[];
    expect([custom, body["tool_choice"]]).toEqual([(tools as JsonObject[])[1], choice]);
    const turns = upstream === "chat" ? "messages" : "input";
    const said = bodies[upstream][turns] as JsonObject[];
    expect((body[turns] as JsonObject[]).slice(1, 3)).toEqual(said.slice(1, 3));
  });

  it.each(pairs)(
    "T13 T33: is called unchanged from %s to %s, whole and streamed",
    (caller, upstream) => {
      const route = routeOf(caller, upstream, { customTools: true });
      const expected = givenCall[caller]({ id: "call_2", ...call });
      const answer = answers[upstream];
      expect(wholeCall[caller](route.answer(answer, [], noUsage))).toEqual(expected);
      expect(streamedCall[caller](route.framesOf(answer, noUsage))).toEqual(expected);
      const frames = passed(route, streams[upstream]);
      expect(streamedCall[caller](frames)).toEqual(expected);
      // The pieces are passed on as they came.
      expect(frames.filter(({ data }) => data.includes('"*** Begin Patch'))).not.toEqual([]);
      const pieces = frames.filter(({ data }) => data.includes("End Patch"));
      expect(pieces[0]!.data).not.toContain("Begin Patch");
    },
  );

  it("T12: is called completely if the call is only in the last event", () => {
    const route = routeOf("chat", "responses");
    const event = { type: "response.completed", response: answers.responses };
    const stream = formatSse({ event: event.type, data: JSON.stringify(event) });
    expect(streamedCall.chat(passed(route, stream))).toEqual(
      givenCall.chat({ id: "call_2", ...call }),
    );
  });

  it.each(pairs)("T29: may be one of several allowed tools, from %s to %s", (caller, upstream) => {
    const tools: Record<string, JsonObject[]> = {
      chat: [
        { type: "custom", custom: { name: "apply_patch" } },
        { type: "function", function: { name: "look" } },
      ],
      responses: [
        { type: "custom", name: "apply_patch" },
        { type: "function", name: "look" },
      ],
    };
    const choices: Record<string, JsonObject> = {
      chat: { type: "allowed_tools", allowed_tools: { mode: "required", tools: tools["chat"]! } },
      responses: { type: "allowed_tools", mode: "required", tools: tools["responses"]! },
    };
    const body = { ...bodies[caller], tool_choice: choices[caller]! };
    const route = routeOf(caller, upstream, { customTools: true, body });
    expect(route.body["tool_choice"]).toEqual(choices[upstream]);
  });
});

/** The custom tool's input for a responses caller, from a call with these arguments. */
function inputOf(given: string): unknown {
  const stream = streamCalling
    .messages("apply_patch")
    .replace('"partial_json":"{}"', () => `"partial_json":${JSON.stringify(given)}`);
  const frames = passed(routeOf("responses", "messages"), stream);
  const done = frames.find(({ event }) => event === "response.custom_tool_call_input.done");
  return objectOf(parseJsonText(done!.data))["input"];
}

const cut = String.raw`{"input":"*** Begin Patch\n+ \u00e9 \\ \"a`;
const truncatedInput = '*** Begin Patch\n+ é \\ "a';

it.each([
  ["between characters", cut, truncatedInput],
  ["in an escape", `${cut}\\`, truncatedInput],
  ["in the number of an escape", `${cut}\\u00`, truncatedInput],
  ["between the halves of a pair", String.raw`${cut}\ud83d`, truncatedInput],
  ["in the second half of a pair", String.raw`${cut}\ud83d\ude`, truncatedInput],
  ["after a pair", String.raw`${cut}\ud83d\ude00`, `${truncatedInput}😀`],
  ["after the text", `${cut}"`, truncatedInput],
  ["before the text", '{"inp', '{"inp'],
])(
  "T3 T33: the truncated input of a call that was cut %s reaches the caller",
  (_where, given, input) => {
    expect(inputOf(given)).toBe(input);
  },
);

it.each([
  ["without JSON", "*** Begin", "*** Begin"],
  ["with raw line breaks", '{"input":"*** Begin\n\t+ a\n"}', "*** Begin\n\t+ a\n"],
  ["with a brace too many", '{"input":"*** Begin"}}', "*** Begin"],
  ["with unescaped quotes", '{"input":"say "a" }"}', '{"input":"say "a" }"}'],
  ["as a number", '{"input":7}', '{"input":7}'],
  ["under two other names", '{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
  ["with a remark next to it", '{"input":"x","why":"y"}', "x"],
  ["under another name next to null", '{"input":null,"patch":"x"}', "x"],
  ["as null", '{"input":null}', ""],
  ["as an empty object", "{}", ""],
])("T33: an input that a model wrote %s reaches the tool", (_how, given, input) => {
  expect(inputOf(given)).toBe(input);
});

it("T33: a tool without grammar gets only its own description, and earlier calls of removed tools are sent too", () => {
  const tools = [{ type: "custom", name: "shell" }];
  const { body, notes } = routeOf("responses", "messages", {
    body: { ...bodies.responses, tools },
  });
  expect(notes.map(({ detail }) => detail)).toEqual([
    "custom tools went as functions with one text, `input`; calls are of your own tools",
  ]);
  const [tool] = body["tools"] as JsonObject[];
  expect(Object.keys(tool!)).toEqual(["name", "input_schema"]);
  expect(JSON.stringify(body["messages"])).toContain('"input":{"input":"*** Begin Patch');
});

describe("a function and a custom tool with the same name", () => {
  const name = "apply_patch";
  const parameters = { type: "object", properties: { at: { type: "string" } } };
  const tools: JsonObject[] = [
    { type: "function", name, parameters },
    { type: "custom", name },
  ];
  const called = (type: string, member: string, call_id: string): JsonObject[] => [
    { type, call_id, name, [member]: "{}" },
    { type: `${type}_output`, call_id, output: "done" },
  ];
  const body = {
    model: "m",
    tools,
    input: [
      { role: "user", content: "Go." },
      ...called("function_call", "arguments", "c1"),
      ...called("custom_tool_call", "input", "c2"),
    ],
  };
  const asked = (choice: JsonObject) =>
    routeOf("responses", "messages", { body: { ...body, tool_choice: choice } });

  it("T33: become two functions if the upstream has functions only, also in calls and choices", () => {
    const sent = asked({ type: "custom", name }).body;
    expect((sent["tools"] as JsonObject[]).map((tool) => tool["name"])).toEqual([
      name,
      `${name}_custom`,
    ]);
    const uses = JSON.stringify(sent["messages"]).match(/"name":"[^"]*"/g);
    expect(uses).toEqual([`"name":"${name}"`, `"name":"${name}_custom"`]);
    expect(sent["tool_choice"]).toMatchObject({ type: "tool", name: `${name}_custom` });
    expect(asked({ type: "function", name }).body["tool_choice"]).toMatchObject({ name });
  });

  it.each([
    [name, "function_call", "arguments"],
    [`${name}_custom`, "custom_tool_call", "input"],
  ])("T33: are separated: a call of %s is one of %s", (sent, type, member) => {
    const route = asked({ type: "custom", name });
    const [input, given] = ['{"input":"x"}', type === "function_call" ? '{"input":"x"}' : "x"];
    const text = calling(JSON.stringify(answerCalling.messages(sent)), input);
    const whole = route.answer(parseJsonText(text) as JsonObject, [], noUsage);
    const frames = passed(route, calling(streamCalling.messages(sent), input));
    const last = objectOf(parseJsonText(frames.at(-2)!.data))["response"];
    const streamed = objectOf(last);
    for (const { output } of [whole, streamed])
      expect(output).toMatchObject([{ type, name, [member]: given }]);
  });

  it("T33: are chosen by kind if both are sent unchanged", () => {
    for (const type of ["function", "custom"]) {
      const choice = { type, name };
      const more = { body: { ...body, tool_choice: choice }, customTools: true } as const;
      const sent = routeOf("responses", "chat", more).body;
      expect(sent["tool_choice"]).toEqual({ type, [type]: { name } });
    }
  });
});
