/**
 * JSON in texts: arguments and results of OpenAI-style callers are texts, to which a body's limits do not apply. JSON beyond those
 * limits stays an unparsed text. CONV-713 to CONV-716; traps T3, T22.
 */
import { describe, expect, it } from "vitest";
import { codecs, createRoute, upstreamCodecs } from "../../src/protocols/index.ts";
import { requestWith } from "./tool-wire.ts";

const depth = 20_000;
const texts: [what: string, text: string][] = [
  ["an object nested without end", '{"7":'.repeat(depth) + "1" + "}".repeat(depth)],
  ["an object of a hundred thousand objects", `{"a":[${"{},".repeat(100_000)}{}]}`],
  ["an object of a million numbers", `{"a":[${"1,".repeat(1_000_000)}1]}`],
];
const targets = ["messages", "generate_content", "converse"] as const;

describe.each(texts)("%s", (_what, text) => {
  it.each(targets)("T3 T22: is sent to %s as unparsed text", (to) => {
    const body = JSON.parse(
      JSON.stringify(requestWith.chat("look"))
        .replaceAll('"arguments":"{}"', `"arguments":${JSON.stringify(text)}`)
        .replaceAll('"seen"', JSON.stringify(text)),
    ) as ReturnType<(typeof requestWith)["chat"]>;
    const route = createRoute({
      caller: codecs.chat,
      upstream: upstreamCodecs[to],
      body,
      stream: false,
      requestedModel: "acme/talk",
      model: "acme/talk",
      upstreamModel: "talk-large",
      maxOutputTokens: 1000,
      inputEstimate: 1,
      id: "req_1",
      createdAt: 1,
    });
    const sent = JSON.stringify(route.body);
    expect(sent).toContain(JSON.stringify({ arguments: text }));
    // It occurs twice: in the call's arguments and in its result.
    expect(sent.split(JSON.stringify(text))).toHaveLength(3);
  });
});
