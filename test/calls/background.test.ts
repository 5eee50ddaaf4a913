/** Responses that their vendor makes in the background. BILL, RESP-30; docs/decisions.md "Text reservation". */
import { afterAll, beforeAll, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { responses } from "../rows/protocols.ts";
import { costAtFirstNano, startWorld, stream, type World } from "../rows/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

interface LogRow {
  readonly usage: Readonly<Record<string, number>>;
  readonly usage_source: string | null;
  readonly cost_nano: bigint;
}
const rowOf = async (response: Response) => (await world.row(response)) as unknown as LogRow;

/** Reads a stream until it contains `seen`, and leaves. */
async function leaveAt(answered: Response, seen: string): Promise<void> {
  const reader = answered.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(seen))
    text += decoder.decode((await reader.read()).value, { stream: true });
  await reader.cancel();
}

it("BILL-04 RESP-30: a background response without usage is charged its reserved tokens; one with usage is charged its usage", async () => {
  const queued = {
    ...(responses.whole() as object),
    id: "resp_bg",
    status: "queued",
    output: [],
    usage: null,
  };
  world.answer(json(queued));
  const extra = { background: true, max_output_tokens: 1_000 };
  const model = `${responses.model}:first`;
  const answered = await world.call(responses, { model, extra });
  expect(await answered.json()).toMatchObject({ id: "resp_bg", status: "queued" });
  const { usage, usage_source, cost_nano } = await rowOf(answered);
  expect(usage_source).toBe("estimated");
  expect(usage).toMatchObject({ outputTokens: 1_000 });
  // At $1 per million tokens of input and $10 of output.
  expect(cost_nano).toBe(BigInt(usage["inputTokens"]! * 1_000 + 10_000_000));

  world.answer(json({ ...queued, status: "in_progress", usage: responses.whole()["usage"] }));
  const finished = await world.call(responses, { model, extra });
  expect((await rowOf(finished)).cost_nano).toBe(costAtFirstNano);
});

it.each([
  [true, 1_000],
  [false, 4],
])(
  "BILL-04 RESP-30 T62: a stream that its client leaves, with background %s, is charged %i output tokens",
  async (background, outputTokens) => {
    const until = responses.frames.findIndex((frame) => frame.includes("output_text.delta")) + 1;
    world.answer(stream(responses.frames.slice(0, until), () => undefined));
    const extra = { background, max_output_tokens: 1_000 };
    const model = `${responses.model}:first`;
    const answered = await world.call(responses, { model, stream: true, extra });
    await leaveAt(answered, "output_text.delta");
    const { usage, usage_source, cost_nano } = await rowOf(answered);
    expect(usage_source).toBe("estimated");
    expect(usage).toMatchObject({ outputTokens });
    expect(cost_nano).toBe(BigInt(usage["inputTokens"]! * 1_000 + outputTokens * 10_000));
  },
);

it("BILL-04 RESP-30 T62: a background stream that its client leaves after a web search is charged its reserved tokens and the search", async () => {
  const until = responses.frames.findIndex((frame) => frame.includes("output_text.delta")) + 1;
  const item = { type: "web_search_call", id: "ws_1", status: "completed" };
  const type = "response.output_item.done";
  const searched = `event: ${type}\ndata: ${JSON.stringify({ type, output_index: 0, item })}\n\n`;
  const [created, ...frames] = responses.frames.slice(0, until);
  world.answer(stream([created!, searched, ...frames], () => undefined));
  const extra = { background: true, max_output_tokens: 1_000 };
  const model = `${responses.model}:first`;
  const answered = await world.call(responses, { model, stream: true, extra });
  await leaveAt(answered, "output_text.delta");
  const { usage } = await rowOf(answered);
  expect(usage).toMatchObject({ outputTokens: 1_000, webSearches: 1 });
});
