/** Citations at the end of an answer, when a call has already followed the cited text. CONV-701 to CONV-704. */
import { expect, it } from "vitest";
import { parseJsonText } from "../../src/base/json-text.ts";
import { createSseParser, formatSse } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import { codecs, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { before, cited, grounding, page, urlCitation } from "./cited.ts";
import { routeOf } from "./route.ts";
import { requestWith } from "./tool-wire.ts";

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "c1",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const candidate = (parts: object[], more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  responseId: "g1",
});

/** A chunk that contains a complete tool call. */
const calls = (index: number): object =>
  chunk({
    tool_calls: [
      { index, id: `call_${index}`, type: "function", function: { name: "look", arguments: "{}" } },
    ],
  });
const streams = {
  /** In messages the text must wait: the call before it only ends with the stream. */
  waiting: [
    calls(0),
    chunk({ content: before + cited }),
    calls(1),
    chunk({ annotations: [{ type: "url_citation", url_citation: urlCitation }] }),
    chunk({}, "tool_calls"),
  ],
  chat: [
    chunk({ role: "assistant", content: before + cited }),
    chunk({
      tool_calls: [
        { index: 0, id: "call_2", type: "function", function: { name: "look", arguments: "{}" } },
      ],
    }),
    chunk({ annotations: [{ type: "url_citation", url_citation: urlCitation }] }),
    chunk({}, "tool_calls"),
  ],
  generate_content: [
    candidate([{ text: before + cited }]),
    candidate([{ functionCall: { id: "c2", name: "look", args: {} } }]),
    candidate([{ text: "" }], { finishReason: "STOP", groundingMetadata: grounding }),
  ],
} as const;

/** The parsed events that a caller gets. */
function given(caller: ProtocolName, upstream: keyof typeof streams): JsonObject[] {
  const to = upstream === "waiting" ? "chat" : upstream;
  const route = routeOf(caller, to, requestWith[caller]("look"), { stream: true });
  const bytes = streams[upstream].map((data) => formatSse({ data: JSON.stringify(data) })).join("");
  const parser = createSseParser();
  const tap = route.tap();
  const frames = [...parser.push(Buffer.from(bytes)), ...parser.end()].flatMap((one) =>
    tap.push(one),
  );
  frames.push(...(tap.end?.() ?? []), ...tap.release(noUsage));
  return frames.flatMap(({ data }) =>
    data === "[DONE]" ? [] : [parseJsonText(data) as JsonObject],
  );
}

const upstreams = ["chat", "generate_content"] as const;

it.each(upstreams)("CONV-702: a late responses citation is on its text (from %s)", (upstream) => {
  const events = given("responses", upstream);
  const of = (type: string) => events.filter((event) => event["type"] === type);
  const { response } = of("response.completed")[0] as { response: { output: JsonObject[] } };
  const message = response.output.find(({ type }) => type === "message");
  expect(message!["content"]).toMatchObject([
    { text: before + cited, annotations: [{ type: "url_citation", ...urlCitation }] },
  ]);
  const [added, ...others] = of("response.output_text.annotation.added");
  expect([added, others]).toMatchObject([
    { item_id: message!["id"], output_index: 0, content_index: 0, annotation: urlCitation },
    [],
  ]);
});

it.each(upstreams)(
  "CONV-703: a late citation is attached to an empty text after the call for messages callers (from %s)",
  (upstream) => {
    const events = given("messages", upstream);
    const starts = events.filter(({ type }) => type === "content_block_start");
    expect(
      starts.map(({ index, content_block: block }) => [index, (block as JsonObject)["type"]]),
    ).toEqual([
      [0, "text"],
      [1, "tool_use"],
      [2, "text"],
    ]);
    expect(events.filter(({ index }) => index === 2)).toMatchObject([
      { type: "content_block_start", content_block: { text: "" } },
      { delta: { type: "citations_delta", citation: page } },
      { type: "content_block_stop" },
    ]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  },
);

it("CONV-703: a late citation is attached to its text if that still waits behind a call", () => {
  const events = given("messages", "waiting");
  const starts = events.filter(({ type }) => type === "content_block_start");
  expect(starts.map(({ content_block: block }) => (block as JsonObject)["type"])).toEqual([
    "tool_use",
    "text",
    "tool_use",
  ]);
  expect(events.filter(({ index }) => index === 1)).toMatchObject([
    { type: "content_block_start" },
    { delta: { text: before + cited } },
    { delta: { type: "citations_delta", citation: page } },
    { type: "content_block_stop" },
  ]);
});

it("CONV-702: a late citation has character offsets of the answer for chat callers", () => {
  const deltas = JSON.stringify(given("chat", "generate_content"));
  expect(deltas).toContain(JSON.stringify({ type: "url_citation", url_citation: urlCitation }));
});

it("CONV-704: a late citation is in the last chunk for generateContent callers", () => {
  const last = given("generate_content", "chat").at(-1);
  expect(last).toMatchObject({
    candidates: [{ groundingMetadata: { groundingChunks: grounding.groundingChunks } }],
  });
});

it("T25: the empty text with citations is removed when it comes back", () => {
  const citations = [
    {
      type: "web_search_result_location",
      ...page,
      cited_text: "",
      encrypted_index: "gw_unsigned",
    },
  ];
  const said = [{ type: "text", text: before }];
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: [...said, { type: "text", text: "", citations }] },
    { role: "user", content: "Go on" },
  ];
  const body: JsonObject = { model: "acme/talk", max_tokens: 9, messages };
  const sent = codecs.messages.direct.request(body, { model: "x", stream: false });
  expect(sent.body["messages"]).toMatchObject([{}, { content: said }, {}]);
  expect((sent.body["messages"] as JsonObject[])[1]!["content"]).toEqual(said);
  expect(sent.notes.map(({ param }) => param)).toEqual(["messages.content.citations"]);
});
