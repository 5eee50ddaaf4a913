/** Responses streams whose annotations have no events of their own: they come with the end of their item. CONV-701 to CONV-704. */
import { expect, it } from "vitest";
import { formatSse } from "../../../src/base/sse.ts";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { grammarFaults } from "../../support/grammar.ts";
import { decodeFrames, framesOf } from "../chat/support.ts";

type Step = [type: string, members: JsonObject];

const page = (name: string): JsonObject => ({
  type: "url_citation",
  url: `https://example.org/${name}`,
  title: name,
  start_index: 0,
  end_index: 3,
});
const cited = (name: string): object => ({
  url: `https://example.org/${name}`,
  title: name,
  start: 0,
  end: 3,
});
const text = (said: string, annotations: JsonObject[]): JsonObject => ({
  type: "output_text",
  text: said,
  annotations,
});

const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
const content = [text("One. ", [page("a"), page("b")]), text("Two.", [page("c")])];
const item = { ...message, content };

/** The events of the message; those of `parts` have annotations of their own. */
const steps = (...parts: number[]): Step[] => [
  ["created", { response: { id: "resp_1", status: "in_progress", output: [] } }],
  ["output_item.added", { output_index: 0, item: { ...message, content: [] } }],
  ...content.flatMap((part, content_index): Step[] => {
    const place = { item_id: "msg_1", output_index: 0, content_index };
    const annotations = parts.includes(content_index) ? (part["annotations"] as JsonObject[]) : [];
    return [
      ["output_text.delta", { ...place, delta: part["text"]! }],
      ...annotations.map((annotation, annotation_index): Step => [
        "output_text.annotation.added",
        { ...place, annotation_index, annotation },
      ]),
      ["output_text.done", { ...place, text: part["text"]! }],
    ];
  }),
  ["output_item.done", { output_index: 0, item }],
  ["completed", { response: { id: "resp_1", status: "completed", output: [item] } }],
];

it.each([[[]], [[0]], [[1]], [[0, 1]]])(
  "CONV-701: each citation of a stream is read once, if the texts %j have events for theirs",
  (parts) => {
    const bytes = steps(...parts).map(([name, members]) => {
      const type = `response.${name}`;
      return formatSse({ event: type, data: JSON.stringify({ type, ...members }) });
    });
    const events = decodeFrames(responsesCodec, framesOf(bytes.join("")));
    // Citations may come after the end of their text.
    expect(grammarFaults(events.filter(({ type }) => type !== "citation"))).toEqual([]);
    expect(collect(events).content).toEqual([
      { type: "text", text: "One. ", citations: [cited("a"), cited("b")] },
      { type: "text", text: "Two.", citations: [cited("c")] },
    ]);
  },
);
