/** The rules of vendors for a session that began elsewhere: ids, signatures, and the order of calls and results. */
import type { UpstreamProtocol } from "../../src/protocols/canonical/request.ts";
import { items, text, wire, type Wire } from "../transcripts/readers/meaning.ts";

/** A call or result in a turn. */
interface Piece {
  readonly kind: "call" | "result";
  readonly id: string;
}

/** The calls and results of each turn, in order. */
type Turns = readonly (readonly Piece[])[];

const piece = (kind: Piece["kind"], id: unknown): Piece => ({ kind, id: text(id) });

const ofChat = (body: Wire): Turns =>
  items(body["messages"]).map(({ role, tool_call_id: id, tool_calls: calls }) =>
    role === "tool" ? [piece("result", id)] : items(calls).map((call) => piece("call", call["id"])),
  );

const ofResponses = (body: Wire): Turns =>
  items(body["input"]).map(({ type, call_id: id }) => {
    if (text(type).endsWith("_call_output")) return [piece("result", id)];
    return text(type).endsWith("_call") ? [piece("call", id)] : [];
  });

const ofBlocks = (body: Wire): Turns =>
  items(body["messages"]).map(({ content }) =>
    items(content).flatMap((block) => {
      const use = wire(block["toolUse"] ?? (block["type"] === "tool_use" ? block : undefined));
      const result = wire(block["toolResult"]);
      const id = use["toolUseId"] ?? use["id"];
      if (id !== undefined) return [piece("call", id)];
      const answered = result["toolUseId"] ?? block["tool_use_id"];
      return answered === undefined ? [] : [piece("result", answered)];
    }),
  );

const readers = { chat: ofChat, responses: ofResponses, messages: ofBlocks, converse: ofBlocks };

/** The forms of ids that vendors accept. */
function idForm(to: UpstreamProtocol, model: string): RegExp {
  if (/mistral/.test(model)) return /^[a-zA-Z0-9]{9}$/;
  if (to === "messages") return /^[a-zA-Z0-9_-]+$/;
  if (to === "converse") return /^[a-zA-Z0-9_-]{1,64}$/;
  return model === "gpt-5" && to === "chat" ? /^.{1,40}$/ : /^.{1,64}$/;
}

/** The faults of calls: ids of a wrong form or used twice, calls without results directly after them, and results without calls. */
function faultsOfCalls(to: UpstreamProtocol, model: string, body: Wire): string[] {
  if (to === "generate_content") return faultsOfGemini(body);
  const faults: string[] = [];
  const form = idForm(to, model);
  const seen = new Set<string>();
  let open = new Set<string>();
  for (const turn of readers[to](body)) {
    for (const { kind, id } of turn) {
      if (kind === "result" && !open.delete(id)) faults.push(`a result without call: ${id}`);
      if (kind === "result") continue;
      if (!form.test(id)) faults.push(`the form of ${id}`);
      if (seen.has(id)) faults.push(`${id} twice`);
      seen.add(id);
      open.add(id);
    }
    const answers = turn.some(({ kind }) => kind === "result");
    if (turn.length === 0 || (answers && to !== "chat" && to !== "responses")) {
      if (open.size > 0) faults.push(`calls without results: ${[...open].join(" ")}`);
      open = new Set();
    }
  }
  return faults;
}

/** The first call of a turn is signed, and the next turn has exactly its results. */
function faultsOfGemini(body: Wire): string[] {
  const contents = items(body["contents"]).map(({ parts }) => items(parts));
  return contents.flatMap((parts, index) => {
    const calls = parts.filter((part) => part["functionCall"]);
    if (calls.length === 0) return [];
    const next = contents[index + 1] ?? [];
    const results = next.filter((part) => part["functionResponse"]);
    return [
      ...(calls[0]!["thoughtSignature"] ? [] : ["an unsigned first call"]),
      ...(results.length === calls.length && next.length === calls.length
        ? []
        : ["results that do not fit their calls"]),
    ];
  });
}

/** Signatures in these tests name the protocol and model that gave them, as `sig|protocol|model|`. */
function faultsOfSignatures(to: UpstreamProtocol, model: string, body: Wire): string[] {
  const sent = JSON.stringify(body);
  const foreign = [...sent.matchAll(/sig\|(\w+)\|([^|]+)\|/g)].filter(
    ([, protocol, owner]) => protocol !== to || owner !== model,
  );
  return [
    ...foreign.map(([whole]) => `the signature ${whole}`),
    ...(sent.includes("gw_unsigned") ? ["the gateway's mark"] : []),
    ...(sent.includes('"rs_req_') ? ["reasoning under the gateway's id"] : []),
  ];
}

function faultsOfChat(model: string, body: Wire): string[] {
  const turns = items(body["messages"]);
  const is = (...names: string[]): boolean => names.some((name) => model.startsWith(name));
  return turns.flatMap(({ role, tool_calls: calls, reasoning_content: reasoning }, index) => {
    const before = turns[index - 1]?.["role"];
    const [first] = items(calls);
    const isBare = role === "assistant" && !reasoning;
    const isLate = role === "system" && index > 0 && before !== "system";
    return [
      ...(is("gemini") && first && !first["extra_content"] ? ["an unsigned first call"] : []),
      ...(is("deepseek", "kimi") && isBare ? ["an answer without reasoning"] : []),
      ...(is("mistral") && role === "user" && before === "tool" ? ["a user after results"] : []),
      ...(is("mistral", "qwen") && isLate ? ["a late system turn"] : []),
    ];
  });
}

/** The reasons for which the vendor would refuse this request. */
export const refusals = (to: UpstreamProtocol, model: string, body: Wire): string[] => [
  ...faultsOfCalls(to, model, body),
  ...faultsOfSignatures(to, model, body),
  ...(to === "chat" ? faultsOfChat(model, body) : []),
];
