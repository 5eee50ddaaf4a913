/** The video dialects against the sandbox's vendors, which share no code with them: from submission to each end. */
import { afterAll, describe, expect, it } from "vitest";
import { sandboxCatalog, type Provider } from "../../src/catalog/index.ts";
import type { VideoRequest } from "../../src/media/index.ts";
import {
  ask,
  createPools,
  outcomeOfRefusal,
  type MediaAsk,
  type MediaJob,
  type MediaRefusal,
  type MediaState,
} from "../../src/upstream/index.ts";
import { scripted, useSandbox, useStoppedDate } from "../sandbox/support.ts";
import { eventually } from "../support/patience.ts";
import { dialectOf, video } from "./media-support.ts";

const sandbox = useSandbox();
const pools = createPools();
afterAll(() => pools.close());

const vendors = [
  ["xai", "video-model-v1"],
  ["dashscope", "wan3-sandbox-video"],
  ["ark", "video-model-tokens"],
] as const;
type Vendor = (typeof vendors)[number][0];

const providerOf = (vendor: Vendor): Provider =>
  sandboxCatalog(sandbox.url).providers.get(`sandbox-${vendor}`)!;

const send = (vendor: Vendor, request: MediaAsk) =>
  ask(pools.forMedia(sandbox.url, 20_000), providerOf(vendor), request, { totalMs: 60_000 });

const jobOf = (request: VideoRequest, upstreamModel: string): MediaJob => ({
  request,
  upstreamModel,
  open: () => {
    throw new Error("videos have no uploads");
  },
});

type Answer = MediaState | MediaRefusal;

async function submitted(vendor: Vendor, job: MediaJob, apiKey = "sandbox"): Promise<Answer> {
  const dialect = dialectOf(vendor, "video");
  const answer = await send(vendor, dialect.submit(providerOf(vendor), apiKey, job));
  return dialect.readSubmit(answer.status, answer.body, job);
}

/** Submits a job. Returns the vendor's id. */
async function acceptedId(vendor: Vendor, job: MediaJob): Promise<string> {
  const answer = await submitted(vendor, job);
  if (answer.state !== "pending" || answer.id === undefined)
    throw new Error(`not taken: ${JSON.stringify(answer)}`);
  return answer.id;
}

async function polled(vendor: Vendor, id: string): Promise<Answer> {
  const dialect = dialectOf(vendor, "video");
  const answer = await send(vendor, dialect.poll(providerOf(vendor), "sandbox", id));
  return dialect.readPoll(answer.status, answer.body, id);
}

/** Submits a job and polls it until it ends. */
async function ended(vendor: Vendor, model: string, script: object): Promise<Answer> {
  const id = await acceptedId(vendor, jobOf(video({ prompt: scripted(script) }), model));
  return eventually(async () => {
    const answer = await polled(vendor, id);
    return answer.state !== "pending" && answer;
  }, "the end of the job");
}

describe.each(vendors)("a job at the sandbox's %s", (vendor, model) => {
  it("ends with the URL of the video and its seconds", async () => {
    const answer = await ended(vendor, model, { video_seconds: 3 });
    expect(answer).toMatchObject({ state: "succeeded", reported: { seconds: 3 } });
    const [result] = (answer as Extract<Answer, { state: "succeeded" }>).results;
    const file = await fetch((result as { url: string }).url);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.toString("latin1", 4, 8)).toBe("ftyp");
  });

  it("fails with a code and a message for the caller", async () => {
    expect(await ended(vendor, model, { task_outcome: "failed" })).toEqual({
      state: "failed",
      code: "upstream_error",
      message: "The sandbox was told to fail.",
    });
    expect(await ended(vendor, model, { task_outcome: "blocked" })).toMatchObject({
      state: "failed",
      code: "content_policy_violation",
    });
  });

  it("is reported as expired, or as missing if the vendor forgot it", async () => {
    // DashScope does not report expired jobs as such.
    const expired = vendor === "dashscope" ? "missing" : "expired";
    expect((await ended(vendor, model, { task_outcome: "expired" })).state).toBe(expired);
    expect((await ended(vendor, model, { task_outcome: "vanished" })).state).toBe("missing");
    expect((await polled(vendor, "never-seen")).state).toBe("missing");
  });

  it("accepts every field of a family", async () => {
    const url = "https://pictures.test/1.png";
    const given: Partial<VideoRequest> = {
      firstFrame: url,
      aspectRatio: "9:16",
      audio: false,
      moderation: "low",
      user: "u1",
      negativePrompt: "blur",
      promptExtend: false,
      seed: 7,
      watermark: true,
      cameraFixed: true,
      expiresAfterSeconds: 3600,
      resolution: "720p",
      durationSeconds: 5,
    };
    const frames = video({ mode: "frames", ...given, lastFrame: url });
    const references = { ...frames, firstFrame: undefined, lastFrame: undefined };
    expect(await acceptedId(vendor, jobOf(frames, model))).not.toBe("");
    expect(
      await acceptedId(vendor, jobOf({ ...references, references: [url, url] }, model)),
    ).not.toBe("");
  });

  it("is refused: a wrong key counts against the credential, a wrong value is the caller's fault", async () => {
    const key = await submitted(vendor, jobOf(video(), model), "wrong");
    expect(outcomeOfRefusal(key as MediaRefusal)).toMatchObject({
      fault: "provider",
      hurtsHealth: false,
      credential: { of: "credential" },
      code: "upstream_error",
    });
    const value = await submitted(vendor, jobOf(video({ aspectRatio: "7:5" }), model));
    const outcome = outcomeOfRefusal(value as MediaRefusal);
    expect(outcome).toMatchObject({ fault: "caller", code: "invalid_argument" });
    expect(outcome.message).toContain("ratio");
  });
});

describe.each(["dashscope", "ark"] as const)("a cancellation at the sandbox's %s", (vendor) => {
  const model = vendor === "ark" ? "video-model-tokens" : "wan3-sandbox-video";
  const dialect = dialectOf(vendor, "video");
  const pass = useStoppedDate();

  async function canceled(id: string) {
    const answer = await send(vendor, dialect.cancel!(providerOf(vendor), "sandbox", id));
    return dialect.readCancel!(answer.status, answer.body, id);
  }

  it("succeeds while the job is queued, and is refused while it runs", async () => {
    const request = video({ prompt: scripted({ task_seconds: 2 }) });
    const id = await acceptedId(vendor, jobOf(request, model));
    expect(await canceled(id)).toBe("canceled");
    expect((await polled(vendor, id)).state).toBe("canceled");
    const late = await acceptedId(
      vendor,
      jobOf({ ...request, prompt: scripted({ task_seconds: 0.4 }) }, model),
    );
    pass(250);
    expect(await canceled(late)).toBe("refused");
  });
});
