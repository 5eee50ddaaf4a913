/** Several messages in one answer of a responses upstream: an announcement and the answer itself. CONV-701. */
import { describe, expect, it } from "vitest";
import { at } from "../rows/protocols.ts";
import { json, sse } from "../support/recorder.ts";
import { byName, conversions, dataOf, type Body } from "./world.ts";

const world = conversions();

const message = (id: string, ...texts: string[]): Body => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
});
const answerOf = (...output: Body[]): Body => ({ ...byName.responses.whole(), output });

/** The answer as the vendor's stream. */
function framesOf(answer: Body): string {
  const output = answer["output"] as Body[];
  const events = output.flatMap((item, index) => {
    const place = { output_index: index, item_id: item["id"] };
    const texts = (item["content"] as Body[]).map(({ text }) => text as string);
    return [
      { type: "response.output_item.added", ...place, item: { ...item, content: [] } },
      ...texts.flatMap((text, part) => [
        ...text.split(/(?= )/).map((delta) => ({
          type: "response.output_text.delta",
          ...place,
          content_index: part,
          delta,
        })),
        { type: "response.output_text.done", ...place, content_index: part, text },
      ]),
      { type: "response.output_item.done", ...place, item },
    ];
  });
  const response = { ...answer, status: "in_progress", output: [] };
  const all = [
    { type: "response.created", response },
    ...events,
    { type: "response.completed", response: answer },
  ];
  return all.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("");
}

const cases: [string, Body[], string][] = [
  [
    "two messages become two paragraphs",
    [message("m1", "I will look."), message("m2", "It is here.")],
    "I will look.\n\nIt is here.",
  ],
  ["the parts of one message become one text", [message("m1", "It is", " here.")], "It is here."],
  [
    "a message without text is ignored",
    [message("m1"), message("m2", "It is here.")],
    "It is here.",
  ],
  [
    "a second message may begin with an empty text",
    [message("m1", "I will look."), message("m2", "", "It is here.")],
    "I will look.\n\nIt is here.",
  ],
];

const textOf = (...texts: unknown[]): string => (texts as (string | undefined)[]).join("");

describe("several messages of responses, to a chat caller", () => {
  it.each(cases)("CONV-701: %s", async (_what, output, text) => {
    const answer = answerOf(...output);
    const whole = await world.send("chat", "responses", {}, json(answer));
    expect(at(whole.answer, "choices", 0, "message", "content")).toBe(text);
    const { events } = await world.stream("chat", "responses", {}, sse(framesOf(answer)));
    const deltas = dataOf(events).map((event) => at(event, "choices", 0, "delta", "content"));
    expect(textOf(...deltas)).toBe(text);
  });
});

describe("several messages of responses, to a generateContent caller, whose SDK joins the texts", () => {
  const partsOf = (answer: unknown): unknown[] =>
    (at(answer, "candidates", 0, "content", "parts") as unknown[]).map((part) => at(part, "text"));

  it.each(cases)("CONV-704: %s", async (_what, output, text) => {
    const answer = answerOf(...output);
    const whole = await world.send("generate_content", "responses", {}, json(answer));
    expect(textOf(...partsOf(whole.answer))).toBe(text);
    const streamed = sse(framesOf(answer));
    const { events } = await world.stream("generate_content", "responses", {}, streamed);
    expect(textOf(...dataOf(events).flatMap(partsOf))).toBe(text);
  });
});
