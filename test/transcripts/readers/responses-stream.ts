// Reads a responses stream and checks its grammar. Events are numbered; items and parts have paired begin and done events. Pieces
// add up to the done text. One terminal event has the whole object, then comes [DONE].
import {
  isWire,
  items,
  parsed,
  text,
  wire,
  type AnswerMeaning,
  type Frame,
  type StreamMeaning,
  type Wire,
} from "./meaning.ts";

interface Item {
  readonly id: unknown;
  readonly type: unknown;
  /** Text by part, such as `output_text 0`. */
  readonly pieces: Map<string, string>;
  readonly openParts: Set<string>;
  /** Annotations by part. */
  readonly annotations: Map<number, unknown[]>;
  done: Wire | undefined;
}

interface Gathered {
  readonly faults: string[];
  readonly items: Item[];
  count: number;
  responseId: unknown;
  terminal: Wire | undefined;
  /** The error of an `error` event, which some upstreams send instead of a failed response. */
  error: string | undefined;
  isDone: boolean;
}

export function readResponsesStream(
  frames: readonly Frame[],
  readObject: (body: Wire) => AnswerMeaning,
): StreamMeaning {
  const state: Gathered = {
    faults: [],
    items: [],
    count: 0,
    responseId: undefined,
    terminal: undefined,
    error: undefined,
    isDone: false,
  };
  for (const frame of frames) takeFrame(state, frame);
  const { faults, terminal, error } = state;
  // OpenAI ends without [DONE], Open Responses with it: both are legal.
  if (!terminal) {
    faults.push("no terminal event");
    return { says: [], ...(error === undefined ? {} : { error }), faults };
  }
  const output = items(terminal["output"]);
  const isFailed = terminal["status"] === "failed";
  for (const [index, item] of state.items.entries())
    faults.push(...(isFailed ? faultsOfFailed : faultsOfDone)(item, wire(output[index]), index));
  if (output.length !== state.items.length) faults.push("the terminal event has other items");
  return { ...readObject(terminal), faults };
}

function faultsOfDone({ done }: Item, finalItem: Wire, index: number): string[] {
  if (!done) return [`item ${index} is never done`];
  return JSON.stringify(done) === JSON.stringify(finalItem)
    ? []
    : [`item ${index} of the terminal event is not the item that was done`];
}

/** Faults of an item after a failure. A cut item must not be done, because clients run done calls and keep done texts. */
function faultsOfFailed(item: Item, finalItem: Wire, index: number): string[] {
  const isCut = "status" in finalItem && finalItem["status"] !== "completed";
  if (item.done && isCut) return [`item ${index} is done, and a failure cut it`];
  if (!item.done && !isCut && "status" in finalItem)
    return [`item ${index} is whole, and never done`];
  return item.done ? faultsOfDone(item, finalItem, index) : [];
}

const snapshots = ["response.created", "response.queued", "response.in_progress"];
const terminals = ["response.completed", "response.incomplete", "response.failed"];

function takeFrame(state: Gathered, frame: Frame): void {
  const { faults } = state;
  const at = `event ${state.count} (${frame.event ?? "without a name"})`;
  if (state.isDone) faults.push(`${at} after [DONE]`);
  if (frame.data === "[DONE]") {
    state.isDone = true;
    return;
  }
  const data = parsed(frame.data);
  if (!isWire(data)) {
    faults.push(`${at} is not a JSON object`);
    return;
  }
  const type = text(data["type"]);
  if (frame.event !== type) faults.push(`${at} says it is ${type}`);
  if (data["sequence_number"] !== state.count)
    faults.push(`${at} is number ${String(data["sequence_number"])}`);
  if (state.terminal) faults.push(`${at} after the terminal event`);
  if (state.count === 0 && type !== "response.created") faults.push(`${at} comes first`);
  state.count += 1;
  if (type === "error") state.error = text(data["message"] ?? wire(data["error"])["message"]);
  else if (snapshots.includes(type)) takeSnapshot(state, wire(data["response"]), at);
  else if (terminals.includes(type)) takeTerminal(state, type, wire(data["response"]), at);
  else if (type === "response.output_item.added") itemAdded(state, data, at);
  else takeItemEvent(state, type, data, at);
}

function takeSnapshot(state: Gathered, response: Wire, at: string): void {
  if (response["status"] !== "in_progress")
    state.faults.push(`${at} has status ${String(response["status"])}`);
  if (state.count > 1 && response["id"] !== state.responseId)
    state.faults.push(`${at} changes the id`);
  state.responseId = response["id"];
}

function takeTerminal(state: Gathered, type: string, response: Wire, at: string): void {
  if (`response.${String(response["status"])}` !== type)
    state.faults.push(`${at} has status ${String(response["status"])}`);
  if (response["id"] !== state.responseId) state.faults.push(`${at} changes the id`);
  state.terminal = response;
}

function itemAdded(state: Gathered, data: Wire, at: string): void {
  const { faults } = state;
  const item = wire(data["item"]);
  if (data["output_index"] !== state.items.length)
    faults.push(`${at} is item ${String(data["output_index"])}`);
  if (items(item["content"]).length > 0 || text(item["arguments"]) !== "")
    faults.push(`${at} is not empty`);
  if ("status" in item && item["status"] !== "in_progress")
    faults.push(`${at} has status ${String(item["status"])}`);
  state.items.push({
    id: item["id"],
    type: item["type"],
    pieces: new Map(),
    openParts: new Set(),
    annotations: new Map(),
    done: undefined,
  });
}

/** The kind of item that an event belongs to, and the member that its done event has in full. */
const pieces: Readonly<Record<string, readonly [kind: string, member: string]>> = {
  "response.output_text": ["message", "text"],
  "response.refusal": ["message", "refusal"],
  "response.function_call_arguments": ["function_call", "arguments"],
  "response.custom_tool_call_input": ["custom_tool_call", "input"],
  "response.reasoning_summary_text": ["reasoning", "text"],
  "response.reasoning_text": ["reasoning", "text"],
};
const partEvents: Readonly<Record<string, string>> = {
  "response.content_part": "message",
  "response.reasoning_summary_part": "reasoning",
};

function takeItemEvent(state: Gathered, type: string, data: Wire, at: string): void {
  const { faults } = state;
  const item = state.items[Number(data["output_index"])];
  if (!item) {
    faults.push(`${at} is of no item that began`);
    return;
  }
  if (item.done) faults.push(`${at} is of an item that is done`);
  if (type === "response.output_item.done") {
    itemDone(item, wire(data["item"]), faults, at);
    return;
  }
  if (data["item_id"] !== item.id)
    faults.push(`${at} names another item than the one at its index`);
  const cut = type.lastIndexOf(".");
  const [stem, step] = [type.slice(0, cut), type.slice(cut + 1)];
  const number = data["content_index"] ?? data["summary_index"];
  const part = typeof number === "number" ? `${number}` : "";
  const partKind = partEvents[stem];
  if (partKind !== undefined) takePart(item, { partKind, step, part }, faults, at);
  else if (stem === "response.output_text.annotation") takeAnnotation(item, data, faults, at);
  else if (pieces[stem]) takePiece(item, { stem, step, part, data }, faults, at);
  else faults.push(`${at} is unknown`);
}

function takePart(
  item: Item,
  { partKind, step, part }: { partKind: string; step: string; part: string },
  faults: string[],
  at: string,
): void {
  if (item.type !== partKind) faults.push(`${at} on an item of type ${String(item.type)}`);
  if (step === "added" && item.openParts.has(part)) faults.push(`${at}: part ${part} began twice`);
  if (step === "done" && !item.openParts.delete(part))
    faults.push(`${at}: part ${part} never began`);
  if (step === "added") item.openParts.add(part);
}

function takePiece(
  item: Item,
  piece: { stem: string; step: string; part: string; data: Wire },
  faults: string[],
  at: string,
): void {
  const { stem, step, part, data } = piece;
  const [kind, member] = pieces[stem]!;
  const name = `${member} ${part}`;
  if (item.type !== kind) faults.push(`${at} on an item of type ${String(item.type)}`);
  if (!kind.endsWith("_call") && !item.openParts.has(part))
    faults.push(`${at}: part ${part} is not open`);
  if (step === "delta") item.pieces.set(name, (item.pieces.get(name) ?? "") + text(data["delta"]));
  else if (text(data[member]) !== (item.pieces.get(name) ?? "")) {
    faults.push(`${at} is not the sum of its pieces`);
  }
}

/** Takes an annotation. They are numbered, usually come before the text's end, and must be in the done item. */
function takeAnnotation(item: Item, data: Wire, faults: string[], at: string): void {
  const part = Number(data["content_index"]);
  const before = item.annotations.get(part) ?? [];
  if (data["annotation_index"] !== before.length) faults.push(`${at} is not the next one`);
  item.annotations.set(part, [...before, data["annotation"]]);
}

/** Takes a done item, which must equal the sum of its pieces. */
function itemDone(item: Item, done: Wire, faults: string[], at: string): void {
  item.done = done;
  if (item.openParts.size > 0) faults.push(`${at} has parts that are open`);
  if (done["id"] !== item.id) faults.push(`${at} changes the item's id`);
  const wholeTexts = [...items(done["content"]), ...items(done["summary"])].map((part) =>
    text(part["text"] ?? part["refusal"]),
  );
  wholeTexts.push(text(done["arguments"] ?? done["input"]));
  const sum = [...item.pieces.values()].join("");
  if (wholeTexts.join("") !== sum) faults.push(`${at} is not the sum of its pieces`);
  for (const [part, cited] of item.annotations)
    if (JSON.stringify(items(done["content"])[part]?.["annotations"]) !== JSON.stringify(cited))
      faults.push(`${at} cites other pages`);
}
