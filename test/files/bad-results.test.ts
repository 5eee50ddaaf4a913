/**
 * Vendors whose results are bad: the task fails, and nothing is billed or kept. docs/tasks.md. For results that are temporarily
 * unavailable see test/tasks/unreachable-results.
 */
import { readdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { clipConfiguration, mp4 } from "../support/task-life.ts";

/** How the vendor serves its result, by the prompt of the request. */
const results: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  noise: (response) =>
    response.writeHead(200, { "content-type": "video/mp4" }).end(Buffer.alloc(100, 7)),
  picture: (response) => response.end(Buffer.from("89504e470d0a1a0a0000000d49484452", "hex")),
  gone: (response) => response.writeHead(410).end(),
  large: (response) => response.writeHead(200, { "content-length": 2 ** 31 }).write(mp4),
  endless(response) {
    response.on("error", () => undefined);
    response.write(mp4);
    const zeros = Buffer.alloc(1_000_000);
    const more = (): void => {
      while (!response.destroyed && response.write(zeros));
    };
    response.on("drain", more);
    more();
  },
  redirect: (response) => response.writeHead(302, { location: "http://10.0.0.1/x.mp4" }).end(),
};

/** The long form uses the default limit. Both sizes exceed the memory that a result may take. */
const videoBytesMax = shortOrLong(200 * 2 ** 20, 2 ** 30);
const memoryMax = shortOrLong(150 * 2 ** 20, 256 * 2 ** 20);

let vendor: Recorder;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  vendor = await startRecorder((request, response) => {
    const name = request.path.split("/").at(-1)!;
    if (request.method === "POST")
      return void response.end(JSON.stringify({ request_id: request.body["prompt"] }));
    if (request.path.startsWith("/results/")) return void results[name]!(response);
    const video = { url: `${vendor.url}/results/${name}`, duration: 1 };
    return void response.end(JSON.stringify({ status: "done", video }));
  });
  gateway = await startTestGateway({
    config: clipConfiguration(`${vendor.url}/v1`),
    tasks: { videoBytesMax },
  });
  await gateway.credit("10");
});
afterAll(async () => {
  await gateway.close();
  await vendor.close();
});

it.each([
  ["noise", "the file is no video."],
  ["picture", "the file is no video, but image/png"],
  ["gone", "the file's server answered 410"],
  ["large", `the file is larger than ${videoBytesMax} bytes`],
  ["endless", `the file is larger than ${videoBytesMax} bytes`],
  ["redirect", "must not point at a private or reserved network"],
])("a result that is %s fails its task without a charge", async (prompt, why) => {
  let most = 0;
  const before = process.memoryUsage().rss;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  const body = { model: "acme/clip", prompt, duration: 1, resolution: "480p" };
  const answer = await gateway.post("/v1/tasks", body, { prefer: "wait=60" });
  clearInterval(watch);
  expect(await answer.json()).toMatchObject({
    status: "failed",
    cost: "0",
    output: { images: [], videos: [] },
    error: { message: expect.stringContaining(why) as string },
  });
  expect(most - before).toBeLessThan(memoryMax);
  expect(readdirSync(join(gateway.directory, "data", "files"))).toEqual([]);
  const [account] = await gateway.database.query(
    "select charged_nano, held_nano from ledger_accounts where workspace_id = $1",
    [gateway.workspaceId],
  );
  expect(account).toEqual({ charged_nano: 0n, held_nano: 0n });
});
