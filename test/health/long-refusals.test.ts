/** Refusals that cannot be read to their end: their status alone decides. docs/routing.md; TXT-20. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { json, type Answer } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import { takeRequestCounts, names, startTrio, type Trio } from "./support.ts";

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({ prices: { a: 1, b: 2, c: 3 }, models: 6 });
});
afterAll(() => trio.close());
beforeEach(() => {
  for (const name of names) trio.up[name].answer(answering);
  takeRequestCounts(trio);
});

const calls = 8;
const reason = "Input should be a valid number";

/** Like FastAPI and vLLM, whose error repeats the whole request. */
const echoing: Answer = json(
  { error: { message: reason, type: "invalid_request_error", input: "x".repeat(400_000) } },
  422,
);

/** An answer that promises more bytes than it sends. */
const cut =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": 500,
      ...headers,
    });
    response.write(`{"error":{"message":"${reason}`);
    setTimeout(() => response.destroy(), 5);
  };

const unknownCoding: Answer = (_request, response) => {
  response.writeHead(400, { "content-type": "application/json", "content-encoding": "compress" });
  response.end("no such coding");
};

/** Makes more calls than open a circuit, and returns the statuses. */
async function several(model: string, stream: boolean): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let index = 0; index < calls; index += 1) {
    const answer = await trio.call({ model: `${model}:@price`, stream });
    statuses.add(answer.status);
    await answer.text();
  }
  return statuses;
}

it.each([
  ["a refusal that repeats a large request", "acme/talk-1", echoing, 422],
  ["a refusal that breaks off", "acme/talk-2", cut(400), 400],
  ["a refusal in an unknown content coding", "acme/talk-3", unknownCoding, 400],
])(
  "TXT-20: %s counts as the caller's mistake, and the provider stays in use",
  async (_name, model, answer, status) => {
    trio.up.a.answer(answer);
    expect(await several(model, false)).toEqual(new Set([status]));
    expect(await several(model, true)).toEqual(new Set([status]));
    expect(takeRequestCounts(trio)).toEqual({ a: 2 * calls, b: 0, c: 0 });
  },
);

it("a long refusal is reported with its first words", async () => {
  trio.up.a.answer(echoing);
  const answer = await trio.call({ model: "acme/talk-4:@price" });
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect(error.code).toBe("upstream_rejected");
  expect(error.message).toContain(reason);
  expect(error.message.length).toBeLessThan(1_000);
});

it("a rate limit in a refusal that breaks off pauses the key, and another provider answers", async () => {
  trio.up.a.answer(cut(429, { "retry-after": "60" }));
  expect(await several("acme/talk-5", false)).toEqual(new Set([200]));
  expect(takeRequestCounts(trio)).toEqual({ a: 1, b: calls, c: 0 });
});
