/**
 * Pictures that a model made, in later turns: callers send back the answer that they got. CONV-517; traps T33, T38, T64.
 */
import { describe, expect, it } from "vitest";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { json, sse } from "../support/recorder.ts";
import { at } from "../rows/protocols.ts";
import { routeOf } from "./route.ts";
import {
  byName,
  conversions,
  dataOf,
  pictureData,
  pictureDataUrl,
  type Body,
  type Name,
} from "./world.ts";

const world = conversions();

const drawn = { inlineData: { mimeType: "image/png", data: pictureData } };
const answer = {
  ...byName.generate_content.whole(),
  candidates: [
    {
      index: 0,
      content: { role: "model", parts: [{ text: "A cat." }, drawn] },
      finishReason: "STOP",
    },
  ],
};

/** A caller's next request: the first question, the answer as it came, and a second question. */
const nextTurn = {
  chat: (said: Body): Body => ({
    messages: [
      { role: "user", content: "Draw a cat." },
      at(said, "choices", 0, "message"),
      { role: "user", content: "Make it blue." },
    ],
  }),
  responses: (said: Body): Body => ({
    input: [
      { role: "user", content: "Draw a cat." },
      ...(said["output"] as Body[]),
      { role: "user", content: "Make it blue." },
    ],
  }),
} as const;
const callers = Object.keys(nextTurn) as (keyof typeof nextTurn)[];

function convert(from: Name, to: Name, body: Body, upstreamModel: string) {
  return routeOf(from, to, { ...byName[from].body("acme/x", false), ...body }, { upstreamModel });
}

describe("a picture of an earlier answer", () => {
  it.each(callers)(
    "CONV-517: returns to the model when a %s caller sends it back",
    async (from) => {
      const first = await world.send(from, "generate_content", {}, json(answer));
      expect(first.status).toBe(200);
      const second = await world.send(from, "generate_content", nextTurn[from](first.answer));
      expect([second.status, second.reported]).toEqual([200, []]);
      expect(second.up).toMatchObject({
        contents: [
          { role: "user", parts: [{ text: "Draw a cat." }] },
          { role: "model", parts: [{ text: "A cat." }, drawn] },
          { role: "user", parts: [{ text: "Make it blue." }] },
        ],
      });
    },
  );

  it("is sent to a chat upstream in the field in which answers have it", async () => {
    const first = await world.send("responses", "generate_content", {}, json(answer));
    const second = await world.send("responses", "chat", nextTurn.responses(first.answer));
    expect(at(second.up!, "messages", 1)).toEqual({
      role: "assistant",
      content: "A cat.",
      images: [{ type: "image_url", image_url: { url: pictureDataUrl } }],
    });
  });

  it.each([
    ["chat", "messages.images"],
    ["responses", "input.image_generation_call"],
  ] as const)(
    "T33: is refused for a %s caller if the upstream has no field for it",
    async (from, param) => {
      const first = await world.send(from, "generate_content", {}, json(answer));
      const { status, answer: refusal } = await world.send(
        from,
        "messages",
        nextTurn[from](first.answer),
      );
      expect([status, refusal]).toMatchObject([
        400,
        { error: { code: "unsupported_content", param } },
      ]);
    },
  );

  it.each(callers)("T64: does not count as text in the token estimate of a %s caller", (from) => {
    const data = "A".repeat(400_000);
    const picture = {
      type: "image_generation_call",
      id: "ig_1",
      status: "completed",
      result: data,
    };
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } };
    const bodies: Readonly<Record<typeof from, Body>> = {
      chat: { messages: [{ role: "assistant", content: "A cat.", images: [image] }] },
      responses: { input: [picture] },
    };
    const { inputMedia, inputCharacters } = codecs[from].direct.facts(bodies[from] as JsonObject);
    expect(inputMedia).toBe(1);
    expect(inputCharacters).toBeLessThan(100);
  });
});

describe("a signature-checking model that makes pictures", () => {
  const skip = "skip_thought_signature_validator";
  const history = nextTurn.chat({
    choices: [
      {
        message: {
          role: "assistant",
          content: "A cat.",
          images: [{ type: "image_url", image_url: { url: pictureDataUrl } }],
        },
      },
    ],
  });

  it("T38: gets a placeholder signature on content from another protocol", () => {
    const { body } = convert("chat", "generate_content", history, "gemini-3-pro-image");
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "Draw a cat." }] },
      {
        role: "model",
        parts: [
          { text: "A cat.", thoughtSignature: skip },
          { ...drawn, thoughtSignature: skip },
        ],
      },
      { role: "user", parts: [{ text: "Make it blue." }] },
    ]);
  });

  it.each(["gemini-2.5-flash-image", "gemini-3-pro"])(
    "T38: differs from %s, which gets no placeholder",
    (model) => {
      const { body } = convert("chat", "generate_content", history, model);
      expect(JSON.stringify(body)).not.toContain(skip);
    },
  );
});

describe("a picture that a model drew in its thoughts", () => {
  const parts = [
    { text: "First a sketch.", thought: true },
    { inlineData: { mimeType: "image/png", data: "c2tldGNo" }, thought: true },
    { text: "Now the whiskers.", thought: true },
    { text: "A cat." },
    drawn,
  ];
  const thoughtful = {
    ...byName.generate_content.whole(),
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
  };
  const said = {
    content: "A cat.",
    reasoning_content: "First a sketch.\n\nNow the whiskers.",
    images: [{ type: "image_url", image_url: { url: pictureDataUrl } }],
  };

  it("CONV-517: is not in a whole answer", async () => {
    const { answer: whole } = await world.send("chat", "generate_content", {}, json(thoughtful));
    expect(at(whole, "choices", 0, "message")).toMatchObject(said);
  });

  it("CONV-517: is not in a stream", async () => {
    const stream = sse(`data: ${JSON.stringify(thoughtful)}\n\n`);
    const { events } = await world.stream("chat", "generate_content", {}, stream);
    const deltas = dataOf(events).map((event) => at(event, "choices", 0, "delta"));
    const joined = (name: string) =>
      deltas.map((delta) => at(delta, name)).filter((text) => typeof text === "string");
    expect({
      content: joined("content").join(""),
      reasoning_content: joined("reasoning_content").join(""),
      images: deltas.flatMap((delta) => at(delta, "images") ?? []),
    }).toEqual(said);
  });
});

describe("sound that a model made", () => {
  const sound = { inlineData: { mimeType: "audio/wav", data: "c291bmQ=" } };
  const spoken = {
    ...byName.generate_content.whole(),
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text: "Hi." }, sound] },
        finishReason: "STOP",
      },
    ],
  };

  it("T33: is no picture in a whole answer to a responses caller", async () => {
    const { answer: whole } = await world.send("responses", "generate_content", {}, json(spoken));
    expect((whole["output"] as Body[]).map(({ type }) => type)).toEqual(["message"]);
  });

  it("T33: is no picture in a stream", async () => {
    const stream = sse(`data: ${JSON.stringify(spoken)}\n\n`);
    const { events, text } = await world.stream("responses", "generate_content", {}, stream);
    expect(events.length).toBeGreaterThan(3);
    expect(text).toContain("Hi.");
    expect(text).not.toContain("image_generation_call");
  });
});

it("CONV-701: a picture is marked complete in an answer that was truncated after it, whole and streamed", async () => {
  const cut = structuredClone(answer);
  cut.candidates[0]!.finishReason = "MAX_TOKENS";
  const { answer: whole } = await world.send("responses", "generate_content", {}, json(cut));
  const stream = sse(`data: ${JSON.stringify(cut)}\n\n`);
  const { events } = await world.stream("responses", "generate_content", {}, stream);
  for (const response of [whole, at(dataOf(events).at(-1)!, "response")] as Body[]) {
    expect(response["status"]).toBe("incomplete");
    expect((response["output"] as Body[]).map(({ type, status }) => [type, status])).toEqual([
      ["message", "completed"],
      ["image_generation_call", "completed"],
    ]);
  }
});
