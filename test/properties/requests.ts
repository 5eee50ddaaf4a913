// Random requests of each protocol's callers: conversations with tools, media and reasoning, and settings of every kind, within
// the limits of each protocol.
import * as fc from "fast-check";
import type {
  CacheBreakpoint,
  CanonicalRequest,
  JsonObject,
  MediaSource,
  Message,
  OutputFormat,
  Part,
  Reasoning,
  Tool,
  ToolChoice,
} from "../../src/protocols/canonical/request.ts";
import type { ProtocolName } from "../../src/protocols/index.ts";
import { signatureOf, someName, someObject, someText } from "./answers.ts";

type Maybe<Value> = fc.Arbitrary<Value | undefined>;
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>): Maybe<Value> =>
  fc.option(arbitrary, { nil: undefined });
/** An optional field that only some protocols have; undefined in the others. */
const onlyIn = <Value>(isSaid: boolean, arbitrary: fc.Arbitrary<Value>): Maybe<Value> =>
  isSaid ? maybe(arbitrary) : fc.constant(undefined);

/** Text that is not blank: a message of blanks would get a placeholder. */
const words = someText.map((text) => `t${text}`);

const base64 = fc.constantFrom("iVBORw0KGgo=", "AAAA");
const webAddress = fc.constantFrom("https://example.com/a", "https://example.com/b");

/** A file in the vendor's own store, which no other vendor can read. */
const stored: fc.Arbitrary<MediaSource> = fc.constant({ kind: "file_id", fileId: "file_1" });
const inline = (mediaType: string): fc.Arbitrary<MediaSource> =>
  base64.map((data) => ({ kind: "base64", mediaType, data }));
const web = (mediaType?: string): fc.Arbitrary<MediaSource> =>
  webAddress.map((url) => ({ kind: "url", url, ...(mediaType ? { mediaType } : {}) }));

const image = (source: fc.Arbitrary<MediaSource>, detail: Maybe<string>): fc.Arbitrary<Part> =>
  fc
    .record({ source, detail })
    .map((members) => defined({ type: "media", media: "image", ...members }));
const media = (
  kind: "audio" | "video" | "file",
  source: fc.Arbitrary<MediaSource>,
): fc.Arbitrary<Part> => source.map((one) => ({ type: "media", media: kind, source: one }));

const noDetail = fc.constant(undefined);
const someDetail = maybe(fc.constantFrom("low", "high"));

/** The media that each protocol's callers can send. */
const someMedia: Readonly<Record<ProtocolName, fc.Arbitrary<Part>>> = {
  chat: fc.oneof(
    { weight: 4, arbitrary: image(fc.oneof(inline("image/png"), web()), someDetail) },
    media("audio", inline("audio/wav")),
    media("video", web()),
    media("file", inline("application/pdf")),
  ),
  responses: fc.oneof(
    // The protocol always has a detail, "auto" if the caller gave none.
    {
      weight: 4,
      arbitrary: image(
        fc.oneof(inline("image/png"), web(), stored),
        someDetail.map((detail) => detail ?? "auto"),
      ),
    },
    media("file", fc.oneof(inline("application/pdf"), web())),
  ),
  messages: fc.oneof(
    { weight: 4, arbitrary: image(fc.oneof(inline("image/png"), web(), stored), noDetail) },
    media("file", fc.oneof(inline("application/pdf"), web("application/pdf"), stored)),
  ),
  generate_content: fc.oneof(
    { weight: 4, arbitrary: image(fc.oneof(inline("image/png"), web("image/png")), noDetail) },
    media("audio", inline("audio/wav")),
    media("video", web("video/mp4")),
    media("file", inline("application/pdf")),
  ),
};

/** Removes members that are undefined. */
function defined<Value extends object>(value: Value): Value {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Value;
}

/** A call and its result, each of which may be missing. */
interface Exchange {
  readonly name: string;
  readonly input: JsonObject;
  readonly output: string;
  readonly picture: boolean;
  readonly isError: boolean;
  readonly missing: "none" | "call" | "result";
}

const someExchange: fc.Arbitrary<Exchange> = fc.record({
  name: someName,
  input: someObject,
  output: fc.oneof(
    words,
    someObject.map((value) => JSON.stringify(value)),
  ),
  picture: fc.boolean(),
  isError: fc.boolean(),
  missing: fc.constantFrom("none", "none", "none", "none", "call", "result"),
});

/** A user's turn, the answer to it, and the results of the answer's calls. */
interface Round {
  readonly asked: Part[];
  /** The name of the user of this turn. */
  readonly author: string | undefined;
  /** True if the model refused instead of answering. */
  readonly isRefusal: boolean;
  readonly thought: { readonly text: string; readonly isSigned: boolean } | undefined;
  readonly said: string | undefined;
  readonly exchanges: Exchange[];
}

const someMarker = fc.constantFrom<CacheBreakpoint>({}, { ttl: "1h" });
/** True for OpenAI's two protocols, which have sessions, refusals and names of schemas. */
const hasSession = (protocol: ProtocolName): boolean =>
  protocol === "chat" || protocol === "responses";

const someRound = (protocol: ProtocolName): fc.Arbitrary<Round> =>
  fc.record({
    asked: fc
      .tuple(
        words,
        fc.array(someMedia[protocol], { maxLength: 2 }),
        onlyIn(protocol === "messages", someMarker),
      )
      .map(([text, parts, cache]): Part[] => [defined({ type: "text", text, cache }), ...parts]),
    author: onlyIn(protocol === "chat", someName),
    isRefusal: fc.boolean().map((isRefusal) => isRefusal && hasSession(protocol)),
    thought: maybe(fc.record({ text: words, isSigned: fc.boolean() })),
    said: maybe(words),
    exchanges: fc.array(someExchange, { maxLength: 2 }),
  });

/** The turns of some rounds. Ids contain the place of their round. */
function turnsOf(protocol: ProtocolName, rounds: readonly Round[], last: string): Message[] {
  const turns = rounds.flatMap((round, at) => {
    const { asked, author, thought, said, isRefusal, exchanges } = round;
    const answer: Part[] = [];
    if (thought) answer.push(thoughtOf(protocol, thought, String(at)));
    if (said !== undefined) answer.push({ type: isRefusal ? "refusal" : "text", text: said });
    const results: Part[] = [];
    for (const [index, exchange] of exchanges.entries()) {
      const id = `call_${at}_${index}`;
      if (exchange.missing !== "call") answer.push(callOf(id, exchange));
      if (exchange.missing !== "result") results.push(resultOf(protocol, id, exchange));
    }
    const isAnswered = answer.some(({ type }) => type !== "reasoning");
    const turn: Message[] = [defined({ role: "user", content: asked, name: author })];
    if (isAnswered) turn.push({ role: "assistant", content: answer });
    if (results.length > 0) turn.push({ role: "user", content: results });
    return turn;
  });
  return merged([...turns, { role: "user", content: [{ type: "text", text: last }] }]);
}

/** Merges neighbouring turns of one role, as most protocols require. */
function merged(turns: readonly Message[]): Message[] {
  const result: Message[] = [];
  for (const turn of turns) {
    const before = result.at(-1);
    if (before?.role === turn.role && before.name === turn.name) {
      result[result.length - 1] = { ...before, content: [...before.content, ...turn.content] };
    } else result.push(turn);
  }
  return result;
}

function thoughtOf(
  protocol: ProtocolName,
  { text, isSigned }: { text: string; isSigned: boolean },
  id: string,
): Part {
  // Only chat sends reasoning back without a signature.
  const signed = isSigned || protocol !== "chat" ? { signature: signatureOf(protocol, id) } : {};
  const summary = protocol === "responses" ? { summary: true } : {};
  return { type: "reasoning", text, ...summary, ...signed };
}

const callOf = (id: string, { name, input }: Exchange): Part => ({
  type: "tool_call",
  id,
  name,
  arguments: JSON.stringify(input),
});

function resultOf(
  protocol: ProtocolName,
  callId: string,
  { name, output, picture, isError }: Exchange,
): Part {
  const content: Part[] = [{ type: "text", text: output }];
  const hasErrors = protocol === "messages" || protocol === "generate_content";
  // An error in generateContent is text, never an object.
  const fails = hasErrors && isError && !output.startsWith("{");
  if (picture && protocol !== "chat" && !fails) {
    const data = Buffer.from(callId).toString("base64");
    const source: MediaSource = { kind: "base64", mediaType: "image/png", data };
    const detail = protocol === "responses" ? { detail: "auto" } : {};
    content.push({ type: "media", media: "image", source, ...detail });
  }
  return {
    type: "tool_result",
    callId,
    ...(protocol === "generate_content" ? { name } : {}),
    content,
    ...(fails ? { isError: true } : {}),
  };
}

const someSchema: fc.Arbitrary<JsonObject> = fc
  .record({ member: someName, unique: fc.boolean() })
  .map(({ member, unique }) => ({
    type: "object",
    properties: {
      [member]: {
        type: "array",
        items: { type: "string" },
        ...(unique ? { uniqueItems: true } : {}),
      },
    },
    required: [member],
  }));

const someTools = (protocol: ProtocolName): fc.Arbitrary<Tool[]> =>
  fc
    .uniqueArray(
      fc
        .record({
          name: someName,
          description: maybe(words),
          parameters: someSchema,
          strict: onlyIn(protocol !== "generate_content", fc.constant(true)),
          cache: onlyIn(protocol === "messages", someMarker),
        })
        .map((tool) => defined(tool)),
      { minLength: 1, maxLength: 3, selector: ({ name }) => name },
    )
    // Vendors accept four markers, of which the conversation may have three.
    .map(([first, ...others]) => [
      first!,
      ...others.map((tool) => defined({ ...tool, cache: undefined })),
    ]);

function someChoice(protocol: ProtocolName, tools: readonly Tool[]): fc.Arbitrary<ToolChoice> {
  const names = tools.map(({ name }) => name);
  const plain: ToolChoice[] = [
    { type: "auto" },
    { type: "required" },
    { type: "tool", name: names[0]! },
  ];
  // A messages caller cannot combine "none" with a choice about parallel calls, and has no list of allowed tools.
  if (protocol !== "messages")
    plain.push({ type: "none" }, { type: "allowed", mode: "auto", names });
  // generateContent has one form for a single required tool and for a list of only that tool.
  if (protocol !== "messages" && names.length > 1) {
    plain.push({ type: "allowed", mode: "required", names });
  }
  return fc.constantFrom(...plain);
}

const someFormat = (protocol: ProtocolName): fc.Arbitrary<OutputFormat> => {
  const isNamed = hasSession(protocol);
  const schema: fc.Arbitrary<OutputFormat> = fc
    .record({
      type: fc.constant("json_schema" as const),
      schema: someSchema,
      name: fc.constant(isNamed ? "answer" : undefined),
      description: onlyIn(isNamed, words),
      strict: onlyIn(isNamed, fc.constant(true)),
    })
    .map((format) => defined(format));
  if (protocol === "messages") return schema;
  return fc.oneof(schema, fc.constantFrom<OutputFormat>({ type: "text" }, { type: "json" }));
};

const efforts = fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max");
const budgets = fc.oneof(fc.integer({ min: 1024, max: 7000 }), fc.constant("dynamic" as const));

const someReasoning: Readonly<Record<ProtocolName, fc.Arbitrary<Reasoning>>> = {
  chat: fc.record({ effort: efforts }),
  responses: fc.record({
    effort: efforts,
    summary: maybe(fc.constantFrom("auto", "concise", "detailed")),
    mode: maybe(fc.constant("pro")),
    context: maybe(fc.constant("all_turns")),
  }),
  messages: fc.oneof(
    fc.record({
      budget: budgets,
      includeThoughts: maybe(fc.boolean()),
      effort: maybe(fc.constantFrom("low", "high", "xhigh")),
    }),
    fc.record({ budget: fc.constant(0) }),
  ),
  generate_content: fc.oneof(
    fc.record({ budget: fc.oneof(budgets, fc.constant(0)), includeThoughts: maybe(fc.boolean()) }),
    fc.record({ effort: fc.constantFrom("minimal", "low", "medium", "high") }),
  ),
};

const someStops = (protocol: ProtocolName): fc.Arbitrary<string[]> =>
  fc.uniqueArray(someName, {
    minLength: 1,
    maxLength: { chat: 4, responses: 1, messages: 7, generate_content: 5 }[protocol],
  });

const tenths = (from: number, to: number): fc.Arbitrary<number> =>
  fc.integer({ min: from * 10, max: to * 10 }).map((count) => count / 10);

const systemOf = (system: string | undefined): Message[] =>
  system === undefined ? [] : [{ role: "system", content: [{ type: "text", text: system }] }];

/** A caller who requests JSON also says so in the first text. Other tests cover the text that the gateway adds otherwise. */
function asking(turns: readonly Message[], outputFormat: OutputFormat | undefined): Message[] {
  const [first, ...others] = turns;
  const [text, ...parts] = first?.content ?? [];
  if (outputFormat?.type !== "json" || !first || text?.type !== "text") return [...turns];
  return [{ ...first, content: [{ ...text, text: `JSON: ${text.text}` }, ...parts] }, ...others];
}

/** A random request as a caller of this protocol can make it. */
export function someRequest(protocol: ProtocolName): fc.Arbitrary<CanonicalRequest> {
  const among = (...protocols: ProtocolName[]): boolean => protocols.includes(protocol);
  const hasPenalties = among("chat", "generate_content");
  const isOfSessions = hasSession(protocol);
  return fc
    .record({
      system: maybe(words),
      rounds: fc.array(someRound(protocol), { maxLength: 3 }),
      last: words,
      maxOutputTokens:
        protocol === "messages"
          ? fc.integer({ min: 1, max: 8000 })
          : maybe(fc.integer({ min: 1, max: 8000 })),
      temperature: maybe(tenths(0, protocol === "messages" ? 1 : 2)),
      topP: maybe(tenths(0, 1)),
      topK: onlyIn(among("messages", "generate_content"), fc.integer({ min: 1, max: 40 })),
      stop: onlyIn(!among("responses"), someStops(protocol)),
      seed: onlyIn(hasPenalties, fc.nat(1000)),
      presencePenalty: onlyIn(hasPenalties, tenths(-2, 1)),
      frequencyPenalty: onlyIn(hasPenalties, tenths(-2, 1)),
      tooling: maybe(
        someTools(protocol).chain((tools) =>
          fc.record({
            tools: fc.constant(tools),
            toolChoice: maybe(someChoice(protocol, tools)),
            parallelToolCalls: onlyIn(!among("generate_content"), fc.boolean()),
          }),
        ),
      ),
      outputFormat: maybe(someFormat(protocol)),
      reasoning: maybe(someReasoning[protocol].map((wish) => defined(wish))),
      verbosity: onlyIn(isOfSessions, fc.constantFrom("low", "high")),
      endUserId: onlyIn(!among("generate_content"), fc.string({ minLength: 1, maxLength: 80 })),
      promptCacheKey: onlyIn(isOfSessions, someName),
      metadata: onlyIn(isOfSessions, fc.dictionary(someName, someName, { minKeys: 1, maxKeys: 2 })),
      store: onlyIn(!among("messages"), fc.boolean()),
      // Top-level fields that no other protocol knows.
      native: fc.subarray(["first", "second"]),
    })
    .map(({ system, rounds, last, tooling, native, ...settings }) =>
      defined({
        protocol,
        model: "acme/talk",
        stream: false,
        ...settings,
        ...tooling,
        messages: [
          ...systemOf(system),
          ...asking(turnsOf(protocol, rounds, last), settings.outputFormat),
        ],
        native: native.map((param) => ({ param, value: 1 })),
        names: {},
      }),
    );
}
