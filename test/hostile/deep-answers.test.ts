/**
 * Answers that are nested too deeply to be serialized again, or streams with more events than the gateway keeps: the vendor's
 * fault, reported as such, and not charged. Objects with numbers as names are serialized recursively. Trap T60.
 */
import { expect, it } from "vitest";
import { conversions, names, type Name } from "../conversion/world.ts";
import type { Answer } from "../support/recorder.ts";

const world = conversions();

const deep = `${'{"7":'.repeat(5_000)}1${"}".repeat(5_000)}`;

const wholes: Readonly<Record<Exclude<Name, "responses">, string>> = {
  chat: `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"t","function":{"name":"f","arguments":${deep}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
  messages: `{"id":"m","type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":${deep}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  generate_content: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${deep}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`,
};

const answering =
  (text: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(text);
  };

const events =
  (text: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text);
  };

const pairs = names.flatMap((caller) =>
  (["chat", "messages", "generate_content"] as const).map(
    (upstream) => [caller, upstream] as const,
  ),
);

it.each(pairs)(
  "T60: %s callers get a too deeply nested answer of %s as a vendor error, uncharged",
  async (caller, upstream) => {
    const { gateway } = world;
    const spent = async () =>
      gateway().database.query(
        "select count(*)::int as charges from ledger_entries where kind = 'charge'",
        [],
      );
    const before = await spent();
    const { status, answer } = await world.send(caller, upstream, {}, answering(wholes[upstream]));
    expect(status).toBe(502);
    expect(JSON.stringify(answer)).toMatch(/more values or levels than an answer may have/);
    expect(await spent()).toEqual(before);
  },
);

it.each(names)(
  "T60: %s callers get a vendor error if a stream of too many events comes instead of an answer",
  async (name) => {
    const endless = events("data:\n\n".repeat(600_000));
    const { status, answer } = await world.send(name, name, {}, endless);
    expect(status).toBe(502);
    expect(JSON.stringify(answer)).toMatch(/more events than an answer may have/);
  },
);
