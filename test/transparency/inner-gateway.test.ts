/** Another Tollgate as the upstream: the caller learns what it dropped too. TXT-14, TXT-15. */
import { expect, it } from "vitest";
import { json, type Answer } from "../support/recorder.ts";
import { modelOf, useBench, type Body } from "./support.ts";

const bench = useBench();

const chat = {
  model: modelOf("chat"),
  messages: [{ role: "user", content: "Hi" }],
  service_tier: "flex",
};
const message = { role: "assistant", content: "Hi" };
const whole = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** Answers with a stream. */
const streamed =
  (names: string): Answer =>
  (_request, response) => {
    const choices = [{ index: 0, delta: message, finish_reason: "stop" }];
    response
      .writeHead(200, { "content-type": "text/event-stream", "x-gw-dropped-params": names })
      .end(`data: ${JSON.stringify({ ...whole, choices })}\n\ndata: [DONE]\n\n`);
  };

const noted = async (reply: Response): Promise<string | null> => {
  await reply.text();
  return reply.headers.get("x-gw-dropped-params");
};

it("TXT-14: a whole answer joins the names of the inner gateway to the own ones", async () => {
  bench.upstream.answer(json({ ...whole, gw: { droppedParams: ["seed", "service_tier", 7, ""] } }));
  const reply = await bench.gateway.post("/v1/chat/completions", chat);
  expect(((await reply.json()) as Body)["gw"]).toEqual({ droppedParams: ["service_tier", "seed"] });
});

it("TXT-15: so does the header of a stream, also if the inner gateway answered in the other form", async () => {
  const ask = () => bench.gateway.post("/v1/chat/completions", { ...chat, stream: true });
  bench.upstream.answer(streamed("seed, logit_bias"));
  expect(await noted(await ask())).toBe("service_tier, seed, logit_bias");
  bench.upstream.answer(json({ ...whole, gw: { droppedParams: ["seed"] } }));
  expect(await noted(await ask())).toBe("service_tier, seed");
  bench.upstream.answer(streamed(""));
  expect(await noted(await ask())).toBe("service_tier");
});
