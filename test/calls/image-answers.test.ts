/** Answers of image vendors: streams with previews, reported usage, and which files are kept if a charge fails. IMG; STREAM-09. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSseParser, formatSse } from "../../src/base/sse.ts";
import { steadyHealthRules } from "../support/steady-health.ts";
import { eventually } from "../support/patience.ts";
import { json, type Answer } from "../support/recorder.ts";
import { picture, type ImageAnswer } from "../images/support.ts";
import { generating, startVendors } from "../images/two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
let base64: string;
beforeAll(async () => {
  vendors = await startVendors({ health: steadyHealthRules });
  base64 = (await picture()).toString("base64");
});
afterAll(() => vendors.close());

const counts = { image_tokens: 0, text_tokens: 7 };
const usage = {
  input_tokens: 7,
  output_tokens: 9,
  total_tokens: 16,
  input_tokens_details: counts,
  output_tokens_details: { image_tokens: 9, text_tokens: 0 },
};
const made = (type: string, more: object) =>
  formatSse({ event: type, data: JSON.stringify({ type, b64_json: base64, ...more }) });
const streaming =
  (...frames: readonly string[]): Answer =>
  (_request, response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).end(frames.join(""));

/** The request log's row of an answered call. */
const rowOf = (response: Response) =>
  eventually(async () => {
    const sql = "select usage_source, status, cost_nano from request_log where id = $1";
    const id = response.headers.get("x-request-id");
    return (await vendors.bench.database.query<{ usage_source: string }>(sql, [id]))[0];
  }, "the row in the request log");

it("STREAM-09: a stream sends its previews before the picture, which has the vendor's counts", async () => {
  vendors.answer(
    streaming(
      made("image_generation.partial_image", { partial_image_index: 0 }),
      made("image_generation.completed", { usage }),
    ),
  );
  const response = await vendors.bench.generate({
    model: generating,
    stream: true,
    partial_images: 1,
  });
  const events = createSseParser().push(Buffer.from(await response.text()));
  expect(events.map(({ event }) => event)).toEqual([
    "image_generation.partial_image",
    "image_generation.completed",
  ]);
  const last = JSON.parse(events[1]!.data) as ImageAnswer & { b64_json: string };
  expect(last.b64_json).toBe(base64);
  expect(last.usage.output_tokens).toBe(9);
  expect(await rowOf(response)).toMatchObject({ usage_source: "upstream", status: "succeeded" });
});

it("T61: usage without a vendor's count is marked as estimated, with one as the upstream's", async () => {
  vendors.answer(json({ data: [{ b64_json: base64 }] }));
  const uncounted = await vendors.bench.generate({ model: generating });
  expect(uncounted.status).toBe(200);
  expect(await rowOf(uncounted)).toMatchObject({ usage_source: "estimated" });
  vendors.answer(json({ data: [{ b64_json: base64 }], usage }));
  const counted = await vendors.bench.generate({ model: generating });
  expect(await rowOf(counted)).toMatchObject({ usage_source: "upstream" });
});
