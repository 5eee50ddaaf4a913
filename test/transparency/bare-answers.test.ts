/** Answers without a time or without usage, on direct routes: typed clients require both. TXT-10. */
import { expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { modelOf, useBench, type Body } from "./support.ts";

const bench = useBench();

const said = { role: "assistant", content: "Hi" };
const message = {
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "" }],
};
const chat = { model: modelOf("chat"), messages: [{ role: "user", content: "Hi" }] };
const responses = { model: modelOf("responses"), input: "Hi" };

/** Seconds from the time in an answer until now. */
const age = (time: unknown): number => Math.abs(Date.now() / 1000 - Number(time));

async function answerTo(path: string, request: Body, whole: object): Promise<string> {
  bench.upstream.answer(json(whole));
  return (await bench.gateway.post(path, request)).text();
}

it.each([
  ["/v1/chat/completions", chat, { choices: [{ message: said }] }, "created"],
  ["/v1/chat/completions", chat, { choices: [{ message: said }], created: null }, "created"],
  ["/v1/responses", responses, { output: [message] }, "created_at"],
] as const)(
  "TXT-10: an answer without its time has that of the call, not 1970: %s %#",
  async (path, request, whole, member) => {
    const answer = JSON.parse(await answerTo(path, request, whole)) as Body;
    expect(age(answer[member])).toBeLessThan(600);
    const streamed = await answerTo(path, { ...request, stream: true }, whole);
    const [, time] = new RegExp(`"${member}":(\\d+)`).exec(streamed)!;
    expect(age(time)).toBeLessThan(600);
  },
);

it("TXT-10 T48: a whole messages answer without usage has that which is charged", async () => {
  const request = { model: modelOf("messages"), max_tokens: 10, messages: chat.messages };
  const whole = { id: "msg_1", type: "message", content: [{ type: "text", text: "Hi" }] };
  const answer = JSON.parse(await answerTo("/v1/messages", request, whole)) as Body;
  const counts = answer["usage"] as Record<string, number>;
  expect(counts["input_tokens"]).toBeGreaterThan(0);
  expect(counts["output_tokens"]).toBeGreaterThan(0);
});
