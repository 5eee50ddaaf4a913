/**
 * Tool calls of another vendor in later turns at Google, whose third generation refuses a call without a signature.
 * Trap T38; docs/routing.md: the providers of one model may speak different protocols.
 */
import { GoogleGenAI } from "@google/genai";
import { describe, expect, it } from "vitest";
import { at } from "../rows/protocols.ts";
import { json, sse } from "../support/recorder.ts";
import { routeOf } from "./route.ts";
import { byName, conversions, dataOf, modelOf, toolsOf, type Body, type Name } from "./world.ts";

const world = conversions();
/** In the alphabet of base64 that Google's SDKs for Go, Java and .NET can read. */
const skip = "skip/thought/signature/validator";

const call = (id: string) => ({
  id,
  type: "function",
  function: { name: "look", arguments: '{"where":"here"}' },
});
const choice = (delta: Body, finish: string | null) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const calls = [call("call_1"), call("call_2")];
const whole = {
  ...byName.chat.whole(),
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: null, tool_calls: calls },
      finish_reason: "tool_calls",
    },
  ],
};
const frames = [
  choice({ tool_calls: calls.map((one, index) => ({ index, ...one })) }, null),
  choice({}, "tool_calls"),
]
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .join("");

const made = (id: string, signature: Body = {}): Body => ({
  functionCall: { name: "look", args: { where: "here" }, id },
  ...signature,
});
const signed = [made("call_1", { thoughtSignature: skip }), made("call_2")];
const result = (id: string): Body => ({
  functionResponse: { id, name: "look", response: { output: "A shelf." } },
});
const next = {
  ...toolsOf.generate_content,
  contents: [
    { role: "user", parts: [{ text: "Look." }] },
    { role: "model", parts: signed },
    { role: "user", parts: [result("call_1"), result("call_2")] },
  ],
};

/** The route of the next request. */
function sent(to: Name, upstreamModel: string) {
  return routeOf("generate_content", to, next, { upstreamModel });
}

describe("calls of a chat upstream to a generateContent caller", () => {
  it("T38: have a placeholder signature on the first call", async () => {
    const { answer } = await world.send("generate_content", "chat", {}, json(whole));
    expect(at(answer, "candidates", 0, "content", "parts")).toEqual(signed);
  });

  it("T38: have the placeholder in a stream too", async () => {
    const { events } = await world.stream("generate_content", "chat", {}, sse(frames));
    const parts = dataOf(events).flatMap(
      (event) => at(event, "candidates", 0, "content", "parts") as Body[],
    );
    expect(parts.filter((part) => "functionCall" in part)).toEqual(signed);
  });

  it("T38: are one turn in the history of Google's SDK, which Gemini accepts after a stream", async () => {
    world.upstream().answer(sse(frames));
    const { url, key } = world.gateway();
    const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    const chat = google.chats.create({ model: modelOf("chat") });
    for await (const chunk of await chat.sendMessageStream({ message: "Look." }))
      expect(chunk.candidates).toHaveLength(1);
    expect(chat.getHistory(true).slice(1)).toEqual([{ role: "model", parts: signed }]);
  });

  it("T38: do not change the signature of a call that Google made", async () => {
    const own = [made("a", { thoughtSignature: "c2ln" }), made("b")];
    const answer = {
      ...byName.generate_content.whole(),
      candidates: [{ index: 0, content: { role: "model", parts: own }, finishReason: "STOP" }],
    };
    const got = await world.send("generate_content", "generate_content", {}, json(answer));
    expect(at(got.answer, "candidates", 0, "content", "parts")).toEqual(own);
  });
});

describe("the next turn after such calls", () => {
  it("T38: is sent to a model of the third generation with the placeholder as Google documents it", () => {
    const { body, notes } = sent("generate_content", "gemini-3-pro");
    const [first, ...others] = signed;
    const documented = { ...first, thoughtSignature: "skip_thought_signature_validator" };
    expect([body["contents"], notes]).toEqual([
      [next.contents[0], { role: "model", parts: [documented, ...others] }, next.contents[2]],
      [],
    ]);
  });

  it("T38: has a placeholder that SDKs which read signatures as bytes can read and send back", () => {
    expect(Buffer.from(skip, "base64").toString("base64")).toBe(skip);
  });

  it("T38: is sent to an older model without the placeholder, which it does not know", () => {
    const { body } = sent("generate_content", "gemini-2.5-flash");
    expect(body["contents"]).toEqual([
      next.contents[0],
      { role: "model", parts: [made("call_1"), made("call_2")] },
      next.contents[2],
    ]);
    expect(next.contents[1]!.parts).toBe(signed);
    expect(signed[0]).toHaveProperty("thoughtSignature");
  });

  it.each(["chat", "responses", "messages"] as const)(
    "T38: loses nothing at %s, since the placeholder is not a signature",
    (to) => {
      expect(sent(to, "x").notes).toEqual([]);
    },
  );
});
