/**
 * The parts of a body that a vendor of each protocol would refuse, by its model's record alone. Written separately from the
 * code that fits requests.
 */
import { isObject, type WireObject } from "../../src/base/json.ts";
import type { ModelRecord } from "../../src/catalog/index.ts";
import type { UpstreamProtocol } from "../../src/protocols/index.ts";

const at = (body: WireObject, path: string): unknown => {
  let value: unknown = body;
  for (const step of path.split(".")) value = isObject(value) ? value[step] : undefined;
  return value;
};

/** The path of a parameter in each protocol that has it, in camelCase, as the gateway sends it. */
const pathsOf: Readonly<Record<string, Partial<Record<UpstreamProtocol, readonly string[]>>>> = {
  temperature: {
    chat: ["temperature"],
    responses: ["temperature"],
    messages: ["temperature"],
    generate_content: ["generationConfig.temperature"],
    converse: ["inferenceConfig.temperature"],
  },
  top_p: {
    chat: ["top_p"],
    responses: ["top_p"],
    messages: ["top_p"],
    generate_content: ["generationConfig.topP"],
    converse: ["inferenceConfig.topP"],
  },
  top_k: { chat: ["top_k"], messages: ["top_k"], generate_content: ["generationConfig.topK"] },
  stop: {
    chat: ["stop"],
    messages: ["stop_sequences"],
    generate_content: ["generationConfig.stopSequences"],
    converse: ["inferenceConfig.stopSequences"],
  },
  presence_penalty: {
    chat: ["presence_penalty"],
    responses: ["presence_penalty"],
    generate_content: ["generationConfig.presencePenalty"],
  },
  frequency_penalty: {
    chat: ["frequency_penalty"],
    responses: ["frequency_penalty"],
    generate_content: ["generationConfig.frequencyPenalty"],
  },
  logprobs: { chat: ["logprobs"], generate_content: ["generationConfig.responseLogprobs"] },
  top_logprobs: {
    chat: ["top_logprobs"],
    responses: ["top_logprobs"],
    generate_content: ["generationConfig.logprobs"],
  },
  logit_bias: { chat: ["logit_bias"] },
};

function sentParameters(protocol: UpstreamProtocol, body: WireObject, names: readonly string[]) {
  return names.flatMap((name) =>
    (pathsOf[name]?.[protocol] ?? []).filter((path) => at(body, path) !== undefined),
  );
}

interface Sent {
  readonly effort: unknown;
  readonly budget: unknown;
  readonly thinking: unknown;
  readonly off: boolean;
}

/** The reasoning setting of a body. */
function reasoningIn(protocol: UpstreamProtocol, body: WireObject): Sent {
  switch (protocol) {
    case "chat":
    case "responses": {
      const effort = at(body, protocol === "chat" ? "reasoning_effort" : "reasoning.effort");
      return { effort, budget: undefined, thinking: undefined, off: effort === "none" };
    }
    case "messages": {
      const thinking = at(body, "thinking.type");
      return {
        effort: at(body, "output_config.effort"),
        budget: at(body, "thinking.budget_tokens"),
        thinking,
        off: thinking === "disabled" || thinking === "between_tools",
      };
    }
    case "generate_content": {
      const level = at(body, "generationConfig.thinkingConfig.thinkingLevel");
      const budget = at(body, "generationConfig.thinkingConfig.thinkingBudget");
      const effort = typeof level === "string" ? level.toLowerCase() : undefined;
      return { effort, budget, thinking: undefined, off: budget === 0 };
    }
    case "converse": {
      const fields = isObject(body["additionalModelRequestFields"])
        ? body["additionalModelRequestFields"]
        : {};
      if (fields["reasoningConfig"] === undefined && fields["reasoning_effort"] === undefined)
        return reasoningIn("messages", fields);
      const effort = at(fields, "reasoningConfig.maxReasoningEffort") ?? fields["reasoning_effort"];
      const off = at(fields, "reasoningConfig.type") === "disabled";
      return { effort, budget: undefined, thinking: undefined, off };
    }
  }
}

function reasoningFaults(
  protocol: UpstreamProtocol,
  body: WireObject,
  record: ModelRecord,
): string[] {
  const { reasoning: can } = record;
  if (!can) return [];
  const sent = reasoningIn(protocol, body);
  if (can.kind === "none") {
    return (sent.effort ?? sent.budget ?? sent.thinking) ? ["reasoning of a model without"] : [];
  }
  return sent.off ? offFaults(sent, can) : amountFaults({ protocol, body, sent, can });
}

type ReasoningRecord = Exclude<NonNullable<ModelRecord["reasoning"]>, { kind: "none" }>;

function offFaults({ thinking }: Sent, can: ReasoningRecord): string[] {
  const faults = can.off ? [] : ["reasoning switched off"];
  if (thinking === "disabled" && can.offAs) faults.push("the wrong word for off");
  if (thinking === "between_tools" && !can.offAs) faults.push("a word for off it does not know");
  return faults;
}

interface Amount {
  readonly protocol: UpstreamProtocol;
  readonly body: WireObject;
  readonly sent: Sent;
  readonly can: ReasoningRecord;
}

function amountFaults({ protocol, body, sent, can }: Amount): string[] {
  const { effort, budget, thinking } = sent;
  const faults: string[] = [];
  const words: readonly unknown[] = "values" in can ? (can.values ?? []) : [];
  if (effort !== undefined && !words.includes(effort))
    faults.push(`effort ${JSON.stringify(effort)}`);
  if (budget !== undefined && !isInRange(protocol, budget, can))
    faults.push(`budget ${JSON.stringify(budget)}`);
  const kinds: Readonly<Record<string, unknown>> = { adaptive: "enabled", budget: "adaptive" };
  // Claude 4.6 takes both kinds. No other model with budgets has the effort `max`.
  const takesBoth = can.kind === "budget" && words.includes("max");
  if (thinking !== undefined && thinking === kinds[can.kind] && !takesBoth)
    faults.push("another's thinking");
  const beside = (effort ?? budget) === undefined ? [] : (can.excludes ?? []);
  return [...faults, ...sentParameters(protocol, body, beside).map((path) => `${path} beside`)];
}

function isInRange(protocol: UpstreamProtocol, budget: unknown, can: ReasoningRecord): boolean {
  if (can.kind !== "budget") return false;
  if (budget === -1) return protocol === "generate_content";
  return typeof budget === "number" && budget >= can.min && budget <= (can.max ?? Infinity);
}

function choiceIn(protocol: UpstreamProtocol, body: WireObject): string {
  const choice = body["tool_choice"];
  const type = isObject(choice) ? choice["type"] : choice;
  const mode = at(body, "toolConfig.functionCallingConfig.mode");
  const choices = at(body, "toolConfig.toolChoice");
  if (isObject(choices))
    return "any" in choices ? "required" : "tool" in choices ? "named" : "auto";
  if (protocol === "generate_content") return mode === "ANY" ? "required" : "auto";
  if (type === "any" || type === "required") return "required";
  return type === "tool" || type === "function" ? "named" : "auto";
}

const turnsOf: Readonly<Record<UpstreamProtocol, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  generate_content: "contents",
  converse: "messages",
};

/** All parts of a body that a model with this record does not accept. */
export function faultsOf(
  protocol: UpstreamProtocol,
  body: WireObject,
  record: ModelRecord,
): string[] {
  const absent = Object.entries(record.parameters ?? {}).flatMap(([name, can]) =>
    can === false ? [name] : [],
  );
  const faults = sentParameters(protocol, body, absent);
  faults.push(...reasoningFaults(protocol, body, record));
  const choice = choiceIn(protocol, body);
  const { modes } = record.toolChoice ?? {};
  if (choice !== "auto" && modes && !modes.some((mode) => mode === choice))
    faults.push(`tool choice ${choice}`);
  const turns = body[turnsOf[protocol]];
  const last: unknown = Array.isArray(turns) ? turns.at(-1) : undefined;
  if (record.prefill === false && isObject(last) && last["role"] === "assistant")
    faults.push("prefill");
  return faults;
}
