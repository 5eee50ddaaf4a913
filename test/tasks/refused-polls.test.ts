// Polls that a vendor refuses because of the job: xAI answers 400 if moderation withheld a video, or if the job was invalid.
// Such tasks do not wait for their deadline. docs/tasks.md; wire shapes of xAI.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ledgerReaderOf, type LedgerReader } from "../money/support.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { clipConfiguration, mp4 } from "../support/task-life.ts";
import { startBench, type Bench } from "../task-http/support.ts";

const timing = { firstPollMs: 20, sweepMs: 50, missesMin: 3, missingMs: 50 };

type Poll = readonly [status: number, body: object | string];
const early: Poll = [400, { code: "invalid-argument", error: "The request is not there yet." }];
const working: Poll = [202, ""];

/** The vendor's answers to the polls of a job, in order; the last one repeats. */
const polls: Record<string, Poll[]> = {
  moderated: [
    working,
    [
      400,
      {
        code: "imagine:content-moderated",
        error: "Generated video rejected by content moderation.",
        usage: { cost_in_usd_ticks: 200_000_000 },
      },
    ],
  ],
  "moderated in words": [
    [
      400,
      {
        code: "Client specified an invalid argument",
        error: "Generated video rejected by content moderation.",
      },
    ],
  ],
  "moderated, as 200 says": [
    working,
    [
      200,
      {
        code: "imagine:content-moderated",
        error: "Generated video rejected by content moderation.",
      },
    ],
  ],
  "busy, as 200 says": Array.from({ length: 5 }, (): Poll => [
    200,
    { error: { code: "internal_error", message: "Try again." } },
  ]),
  "of a list, as 200 says": Array.from({ length: 5 }, (): Poll => [200, { data: [], error: {} }]),
  wrong: [[400, { code: "invalid-argument", error: "A prompt is required." }]],
  early: [early, early, working],
  "early again": [early, early, working, early, early],
  key: [
    [400, { code: "invalid-argument", error: "Incorrect API key provided: xai-1." }],
    [400, { code: "invalid-argument", error: "Incorrect API key provided: xai-1." }],
    [400, { code: "invalid-argument", error: "Incorrect API key provided: xai-1." }],
    [400, { code: "invalid-argument", error: "Incorrect API key provided: xai-1." }],
    [400, { code: "invalid-argument", error: "Incorrect API key provided: xai-1." }],
  ],
  page: Array.from({ length: 5 }, (): Poll => [400, "<html>Bad Request</html>"]),
};
const endsTask = new Set(["moderated", "moderated in words", "moderated, as 200 says", "wrong"]);

let vendor: Recorder;
let bench: Bench;
let books: LedgerReader;
beforeAll(async () => {
  const next = new Map<string, number>();
  vendor = await startRecorder((request, response) => {
    if (request.path.endsWith(".mp4"))
      return void response.writeHead(200, { "content-length": mp4.length }).end(mp4);
    if (request.method === "POST")
      return void response.end(JSON.stringify({ request_id: request.body["prompt"] }));
    const name = decodeURIComponent(request.path.split("/").at(-1)!);
    const at = next.get(name) ?? 0;
    next.set(name, at + 1);
    const answers = polls[name]!;
    const done: Poll = [
      200,
      { status: "done", video: { url: `${vendor.url}/v.mp4`, duration: 1 } },
    ];
    const [status, body] = answers[at] ?? (endsTask.has(name) ? answers.at(-1)! : done);
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  bench = await startBench({ config: clipConfiguration(`${vendor.url}/v1`), tasks: { timing } });
  await bench.credit("100");
  books = ledgerReaderOf(bench.database);
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

const clip = (prompt: string) => ({ model: "acme/clip", prompt, duration: 1, resolution: "480p" });
const pollCount = (name: string) =>
  vendor.requests.filter(({ path }) => decodeURIComponent(path).endsWith(`/videos/${name}`)).length;
const heldFor = async (id: string) => (await books.holds()).filter((hold) => hold.id === id).length;

describe("a refused poll", () => {
  it.each([
    ["moderated", 2],
    ["moderated in words", 1],
    ["moderated, as 200 says", 2],
  ])("ends the task at once, without a charge, if the video was %s", async (name, times) => {
    const { id } = await bench.create(clip(name));
    const task = await bench.until(id, "failed", "succeeded", "expired");
    expect(task).toMatchObject({
      status: "failed",
      cost: "0",
      error: {
        code: "content_policy_violation",
        message: "Generated video rejected by content moderation.",
      },
    });
    expect([pollCount(name), await heldFor(id)]).toEqual([times, 0]);
  });

  it("T80: ends the task after repeated refusals if the job is invalid, with the vendor's message", async () => {
    const { id } = await bench.create(clip("wrong"));
    const task = await bench.until(id, "failed", "succeeded", "expired");
    expect(task).toMatchObject({
      status: "failed",
      cost: "0",
      error: { code: "invalid_argument", message: "A prompt is required." },
    });
    expect(pollCount("wrong")).toBeGreaterThanOrEqual(timing.missesMin);
    expect(await heldFor(id)).toBe(0);
  });

  it.each(["early", "early again", "key", "page", "busy, as 200 says", "of a list, as 200 says"])(
    "T80: does not end the task if it is temporary or not about the job: %s",
    async (name) => {
      const { id } = await bench.create(clip(name));
      const task = await bench.until(id, "failed", "succeeded", "expired");
      expect(task.status).toBe("succeeded");
    },
  );
});
