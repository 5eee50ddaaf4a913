/** Random answers from the SDK types of each protocol, whole and as streams that are cut and mixed like those of vendors. */
import * as fc from "fast-check";
import type { SseEvent } from "../../src/base/sse.ts";
import type { ProtocolName } from "../../src/protocols/index.ts";
import { isWire, items, text, wire, type Wire } from "../transcripts/readers/index.ts";
import { answerCases } from "./answers.ts";
import { aBlock, chatChunk, inOnePiece, writers } from "./streams.ts";
import { itemEvents, response } from "./stream-responses.ts";

export interface RandomStream {
  readonly whole: Wire;
  readonly events: readonly SseEvent[];
}

/** Makes random decisions from given numbers, in order; after the last number it starts again. */
class Dice {
  readonly #numbers: readonly number[];
  #at = 0;
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }
  next(below: number): number {
    this.#at += 1;
    return (this.#numbers[this.#at % this.#numbers.length]! + this.#at * 7) % below;
  }
  of<Item>(list: readonly Item[]): Item {
    return list[this.next(list.length)]!;
  }
  /** Cuts a text into non-empty pieces, never within a character. */
  cut(whole: string): string[] {
    const characters = Array.from(whole);
    const pieces: string[] = [];
    while (characters.length > 0) pieces.push(characters.splice(0, 1 + this.next(7)).join(""));
    return pieces;
  }
  /** Interleaves lanes; the items of each lane keep their order. */
  mix<Item>(lanes: readonly (readonly Item[])[]): Item[] {
    const left = lanes.map((lane) => [...lane]);
    const mixed: Item[] = [];
    for (let open = left; open.length > 0; open = open.filter((lane) => lane.length > 0))
      if (open.every((lane) => lane.length > 0)) mixed.push(this.of(open).shift()!);
    return mixed;
  }
}

const words = [
  "Hi",
  "é ü",
  "日本語",
  "👩‍👩‍👧 ok",
  "a\u2028b",
  "data: [DONE]\n\n",
  '{"a":',
  "\\",
  "x".repeat(60),
  " \n",
];
const members = new Set(["text", "thinking", "refusal", "content", "reasoning_content"]);

/** The value with random words in members that hold free text. */
function reworded(value: unknown, dice: Dice, name = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => reworded(one, dice));
  if (isWire(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, reworded(member, dice, key)]),
    );
  if (typeof value !== "string" || value === "") return value;
  if (members.has(name)) return `${dice.of(words)}${dice.of(words)}`;
  return name === "arguments" ? JSON.stringify({ where: dice.of(words), n: [1, null] }) : value;
}

/** The distinct values that `of` finds in a protocol's answer cases. */
function pool(protocol: ProtocolName, of: (answer: Wire) => unknown): unknown[] {
  const all = answerCases(protocol).flatMap((one) => of(wire(one.with)) ?? []);
  return [...new Map(all.map((value) => [JSON.stringify(value), value])).values()];
}

/** `isDirect`: for a caller of the same protocol, who gets the events unchanged. */
type Build = (dice: Dice, count: number, isDirect: boolean) => { whole: Wire; events: Wire[] };

const pools = new Map<string, unknown[]>();
const from = (key: ProtocolName, name: string, of: (answer: Wire) => unknown): unknown[] => {
  const known = pools.get(`${key} ${name}`) ?? pool(key, of);
  pools.set(`${key} ${name}`, known);
  return known;
};
const pick = (dice: Dice, count: number, list: readonly unknown[]): Wire[] =>
  Array.from({ length: count }, () => wire(reworded(structuredClone(dice.of(list)), dice)));

const builds: Readonly<Record<ProtocolName, Build>> = {
  chat(dice, count) {
    const messages = from("chat", "messages", ({ choices }) =>
      items(choices).map((one) => one["message"]),
    );
    const picked = pick(dice, count, messages);
    const calls = picked
      .flatMap((one) => items(one["tool_calls"]))
      .map((call, at) => ({ ...call, id: `call_${at}` }));
    const {
      tool_calls: _calls,
      function_call: _call,
      ...message
    } = Object.assign({}, ...picked) as Wire;
    const said: Wire = {
      ...message,
      role: "assistant",
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    if (dice.next(2)) said["reasoning_content"] = dice.of(words);
    const { usage, finish } = ending("chat", dice);
    const choice = { index: 0, message: said, finish_reason: finish, logprobs: null };
    const id = "chatcmpl-1";
    const whole = {
      id,
      object: "chat.completion",
      created: 1,
      model: "up",
      choices: [choice],
      usage,
    };
    return { whole, events: chatEvents(said, finish, usage, dice) };
  },
  responses(dice, count, isDirect) {
    const output = pick(
      dice,
      count,
      from("responses", "items", ({ output }) => output),
    ).map((item, at) => ({
      ...item,
      id: `id_${at}`,
      ...("call_id" in item ? { call_id: `call_${at}` } : {}),
      ...("status" in item ? { status: "completed" } : {}),
    }));
    const { usage } = ending("responses", dice);
    const whole = response("completed", output, { usage });
    const lanes = output.map((item, at) => cutDeltas(itemEvents(item, at), dice));
    const steps = groupsOf(lanes).flatMap((group) => sideBySide(group, dice));
    const last = !isDirect && dice.next(4) === 0 ? { ...whole, output: [] } : whole;
    const events = [
      { type: "response.created", response: response("in_progress", []) },
      ...steps,
      { type: "response.completed", response: last },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
    return { whole, events };
  },
  messages(dice, count) {
    const content = pick(
      dice,
      count,
      from("messages", "blocks", ({ content }) => content),
    ).map((block, at) => ("id" in block ? { ...block, id: `toolu_${at}` } : block));
    const { usage, finish } = ending("messages", dice);
    const end = { stop_reason: finish, stop_sequence: null };
    const base = { id: "msg_1", type: "message", role: "assistant", model: "up" };
    const counts = wire(usage);
    const start = {
      ...base,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...counts, output_tokens: 1 },
    };
    const events = [
      { type: "message_start", message: start },
      ...content.flatMap((block, at) => blockEvents(block, at, dice)),
      { type: "message_delta", delta: end, usage: counts },
      { type: "message_stop" },
    ];
    return { whole: { ...base, content, ...end, usage }, events };
  },
  generate_content(dice, count) {
    const parts = apart(pick(dice, count, from("generate_content", "parts", partsIn)));
    const { usage, finish } = ending("generate_content", dice);
    const whole = {
      responseId: "r1",
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: finish }],
      usageMetadata: usage,
    };
    const chunks = parts
      .flatMap((part) => partChunks(part, dice))
      .map((part) => ({
        responseId: "r1",
        candidates: [{ index: 0, content: { role: "model", parts: [part] } }],
      }));
    const last = {
      responseId: "r1",
      candidates: [
        { index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: finish },
      ],
    };
    return { whole, events: [...chunks, { ...last, usageMetadata: usage }] };
  },
};

/** Groups of items that are streamed in sequence. Neighbouring calls form one group, as they may be interleaved. */
function groupsOf(lanes: readonly Wire[][]): Wire[][][] {
  const groups: Wire[][][] = [];
  let wasCall = false;
  for (const lane of lanes) {
    const isCall = /^(?:function|custom_tool)_call$/.test(text(wire(lane[0]!["item"])["type"]));
    if (isCall && wasCall) groups.at(-1)!.push(lane);
    else groups.push([lane]);
    wasCall = isCall;
  }
  return groups;
}

/** Streams lanes in sequence, or begins them in order and interleaves the rest. */
const sideBySide = (lanes: readonly Wire[][], dice: Dice): Wire[] =>
  dice.next(2) === 0
    ? lanes.flat()
    : [...lanes.map(([begun]) => begun!), ...dice.mix(lanes.map(([, ...rest]) => rest))];

/** Parts with content. Arguments in pieces exist only in streams. */
const partsIn = ({ candidates }: Wire): Wire[] =>
  items(wire(items(candidates)[0]?.["content"])["parts"]).filter(
    (part) =>
      says.some((name) => name in part) &&
      !("partialArgs" in wire(part["functionCall"])) &&
      isSomewhere(part),
  );
/** True if the part's media, if any, have data or an address. */
const isSomewhere = ({ inlineData, fileData }: Wire): boolean =>
  (inlineData === undefined || "data" in wire(inlineData)) &&
  (fileData === undefined || "fileUri" in wire(fileData));
const says = ["text", "functionCall", "inlineData", "fileData", "executableCode", "toolCall"];

/** Removes neighbouring texts of one kind, because a stream would join them. */
const apart = (parts: readonly Wire[]): Wire[] =>
  parts
    .filter((part, at) => !(isText(part) && isText(parts[at - 1])))
    .map((part, at) =>
      "functionCall" in part
        ? { ...part, functionCall: { ...wire(part["functionCall"]), id: `c${at}` } }
        : part,
    );
const isText = (part: Wire | undefined): boolean => typeof part?.["text"] === "string";

function partChunks(part: Wire, dice: Dice): Wire[] {
  if (!isText(part)) return [part];
  const { thoughtSignature, ...told } = part;
  const pieces = dice.cut(text(part["text"])).map((piece) => ({ ...told, text: piece }));
  return thoughtSignature === undefined
    ? pieces
    : [...pieces, { ...told, text: "", thoughtSignature }];
}

const reasons: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: ["stop", "length", "content_filter"],
  responses: ["completed"],
  messages: ["end_turn", "max_tokens", "refusal"],
  generate_content: ["STOP", "MAX_TOKENS", "SAFETY"],
};

/** A random finish reason and usage. */
function ending(protocol: ProtocolName, dice: Dice): { finish: string; usage: unknown } {
  const name = protocol === "generate_content" ? "usageMetadata" : "usage";
  const usages = from(protocol, name, (answer) => answer[name]).filter((one) =>
    isCounted(protocol, wire(one)),
  );
  return { finish: dice.of(reasons[protocol]), usage: structuredClone(dice.of(usages)) };
}

const isCounted = (protocol: ProtocolName, usage: Wire): boolean =>
  protocol !== "generate_content" || "promptTokenCount" in usage;

function chatEvents(said: Wire, finish: string, usage: unknown, dice: Dice): Wire[] {
  const { role, content, refusal, reasoning_content: thought, tool_calls: calls, ...others } = said;
  const each = (name: string, whole: unknown): Wire[] =>
    dice.cut(text(whole)).map((piece) => ({ [name]: piece }));
  const lanes = items(calls).map((call, index) => callDeltas(call, index, dice));
  const deltas: Wire[] = [
    { role, content: "" },
    ...each("reasoning_content", thought),
    ...each("content", content),
    ...Object.entries(others).map(([name, value]) => ({ [name]: value })),
    ...each("refusal", refusal),
    ...sideBySide(lanes, dice),
  ];
  return [
    ...deltas.map((delta) => chatChunk({ delta })),
    chatChunk({ finish_reason: finish }),
    chatChunk(undefined, { usage }),
  ];
}

function callDeltas(call: Wire, index: number, dice: Dice): Wire[] {
  const kind = call["type"] === "custom" ? "custom" : "function";
  const member = kind === "custom" ? "input" : "arguments";
  const { [member]: whole, ...named } = wire(call[kind]);
  const pieces = dice.cut(text(whole)).map((piece) => ({ index, [kind]: { [member]: piece } }));
  return [{ index, ...call, [kind]: { ...named, [member]: "" } }, ...pieces].map((one) => ({
    tool_calls: [one],
  }));
}

const cutDeltas = (events: readonly Wire[], dice: Dice): Wire[] =>
  events.flatMap((event) =>
    text(event["type"]).endsWith(".delta")
      ? dice.cut(text(event["delta"])).map((delta) => ({ ...event, delta }))
      : [event],
  );

function blockEvents(block: Wire, at: number, dice: Dice): Wire[] {
  const kind = text(block["type"]);
  const empty: Wire = { ...block };
  const deltas: Wire[] = [];
  if (kind === "text") {
    Object.assign(empty, { text: "", citations: null });
    deltas.push(
      ...items(block["citations"]).map((citation) => ({ type: "citations_delta", citation })),
    );
    deltas.push(
      ...dice.cut(text(block["text"])).map((piece) => ({ type: "text_delta", text: piece })),
    );
  } else if (kind === "thinking") {
    Object.assign(empty, { thinking: "", signature: "" });
    deltas.push(
      ...dice
        .cut(text(block["thinking"]))
        .map((thinking) => ({ type: "thinking_delta", thinking })),
    );
    deltas.push({ type: "signature_delta", signature: block["signature"] });
  } else if (isWire(block["input"])) {
    empty["input"] = {};
    const json = JSON.stringify(block["input"]);
    deltas.push(
      ...dice.cut(json).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    );
  }
  return aBlock(at, empty, ...deltas);
}

/** A random answer, sometimes streamed in one piece. */
export const someStream = (protocol: ProtocolName, isDirect: boolean): fc.Arbitrary<RandomStream> =>
  fc
    .tuple(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(10_000), { minLength: 20, maxLength: 20 }),
    )
    .map(([count, numbers]) => {
      const dice = new Dice(numbers);
      const { whole, events } = builds[protocol](dice, count, isDirect);
      const told = dice.next(8) === 0 ? inOnePiece[protocol](whole) : events;
      return { whole, events: told.map(writers[protocol]) };
    });
