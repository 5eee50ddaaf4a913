/**
 * Everything that a conversion cannot carry. Content that would change the request's meaning is refused; only nuances are
 * dropped. The table is src/protocols/losses.ts. A field of the vendors' SDKs that is neither carried nor in the table fails
 * here. CONV-101 to CONV-113, RESP-31; trap T33.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { noteHeader } from "../../src/base/notes.ts";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { kindOf, lossesOf } from "../../src/protocols/losses.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { requestWith } from "./losses.ts";
import { routeOf } from "./route.ts";
import { byName, conversions, names, type Body, type Name } from "./world.ts";

const world = conversions();

function convert(from: Name, to: Name, extra: Body) {
  return routeOf(from, to, { ...byName[from].body("acme/x", false), ...extra });
}

/** The parameter's name in the table: without indexes. */
const placeOf = (param: string): string => param.replace(/\[\d+\]/g, "[]");

/** Each row of a class, with the target protocols on which it is tested. */
const rowsOf = (wanted: "refused" | "dropped") =>
  names.flatMap((from) =>
    [...lossesOf(from)]
      .filter(([, loss]) => loss.class === wanted)
      .map(([place]) => [from, place, names.filter((name) => name !== from)] as const),
  );

it("TXT-14 TXT-15: a lost member of several items is reported once", () => {
  const turn = (role: string) => ({ role, content: "x", turn_metadata: { kinds: ["a"] } });
  const turns = Array.from({ length: 400 }, (_, at) => turn(at % 2 === 0 ? "user" : "assistant"));
  const shell = { type: "local_shell" };
  const headerFor = (input: object[]) =>
    noteHeader(convert("responses", "messages", { input, tools: [shell, shell] }).notes);
  expect(headerFor(turns)).toBe("input.turn_metadata, tools[0], tools[1]");
  expect(headerFor([turns[0]!])).toBe("input[0].turn_metadata, tools[0], tools[1]");
});

it("TXT-14: the note of a dropped field says who would get it", () => {
  const { notes } = convert("chat", "messages", { logit_bias: { 5: 1 } });
  const detail =
    "the provider's protocol has no such field, dropped in conversion; a provider that speaks chat completions gets it";
  expect(notes).toContainEqual({ param: "logit_bias", kind: "dropped", detail });
});

it("TXT-17 TXT-19: the note of a field that no provider gets says so", () => {
  const advisor = { type: "advisor_20260301", name: "advisor", model: "claude-opus-5-5" };
  const body = { service_tier: "auto", tools: [advisor], unknown: 1, fallbacks: ["a"] };
  const { notes } = convert("messages", "chat", body);
  const details = Object.fromEntries(notes.map(({ param, detail }) => [param, detail]));
  expect(details).toEqual({
    service_tier: "never forwarded, dropped",
    fallbacks: "never forwarded, dropped",
    "tools[0]": expect.stringMatching(/allowlist/),
    unknown: expect.stringMatching(/gets it$/),
  });
});

it("TXT-19: the note of a model that Vertex AI's routing names says that no provider gets it", () => {
  const routing = { manualMode: { modelName: "opus" } };
  const configs = [
    { generationConfig: { routingConfig: routing } },
    { generation_config: { routing_config: routing } },
  ];
  for (const config of configs)
    expect(convert("generate_content", "chat", config).notes).toMatchObject([
      { detail: expect.stringMatching(/allowlist/) },
    ]);
});

describe("each row of the table of losses", () => {
  it.each(rowsOf("dropped"))("T33: %s %s is dropped and reported", (from, place, targets) => {
    const [path] = place.split(":");
    for (const to of targets) {
      const { notes } = convert(from, to, requestWith(from, place));
      expect([to, ...notes.map(({ param }) => placeOf(param))]).toContain(path);
    }
  });

  it.each(rowsOf("refused"))("T33: %s %s is refused with its name", (from, place, targets) => {
    const [path] = place.split(":");
    for (const to of targets) {
      const error = thrownBy(() => convert(from, to, requestWith(from, place)));
      expect(error).toBeInstanceOf(GatewayError);
      const { status, code, param, message } = error as GatewayError;
      expect([to, status, placeOf(param ?? "")]).toEqual([to, 400, path]);
      expect(code).toMatch(
        /^(?:unsupported_content|unsupported_parameter|thread_unsupported_request)$/,
      );
      expect(message).toContain(param);
    }
  });
});

it.each([
  ["responses", { input: [{ type: "hologram" }] }, "input[0] (hologram)"],
  ["responses", { tools: [{ type: "file_search" }] }, "tools[0] (file_search)"],
  [
    "messages",
    { messages: [{ role: "user", content: [{ type: "hologram" }] }] },
    "messages[0].content[0] (hologram)",
  ],
  [
    "chat",
    { messages: [{ role: "user", content: [{ type: "hologram" }] }] },
    "messages[0].content[0] (hologram)",
  ],
  ["chat", { tool_choice: { type: "new tool\n" } }, "tool_choice"],
  [
    "generate_content",
    { contents: [{ parts: [{ hologram: {} }] }] },
    "contents[0].parts[0] (hologram)",
  ],
] as const)(
  "T33: %s with %j: the error names the kind first, then the reason",
  (from, extra, name) => {
    const to = from === "messages" ? "chat" : "messages";
    const error = thrownBy(() => convert(from, to, extra)) as GatewayError;
    expect(error.message.split(" cannot be converted for this model's provider: ")[0]).toBe(name);
    expect(error.message).toMatch(/\. Leave it out, or choose a model whose provider speaks /);
  },
);

it.each([
  ["chat", "tool_choice.allowed_tools.tools"],
  ["responses", "tool_choice.tools"],
] as const)("T29: %s names the empty list of a required tool call in the error", (from, list) => {
  const extra = requestWith(from, "tool_choice:allowed_tools of none");
  const error = thrownBy(() => convert(from, "messages", extra)) as GatewayError;
  expect(error.param).toBe("tool_choice");
  expect(error.message).toContain(
    `cannot be converted for this model's provider: a required tool call while ${list} is empty.`,
  );
  expect(error.message).toContain('Name tools in it, set its mode to "auto", or choose');
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

const sdkFile = (path: string): string =>
  readFileSync(new URL(`../../node_modules/${path}`, import.meta.url), "utf8");

/** The members of an interface of an SDK's types. */
function membersOf(text: string, name: string): string[] {
  const start = new RegExp(`^export (?:declare )?interface ${name} (?:extends .*)?\\{$`, "m").exec(
    text,
  );
  const body = text.slice(start!.index, text.indexOf("\n}", start!.index));
  const indent = /\n( +)(?:\/\*\*|\w)/.exec(body)![1]!;
  return [...body.matchAll(new RegExp(`^${indent}(\\w+)\\??:`, "gm"))].map(([, member]) => member!);
}

/** The `type`s of the members of a union of an SDK's types. */
function kindsOf(text: string, union: string): string[] {
  const [, list] = new RegExp(`^export type ${union} = ([^;]*);`, "m").exec(text)!;
  return list!
    .split("|")
    .map((one) => one.trim().split(".").at(-1)!)
    .flatMap((name) => {
      const start = text.search(new RegExp(`interface ${name} \\{`));
      const body = text.slice(start, start + 20_000);
      const type = /\n +type\??: ('[^;]*);/.exec(body)?.[1] ?? "";
      return [...type.matchAll(/'([^']+)'/g)].map(([, kind]) => kindOf({ type: kind })!);
    });
}

const openai = "openai/resources";
const anthropic = "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts";
const google = "@google/genai/dist/genai.d.ts";

/** Fields of the SDK's configuration that it sends outside `generationConfig`. */
const googleFields =
  "cachedContent safetySettings labels store serviceTier modelArmorConfig continuationToken automaticContinuation systemInstruction tools toolConfig".split(
    " ",
  );

/** The field names of each SDK's request type. */
const known: Readonly<Record<Name, () => readonly string[]>> = {
  chat: () =>
    membersOf(
      sdkFile(`${openai}/chat/completions/completions.d.ts`),
      "ChatCompletionCreateParamsBase",
    ),
  responses: () =>
    membersOf(sdkFile(`${openai}/responses/responses.d.ts`), "ResponseCreateParamsBase"),
  messages: () => membersOf(sdkFile(anthropic), "MessageCreateParamsBase"),
  generate_content: () => [
    ...membersOf(sdkFile(google), "Tool").map((name) => `tools[].${name}`),
    ...googleFields,
  ],
};

/** True if some value of this field is carried: it is not refused, and no note names the field. */
function isCarried(from: Name, field: string): boolean {
  const samples = [
    "low",
    "auto",
    1,
    true,
    [],
    {},
    ["x"],
    { type: "json_object" },
    { type: "auto" },
    { format: { type: "text" } },
    { effort: "low" },
    { type: "enabled", budget_tokens: 1024 },
    { include_usage: true },
    { include_obfuscation: null },
    [{}],
    [{ role: "user", content: "x" }],
  ];
  return samples.some((value) => {
    const [outer, inner] = field.split(/\[\]\./) as [string, string | undefined];
    const extra = { [outer]: inner === undefined ? value : [{ [inner]: value }] };
    const body = { ...byName[from].body("acme/x", false), ...extra } as JsonObject;
    try {
      const { native } = codecs[from].decodeRequest(body, { model: "acme/x", stream: false });
      return !native.some(({ param }) => placeOf(param) === field);
    } catch {
      return false;
    }
  });
}

describe("the types of the vendors' SDKs", () => {
  it.each(names)(
    "T33: have only fields that are carried or classified, for %s requests",
    (from) => {
      const fields = known[from]();
      expect(fields.length).toBeGreaterThan(10);
      const table = lossesOf(from);
      expect(fields.filter((field) => !table.has(field) && !isCarried(from, field))).toEqual([]);
    },
  );

  it.each([
    ["responses", `${openai}/responses/responses.d.ts`, "Tool", ["function", "custom"]],
    ["messages", anthropic, "BetaToolUnion", ["custom"]],
  ] as const)(
    "T33: have only kinds of tools with a class, for %s",
    (from, path, union, carried) => {
      const kinds = kindsOf(sdkFile(path), union);
      expect(kinds.length).toBeGreaterThan(10);
      const table = lossesOf(from);
      const open = new Set(kinds.filter((kind) => !table.has(`tools[]:${kind}`)));
      expect([...open].filter((kind) => !(carried as readonly string[]).includes(kind))).toEqual(
        [],
      );
    },
  );
});

describe("a refused field of a call", () => {
  it.each([
    ["messages", { container: { id: "container_1" } }, "container", "unsupported_parameter"],
    [
      "messages",
      requestWith("messages", "messages[].content[]:search_result"),
      "messages[0].content[0]",
      "unsupported_content",
    ],
    [
      "generate_content",
      { cachedContent: "cachedContents/1" },
      "cachedContent",
      "unsupported_parameter",
    ],
    [
      "generate_content",
      { cached_content: "cachedContents/1" },
      "cached_content",
      "unsupported_parameter",
    ],
    [
      "responses",
      { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
      "tools[0]",
      "unsupported_parameter",
    ],
    [
      "responses",
      requestWith("responses", "input[]:shell_call"),
      "input[1]",
      "unsupported_content",
    ],
    ["chat", requestWith("chat", "messages[].audio"), "messages[1].audio", "unsupported_content"],
  ] as const)(
    "T33: is named for %s, reaches no upstream and costs nothing (%#)",
    async (from, body, param, code) => {
      const { ledger, workspaceId } = world.gateway();
      const { chargedNano } = await ledger.balance(workspaceId);
      for (const to of names.filter((name) => name !== from)) {
        const { status, up, answer } = await world.send(from, to, body);
        expect([to, status, up]).toEqual([to, 400, undefined]);
        const text = JSON.stringify(answer);
        expect(text).toContain(param);
        expect(text.toLowerCase()).toContain(code);
      }
      expect((await ledger.balance(workspaceId)).chargedNano).toBe(chargedNano);
    },
  );

  it("T33: may be an item reference, as the AI SDK sends; its error says how to send the item", async () => {
    const input = [
      { role: "user", content: "Hi" },
      { type: "item_reference", id: "msg_1" },
    ];
    const { status, answer } = await world.send("responses", "chat", { input });
    expect([status, answer["error"]]).toMatchObject([400, { param: "input[1]" }]);
    expect(JSON.stringify(answer)).toContain("store: false");
  });

  it("T33: may be the end of a history that Codex's built-in provider compacts; its error says what compacts itself", async () => {
    const input = [{ role: "user", content: "Hi" }, { type: "compaction_trigger" }];
    const { status, answer } = await world.send("responses", "chat", { input });
    expect([status, answer["error"]]).toMatchObject([400, { param: "input[1]" }]);
    expect(JSON.stringify(answer)).toContain("use a provider of your own");
  });

  it("may be a picture in a system turn, or a file that is neither PDF nor text", async () => {
    const url = "data:image/png;base64,iVBORw0KGgo=";
    const system = { role: "system", content: [{ type: "input_image", image_url: url }] };
    const zip = { type: "file", file: { file_data: "data:application/zip;base64,UEsF" } };
    for (const [from, extra] of [
      ["responses", { input: [system, { role: "user", content: "Hi" }] }],
      ["chat", { messages: [{ role: "user", content: [zip] }] }],
    ] as const)
      for (const to of names.filter((name) => name !== from)) {
        const { status, up, answer } = await world.send(from, to, extra);
        expect([from, to, status, up]).toEqual([from, to, 400, undefined]);
        expect(JSON.stringify(answer).toLowerCase()).toContain("unsupported_content");
      }
  });
});

describe("a model of several providers", () => {
  let gateway: GatewayUnderTest;
  let chatty: Recorder;
  let own: Recorder;
  const model = "acme/both";
  const body = { ...byName.messages.body(model, false), container: "container_1" };

  beforeAll(async () => {
    chatty = await startRecorder(json(byName.chat.whole()));
    own = await startRecorder(json(byName.messages.whole()));
    const price = `price: { input: "1", cache_read: "1", cache_write: "1", output: "1" }`;
    const dear = `price: { input: "9", cache_read: "9", cache_write: "9", output: "9" }`;
    gateway = await startTestGateway({
      config: `
providers:
  - { id: chatty, dialect: openai-compatible, base_url: "${chatty.url}/v1", api_key: secret }
  - { id: own, dialect: openai-compatible, base_url: "${own.url}/v1", api_key: secret }
models:
  - id: ${model}
    kind: text
    endpoints: [messages]
    context_length: 200000
    max_output_tokens: 4000
    offers:
      - { provider: chatty, protocol: chat, upstream_model: x, ${price} }
      - { provider: own, protocol: messages, upstream_model: x, ${dear} }
`,
    });
    await gateway.credit("10");
  });
  afterAll(async () => {
    await gateway.close();
    await chatty.close();
    await own.close();
  });

  it("is called at the provider that can carry the field, even if another one is cheaper", async () => {
    const answer = await gateway.post("/v1/messages", { ...body, model: `${model}:@price` });
    expect(answer.status).toBe(200);
    expect(own.requests).toHaveLength(1);
    expect(own.requests[0]!.body).toMatchObject({ container: "container_1" });
    expect(chatty.requests).toEqual([]);
  });

  it("reports the failure of that provider, not the other one's inability", async () => {
    own.answer((_request, response) => void response.writeHead(500).end("{}"));
    const answer = await gateway.post("/v1/messages", body);
    expect(answer.status).toBe(502);
    expect(chatty.requests).toEqual([]);
  });
});
