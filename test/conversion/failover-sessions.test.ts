/**
 * Sessions whose answers come from two vendors in turn, as after a failover and back. Each vendor gets only what it accepts: no proof of the
 * other one, and ids of its own form. Its earlier requests stay the beginning of the next, for its prompt cache. CONV-217, CONV-219; traps T20, T21, T38, T39, T43.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Part, Signature, UpstreamProtocol } from "../../src/protocols/canonical/request.ts";
import { protocolNames, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { agentClients } from "./agent-clients.ts";
import { routeOf } from "./route.ts";
import { copyOf, divided, kept, toolsIn } from "./session.ts";
import { refusals } from "./vendor-rules-of.ts";

/** A vendor: the protocol and a model, and the form of its call ids. */
interface Vendor {
  readonly to: UpstreamProtocol;
  readonly model: string;
  readonly idOf: (number: string) => string;
}

const vendor = (to: UpstreamProtocol, model: string, idOf: Vendor["idOf"]): Vendor => ({
  to,
  model,
  idOf,
});
const vendors = [
  vendor("chat", "gpt-5", (number) => `call_${number}ABCDEFGHIJKLMNOPQRSTUV`),
  vendor("chat", "mistral-large", (number) => `abcdef${number}`.slice(-9).padEnd(9, "0")),
  vendor("chat", "deepseek-v4", (number) => `call_00_${number}`),
  vendor("chat", "qwen3-max", (number) => `chatcmpl-tool-${"f".repeat(30)}${number}`),
  vendor("chat", "kimi-k3", (number) => `functions.look:${number}`),
  vendor("chat", "gemini-3-pro", (number) => `g${number}`),
  vendor("responses", "gpt-5", (number) => `call_${number}ABCDEFGHIJKLMNOPQRSTUV`),
  vendor("messages", "claude-sonnet-4-5", (number) => `toolu_01${number}`),
  vendor("generate_content", "gemini-3-pro", (number) => `g${number}`),
  vendor("converse", "anthropic.claude-sonnet-4-5", (number) => `tooluse_${number}`),
  vendor("converse", "mistral.mistral-large-3", (number) => `abcdef${number}`.slice(-9)),
];

interface Step {
  readonly thinks: boolean;
  readonly says: boolean;
  readonly calls: number;
  readonly picture: boolean;
  /** True if the second vendor answers. */
  readonly isSecond: boolean;
}
const someStep: fc.Arbitrary<Step> = fc.record({
  thinks: fc.boolean(),
  says: fc.boolean(),
  calls: fc.nat(2),
  picture: fc.boolean(),
  isSecond: fc.boolean(),
});
const someSession = fc.record({
  second: fc.constantFrom(...vendors),
  steps: fc.array(someStep, { minLength: 5, maxLength: 7 }),
  isStream: fc.boolean(),
});

function signatureOf({ to, model }: Vendor, id: string): Signature | undefined {
  // In chat each vendor has its own members, and callers send all of them to all: other tests show that.
  if (to === "converse" || to === "chat") return undefined;
  return { protocol: to, value: `sig|${to}|${model}|${id}` };
}

function contentOf(step: Step, by: Vendor, index: number, sent: JsonObject): Part[] {
  const signature = signatureOf(by, String(index));
  const signed = signature ? { signature } : {};
  const content: Part[] = [];
  if (step.thinks) content.push({ type: "reasoning", text: "Hm.", ...signed });
  if (step.says || step.calls === 0) content.push({ type: "text", text: "I look." });
  const tools = toolsIn(sent);
  for (let place = 0; place < step.calls; place += 1) {
    const tool = tools[place % tools.length]!;
    const input = tool.custom ? "*** Begin Patch" : '{"input":"a"}';
    const isSigned = by.to === "generate_content" && place === 0;
    content.push({
      type: "tool_call",
      id: by.idOf(`${index}${place}`),
      ...tool,
      arguments: input,
      ...(isSigned ? signed : {}),
    });
  }
  return content;
}

interface Request extends Vendor {
  readonly sent: JsonObject;
}

/** The requests that both vendors get in a session. */
function requestsOf(
  from: ProtocolName,
  first: Vendor,
  { second, steps, isStream }: { second: Vendor; steps: readonly Step[]; isStream: boolean },
): Request[] {
  const client = agentClients[from];
  const turns = client.asks({ text: "Where is it?", picture: true });
  return steps.map((step, index) => {
    const by = step.isSecond ? second : first;
    const { to, model } = by;
    const id = `a${index}`;
    const checksHistory = model === "gpt-5" ? (true as const) : undefined;
    const how = { upstreamModel: model, stream: isStream, id: `req_${id}`, checksHistory };
    const body = copyOf({ model: "acme/x", ...client.body(turns) });
    const route = routeOf(from, to, body, how);
    const sent = copyOf(route.body);
    const answer = kept({ from, to, isStream, route, id }, contentOf(step, by, index, sent));
    turns.push(...answer);
    const calls = client.callsIn(answer);
    const { picture } = step;
    if (calls.length > 0) turns.push(...client.results(calls, { text: "There.", picture }));
    else turns.push(...client.asks({ text: "And now?", picture }));
    return { ...by, sent };
  });
}

describe("a session that two vendors answer in turn", () => {
  const cases = protocolNames.flatMap((from) =>
    vendors.map((first) => [from, first.to, first.model, first] as const),
  );

  it.each(cases)(
    "T43: a %s caller's keeps the rules of %s %s and of the other",
    (from, _to, _model, first) => {
      fc.assert(
        fc.property(someSession, (session) => {
          const last = new Map<string, readonly string[]>();
          for (const { to, model, sent } of requestsOf(from, first, session)) {
            expect(refusals(to, model, sent)).toEqual([]);
            const { turns } = divided(sent);
            const before = last.get(`${to} ${model}`) ?? [];
            expect(turns.slice(0, before.length)).toEqual(before);
            last.set(`${to} ${model}`, turns);
          }
        }),
        { numRuns: 8 },
      );
    },
  );
});
