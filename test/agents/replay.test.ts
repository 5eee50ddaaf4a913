/**
 * Recorded requests of coding agents, resent to an upstream of every protocol. Each case under cases/ is one headless run of one
 * agent through a gateway, on a task with tools; the file names the vendor whose protocol the upstream spoke. It has every
 * request of the run, with ids, dates and paths normalized and long prose cut. Thinking that the gateway showed without a
 * vendor's signature has the mark that the gateway now gives such thinking. docs/clients.md says how the agents were started.
 * Requirements: TXT, CONV.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { collect } from "../../src/protocols/canonical/collect.ts";
import { grammarFaults } from "../support/grammar.ts";
import type { ProtocolName } from "../../src/protocols/canonical/request.ts";
import { codecs } from "../../src/protocols/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { models, readCase, type AgentCase } from "./cases.ts";
import { losses } from "./losses.ts";

interface Script {
  readonly reply?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: object }[];
  readonly next?: Script;
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) yield* textsIn(inner);
  }
}

/** The script of each step of a run, read from the agent's prompt. */
function scriptsOf({ steps }: AgentCase): Script[] {
  const prompt = [...textsIn(steps[0])].find((text) => text.includes(marker))!;
  const scripts: Script[] = [];
  let script: Script | undefined = JSON.parse(prompt.split(marker)[1]!) as Script;
  for (; script; script = script.next) scripts.push(script);
  return scripts;
}

const marker = "#sandbox ";

function eventsOf(protocol: ProtocolName, text: string) {
  const frames = createSseParser();
  const decoder = codecs[protocol].decodeStream();
  const sent = [...frames.push(Buffer.from(text)), ...frames.end()];
  return [...sent.flatMap((frame) => decoder.push(frame)), ...decoder.end({ kind: "complete" })];
}

const cases = Object.entries(losses).flatMap(([name, byTarget]) =>
  Object.entries(byTarget).map(([target, steps]) => [name, target as ProtocolName, steps] as const),
);

describe("requests of coding agents", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.close());

  it.each(cases)("%s towards %s", async (name, target, lost) => {
    const agent = readCase(name);
    const scripts = scriptsOf(agent);
    expect(agent.steps).toHaveLength(scripts.length);
    for (const [index, step] of agent.steps.entries()) {
      const model = models[target];
      const body = { ...agent.body, ...step, ...("model" in agent.body && { model }) };
      const path = agent.path.replace("{model}", model);
      const answer = await gateway.post(path, body, agent.headers);
      const text = await answer.text();
      expect(answer.ok ? "" : text).toBe("");
      const events = eventsOf(agent.protocol, text);
      expect(grammarFaults(events)).toEqual([]);
      const content = collect(events).content;
      const calls = content.flatMap((part) =>
        part.type === "tool_call"
          ? [{ name: part.name, arguments: JSON.parse(part.arguments) as object }]
          : [],
      );
      const words = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      const { reply = "", tool_calls: scripted = [] } = scripts[index]!;
      expect(calls).toEqual(scripted);
      expect(words.join("")).toBe(reply);
      expect(answer.headers.get("x-gw-dropped-params")?.split(", ") ?? []).toEqual(lost[index]);
    }
  });

  it("T36: the billing header of Claude Code's system prompt reaches its own vendor only", async () => {
    const agent = readCase("claude-code-on-chat");
    const task = "A task with a bill";
    const messages = [{ role: "user", content: task }];
    for (const model of Object.values(models)) {
      await gateway.post(agent.path, { ...agent.body, model, messages }, agent.headers);
    }
    const journal = await fetch(`${gateway.sandboxUrl!}/__journal?contains=${encodeURI(task)}`);
    const { data } = (await journal.json()) as { data: { vendor: string; body: object }[] };
    const billed = data.map(({ vendor, body }) => [
      vendor,
      JSON.stringify(body).includes("x-anthropic-billing-header"),
    ]);
    expect(billed).toEqual([
      ["openai", false],
      ["openai", false],
      ["anthropic", true],
      ["google", false],
    ]);
  });
});
