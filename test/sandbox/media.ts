/** Shared by the tests of the media vendors: calls, waiting for a task, and an independent MP4 reader. */

export interface LooseJson {
  readonly [name: string]: LooseJson | undefined;
  readonly [index: number]: LooseJson | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined for an empty body. */
  readonly json: LooseJson | undefined;
}

interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes one call with the sandbox's key. */
export async function ask(
  url: string,
  { method, body, headers }: AskOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      authorization: "Bearer sandbox",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text === "" ? undefined : (JSON.parse(text) as LooseJson);
  return { status: response.status, headers: response.headers, json };
}

/** A video vendor's API. */
export interface VideoVendor {
  readonly name: "xai" | "dashscope" | "ark";
  readonly submitPath: string;
  readonly submitHeaders: Readonly<Record<string, string>>;
  body(prompt: string): Record<string, unknown>;
  /** The job's id, from the answer to the submission. */
  id(answer: Answer): string;
  pollPath(id: string): string;
  /** The state, in the vendor's own word. */
  state(answer: Answer): string;
  videoUrl(answer: Answer): string;
  /** The vendor's own words for the states. */
  readonly words: Readonly<Record<"succeeded" | "failed" | "blocked" | "expired", string>>;
  readonly pending: readonly string[];
  /** Code and message of a failed task. */
  failure(answer: Answer): unknown;
  /** The message of an HTTP error. */
  errorMessage(answer: Answer): string;
}

/** The value if it is a text, otherwise an empty text. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const videoVendors: readonly VideoVendor[] = [
  {
    name: "xai",
    submitPath: "/xai/v1/videos/generations",
    submitHeaders: {},
    body: (prompt) => ({ model: "video-model-v1.5", prompt, duration: 2, resolution: "480p" }),
    id: ({ json }) => text(json?.["request_id"]),
    pollPath: (id) => `/xai/v1/videos/${id}`,
    state: ({ status, json }) => text(json?.["status"]) || String(status),
    videoUrl: ({ json }) => text(json?.["video"]?.["url"]),
    words: { succeeded: "done", failed: "failed", blocked: "done", expired: "expired" },
    pending: ["202", "pending"],
    failure: ({ json }) => json?.["error"],
    errorMessage: ({ json }) => text(json?.["error"]?.["message"] ?? json?.["error"]),
  },
  {
    name: "dashscope",
    submitPath: "/dashscope/api/v1/services/aigc/video-generation/video-synthesis",
    submitHeaders: { "x-dashscope-async": "enable" },
    body: (prompt) => ({
      model: "wan3-sandbox-video",
      input: { prompt },
      parameters: { duration: 2, resolution: "480P", ratio: "16:9" },
    }),
    id: ({ json }) => text(json?.["output"]?.["task_id"]),
    pollPath: (id) => `/dashscope/api/v1/tasks/${id}`,
    state: ({ json }) => text(json?.["output"]?.["task_status"]),
    videoUrl: ({ json }) => text(json?.["output"]?.["video_url"]),
    words: { succeeded: "SUCCEEDED", failed: "FAILED", blocked: "FAILED", expired: "UNKNOWN" },
    pending: ["PENDING", "RUNNING"],
    failure: ({ json }) => ({
      code: json?.["output"]?.["code"],
      message: json?.["output"]?.["message"],
    }),
    errorMessage: ({ json }) => text(json?.["message"]),
  },
  {
    name: "ark",
    submitPath: "/ark/api/v3/contents/generations/tasks",
    submitHeaders: {},
    body: (prompt) => ({
      model: "video-model-tokens",
      content: [{ type: "text", text: prompt }],
      duration: 2,
      resolution: "480p",
    }),
    id: ({ json }) => text(json?.["id"]),
    pollPath: (id) => `/ark/api/v3/contents/generations/tasks/${id}`,
    state: ({ json }) => text(json?.["status"]),
    videoUrl: ({ json }) => text(json?.["content"]?.["video_url"]),
    words: { succeeded: "succeeded", failed: "failed", blocked: "failed", expired: "expired" },
    pending: ["queued", "running"],
    failure: ({ json }) => json?.["error"],
    errorMessage: ({ json }) => text(json?.["error"]?.["message"]),
  },
];

interface Submission {
  readonly url: string;
  readonly vendor: VideoVendor;
  readonly prompt: string;
  /** Fields that replace the usual ones. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Milliseconds of the sandbox's clock between two polls: less than half of the shortest job, whose two states it must see. */
const betweenPollsMs = 10;

export const submit = ({ url, vendor, prompt, body }: Submission): Promise<Answer> =>
  ask(url + vendor.submitPath, {
    body: { ...vendor.body(prompt), ...body },
    headers: vendor.submitHeaders,
  });

/**
 * Polls until the task is over, and lets time pass (`useStoppedDate`) between the polls. Returns the states on the way, and the last
 * answer.
 */
export async function finish(
  submission: Submission,
  pass: (ms: number) => void,
): Promise<{ id: string; seen: string[]; last: Answer }> {
  const { url, vendor } = submission;
  const id = vendor.id(await submit(submission));
  const seen: string[] = [];
  for (;;) {
    const last = await ask(url + vendor.pollPath(id));
    const state = vendor.state(last);
    if (seen.at(-1) !== state) seen.push(state);
    if (!vendor.pending.includes(state)) return { id, seen, last };
    pass(betweenPollsMs);
  }
}

interface Box {
  readonly type: string;
  readonly start: number;
  /** The content of the box. */
  readonly content: Buffer;
}

function boxesIn(bytes: Buffer): Box[] {
  const found: Box[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (length < 8 || at + length > bytes.length) throw new Error(`a box out of bounds: ${type}`);
    found.push({ type, start: at, content: bytes.subarray(at + 8, at + length) });
    at += length;
  }
  return found;
}

function inside(bytes: Buffer, path: string): Buffer {
  let found = bytes;
  for (const type of path.split(" ")) {
    const box = boxesIn(found).find((one) => one.type === type);
    if (!box) throw new Error(`no box ${type} of ${path}`);
    found = box.content;
  }
  return found;
}

export interface ReadVideo {
  /** The order of the outermost boxes. */
  readonly order: string[];
  readonly seconds: number;
  readonly tracks: readonly ReadTrack[];
}

export interface ReadTrack {
  readonly kind: string;
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly samples: number;
}

/** Reads an MP4 by its index. Throws if a sample is outside the data. */
export function readMp4(bytes: Buffer): ReadVideo {
  const outer = boxesIn(bytes);
  const movie = outer.find(({ type }) => type === "moov")!.content;
  const data = outer.find(({ type }) => type === "mdat")!;
  const header = inside(movie, "mvhd");
  const tracks = boxesIn(movie)
    .filter(({ type }) => type === "trak")
    .map(({ content }) => readTrack(content, data));
  return {
    order: outer.map(({ type }) => type),
    seconds: header.readUInt32BE(16) / header.readUInt32BE(12),
    tracks,
  };
}

function readTrack(track: Buffer, data: Box): ReadTrack {
  const header = inside(track, "tkhd");
  const media = inside(track, "mdia mdhd");
  const table = inside(track, "mdia minf stbl");
  const sizes = inside(table, "stsz");
  const samples = sizes.readUInt32BE(8);
  let end = inside(table, "stco").readUInt32BE(8);
  if (end < data.start + 8) throw new Error("a sample before the data");
  for (let index = 0; index < samples; index += 1) end += sizes.readUInt32BE(12 + 4 * index);
  if (end > data.start + 8 + data.content.length) throw new Error("a sample behind the data");
  return {
    kind: inside(track, "mdia hdlr").toString("latin1", 8, 12),
    seconds: media.readUInt32BE(16) / media.readUInt32BE(12),
    width: header.readUInt32BE(76) / 65_536,
    height: header.readUInt32BE(80) / 65_536,
    samples,
  };
}
