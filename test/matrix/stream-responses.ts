/** Streams of the responses protocol around one event or one item, as the vendor sends them. */
import { items, text, wire, type Wire } from "../transcripts/readers/index.ts";

/** A response object. */
export const response = (status: string, output: readonly Wire[], more: Wire = {}): Wire => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "up",
  status,
  error: null,
  incomplete_details: null,
  output,
  usage:
    status === "in_progress" ? null : { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
  ...more,
});

const textPart = (more: Wire = {}): Wire => ({
  type: "output_text",
  text: "Ho",
  annotations: [],
  ...more,
});
const message = (content: readonly Wire[], id = "msg_2"): Wire => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content,
});
export const thought = (more: Wire): Wire => ({
  type: "reasoning",
  id: "rs_2",
  summary: [],
  ...more,
});

/** The vendor's own tool steps, which have progress events. */
const hosted: readonly Wire[] = [
  { type: "code_interpreter_call", id: "ci_2", code: "1", container_id: "c", outputs: null },
  { type: "file_search_call", id: "fs_2", queries: ["a"], results: null },
  { type: "web_search_call", id: "ws_2", action: { type: "search", query: "a" } },
  { type: "image_generation_call", id: "ig_2", result: "iVBORw0KGgo=" },
  { type: "mcp_call", id: "mcp_2", name: "look", server_label: "s", arguments: "{}" },
  { type: "mcp_list_tools", id: "mcpl_2", server_label: "s", tools: [] },
  { type: "compaction", id: "cmp_2", encrypted_content: "word" },
  { type: "shell_call", id: "sh_2", call_id: "call_2", action: { commands: ["word"] } },
  { type: "shell_call_output", id: "sho_2", call_id: "call_2", output: [] },
].map((item) => ({ ...item, status: "completed" }));

/** The item that an event belongs to, by the kind of event. */
const itemBy: Readonly<Record<string, (event: Wire, said: string) => Wire>> = {
  output_item: ({ item }) => wire(item),
  output_text: ({ annotation, logprobs }, said) =>
    message([
      annotation === undefined
        ? textPart({ text: said, ...(logprobs === undefined ? {} : { logprobs }) })
        : textPart({ annotations: [annotation] }),
    ]),
  refusal: (_event, said) => message([{ type: "refusal", refusal: said }]),
  content_part: ({ part }) =>
    wire(part)["type"] === "reasoning_text" ? thought({ content: [part] }) : message([wire(part)]),
  reasoning_text: (_event, said) => thought({ content: [{ type: "reasoning_text", text: said }] }),
  reasoning_summary_text: (_event, said) =>
    thought({ summary: [{ type: "summary_text", text: said }] }),
  reasoning_summary_part: ({ part }) => thought({ summary: [part] }),
  function_call_arguments: (_event, said) => ({
    ...aCall,
    type: "function_call",
    id: "fc_2",
    arguments: said,
  }),
  custom_tool_call_input: (_event, said) => ({
    ...aCall,
    type: "custom_tool_call",
    id: "ctc_2",
    input: said,
  }),
  shell_call_command: () => stepOf("shell_call"),
  shell_call_output_content: () => stepOf("shell_call_output"),
};
const aCall = { call_id: "call_2", name: "look", status: "completed" };
const stepOf = (type: string): Wire => hosted.find((item) => item["type"] === type)!;

function itemOf(event: Wire): Wire | undefined {
  const [, kind = ""] = /^response\.(\w+)\./.exec(text(event["type"])) ?? [];
  const { delta, text: whole, arguments: json, input, refusal } = event;
  const said = text(delta ?? whole ?? json ?? input ?? refusal);
  return itemBy[kind]?.(event, said) ?? hosted.find(({ type }) => kind.startsWith(text(type)));
}

/** All events of an item, as the vendor sends them. */
export function itemEvents(item: Wire, output_index: number): Wire[] {
  const at = { item_id: item["id"], output_index };
  const steps: Wire[] = [];
  const empty: Wire = { ...item };
  if ("status" in item) empty["status"] = "in_progress";
  if (Array.isArray(item["content"])) empty["content"] = [];
  if (Array.isArray(item["summary"])) empty["summary"] = [];
  for (const member of ["arguments", "input"]) {
    if (typeof item[member] !== "string") continue;
    empty[member] = "";
    const stem = `response.${member === "input" ? "custom_tool_call_input" : "function_call_arguments"}`;
    if (item["type"] !== "function_call" && item["type"] !== "custom_tool_call") continue;
    steps.push({ type: `${stem}.delta`, ...at, delta: item[member] });
    steps.push({ type: `${stem}.done`, ...at, [member]: item[member] });
  }
  if (item["type"] === "message" || item["type"] === "reasoning") {
    for (const [summary_index, part] of items(item["summary"]).entries())
      steps.push(...summaryEvents(part, { ...at, summary_index }));
    for (const [content_index, part] of items(item["content"]).entries())
      steps.push(...partEvents(part, { ...at, content_index }));
  }
  return [
    { type: "response.output_item.added", output_index, item: empty },
    ...steps,
    { type: "response.output_item.done", output_index, item },
  ];
}

function partEvents(part: Wire, at: Wire): Wire[] {
  const kind = text(part["type"]);
  const member = kind === "refusal" ? "refusal" : "text";
  const logprobs = kind === "output_text" ? { logprobs: part["logprobs"] ?? [] } : {};
  const empty = { ...part, [member]: "", ...(kind === "output_text" ? { annotations: [] } : {}) };
  return [
    { type: "response.content_part.added", ...at, part: empty },
    { type: `response.${kind}.delta`, ...at, delta: part[member], ...logprobs },
    ...items(part["annotations"]).map((annotation, annotation_index) => ({
      type: "response.output_text.annotation.added",
      ...at,
      annotation_index,
      annotation,
    })),
    { type: `response.${kind}.done`, ...at, [member]: part[member], ...logprobs },
    { type: "response.content_part.done", ...at, part },
  ];
}

const summaryEvents = (part: Wire, at: Wire): Wire[] => [
  { type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } },
  { type: "response.reasoning_summary_text.delta", ...at, delta: part["text"] },
  { type: "response.reasoning_summary_text.done", ...at, text: part["text"] },
  { type: "response.reasoning_summary_part.done", ...at, part },
];

const terminals = new Set(["response.completed", "response.incomplete", "response.failed"]);

const snapshots = new Set(["response.created", "response.queued", "response.in_progress"]);

/** A stream of the responses protocol with an event at its usual place. */
export function aroundResponses(event: Wire): Wire[] {
  const type = text(event["type"]);
  const first = message([textPart({ text: "Hi" })], "msg_1");
  const begun = { type: "response.created", response: response("in_progress", []) };
  const last = (output: readonly Wire[]): Wire => ({
    type: "response.completed",
    response: response("completed", output),
  });
  const middle = (): Wire[] => {
    if (terminals.has(type)) {
      const said = wire(event["response"]);
      const output = items(said["output"]);
      const whole = { ...response(type.slice("response.".length), []), ...said };
      return [...output.flatMap(itemEvents), { ...event, response: whole }];
    }
    if (snapshots.has(type)) {
      const said = {
        ...event,
        response: { ...response("in_progress", []), ...wire(event["response"]) },
      };
      return [...(type === begun.type ? [] : [said]), ...itemEvents(first, 0), last([first])];
    }
    const item = itemOf(event);
    const others = itemEvents(first, 0);
    if (!item) return [...others, event, last([first])];
    const own = itemEvents(item, 1);
    const isItem = type.startsWith("response.output_item.");
    const at = own.findIndex((one) => one["type"] === type);
    if (at === -1) own.splice(-1, 0, { ...event, item_id: item["id"], output_index: 1 });
    else if (!isItem) own[at] = { ...own[at], ...event, ...placeIn(own[at]!) };
    const events = own;
    return [...others, ...events, last([first, item])];
  };
  const events = type === "error" ? [...itemEvents(first, 0), event] : middle();
  return [begun, ...events].map((one, sequence_number) => ({ ...one, sequence_number }));
}

/** The indexes and the item id of an event. */
const placeIn = (event: Wire): Wire =>
  Object.fromEntries(
    Object.entries(event).filter(([name]) => name.endsWith("_index") || name === "item_id"),
  );
