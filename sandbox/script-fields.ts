/** What a script line may hold: the one table that reading it, `GET /` and docs/sandbox.md share. */

/** What a script line may hold. Names are those of the wire. */
export interface Script {
  readonly reply?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ScriptedCall[];
  readonly finish?: string;
  readonly usage?: ScriptedUsage | null;
  readonly chunk_chars?: number;
  readonly next?: Script;
  readonly times?: number;
  readonly only?: readonly string[];
  readonly delay_ms?: number;
  readonly chunk_delay_ms?: number;
  readonly status?: number;
  readonly error?: string | ScriptedError;
  readonly headers?: Readonly<Record<string, string>>;
  readonly retry_after?: number;
  readonly malformed?: "json" | "html" | "empty";
  readonly hang?: boolean;
  readonly hang_after_chunks?: number;
  readonly cut_after_chunks?: number;
  readonly end_after_chunks?: number;
  readonly stream_error?: number;
  readonly no_end_marker?: boolean;
  readonly whole?: boolean;
  readonly streamed?: boolean;
  readonly sse_cut_bytes?: number;
  readonly flood?: number;
  readonly task_seconds?: number;
  readonly task_outcome?: TaskOutcome;
  readonly video_seconds?: number;
  readonly poll?: Script;
  readonly artifact?: ArtifactScript;
}

export const taskOutcomes = ["succeeded", "failed", "blocked", "expired", "vanished"] as const;
export type TaskOutcome = (typeof taskOutcomes)[number];

/** What happens to who downloads a file that a vendor made. */
export interface ArtifactScript {
  readonly times?: number;
  readonly url?: string;
  readonly delay_ms?: number;
  readonly status?: number;
  readonly redirect?: string;
  readonly hang?: boolean;
  readonly content_type?: string;
  readonly padded_bytes?: number;
  readonly flood?: boolean;
  readonly cut_after_bytes?: number;
  readonly hang_after_bytes?: number;
}

export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: unknown;
}

export interface ScriptedUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
}

export interface ScriptedError {
  readonly message?: string;
  readonly code?: string;
  readonly type?: string;
}

export type Kind =
  | "text"
  | "number"
  | "flag"
  | "object"
  | "list"
  | "text or object"
  | "object or null";

export interface Field {
  readonly kind: Kind;
  /** Trouble ends with `times` and stays within `only`; content does not. */
  readonly group: "content" | "trouble" | "control" | "task" | "artifact";
  readonly meaning: string;
  /** The only words it takes. */
  readonly words?: readonly string[];
}

const content = (kind: Kind, meaning: string): Field => ({ kind, group: "content", meaning });
const trouble = (kind: Kind, meaning: string): Field => ({ kind, group: "trouble", meaning });
const control = (kind: Kind, meaning: string): Field => ({ kind, group: "control", meaning });
const task = (kind: Kind, meaning: string): Field => ({ kind, group: "task", meaning });
const artifact = (kind: Kind, meaning: string): Field => ({ kind, group: "artifact", meaning });

export const scriptFields: Readonly<Record<keyof Script, Field>> = {
  reply: content("text", "The text of the answer; for images, the revised prompt."),
  reasoning: content("text", "The reasoning before the answer, in the vendor's form."),
  tool_calls: content("list", "Calls `[{name, arguments}]`; several are parallel calls."),
  finish: content(
    "text",
    "stop, length, tool_calls, content_filter, or a vendor's own word. Responses also `failed`, generateContent also `blocked`.",
  ),
  usage: content(
    "object or null",
    "{input, output, cache_read, cache_write, reasoning}; input includes the cache, output the reasoning. Each vendor reports it in its own form. Media vendors that count tokens report input and output. null: no usage is reported.",
  ),
  chunk_chars: content("number", "Characters in one streamed piece; 24 by default."),
  next: content("object", "The script of the next step, after the called tools have answered."),
  times: control(
    "number",
    "Only the first n calls with this exact line have the faults. Afterwards the content stays; a line without faults has no effect any more.",
  ),
  only: control(
    "list",
    "Faults only at these endpoints (chat, responses, messages, generate_content, converse, images, image_edits, image_tasks, videos) or upstream models.",
  ),
  delay_ms: trouble("number", "Milliseconds before the first byte."),
  chunk_delay_ms: trouble(
    "number",
    "Milliseconds between streamed pieces; 0 gives each piece its own packet.",
  ),
  status: trouble("number", "Answers this HTTP status with an error in the vendor's shape."),
  error: trouble("text or object", "The error's message, or {message, code, type}."),
  headers: trouble("object", "Response headers to add."),
  retry_after: trouble("number", "Seconds for Retry-After (for google also RetryInfo)."),
  malformed: trouble(
    "text",
    "`json`: broken JSON, in streams in the second piece; `html`: a page; `empty`: nothing.",
  ),
  hang: trouble("flag", "Takes the request and never answers."),
  hang_after_chunks: trouble("number", "Sends nothing more after n streamed pieces."),
  cut_after_chunks: trouble(
    "number",
    "Destroys the connection after n streamed pieces; a whole answer is cut in its middle.",
  ),
  end_after_chunks: trouble("number", "Ends the HTTP response properly after n pieces."),
  stream_error: trouble(
    "number",
    "The vendor's error event after n pieces; `error` sets its text.",
  ),
  no_end_marker: trouble(
    "flag",
    "Leaves out the end marker of the stream: [DONE], response.completed, message_stop, or the chunk with finishReason.",
  ),
  whole: trouble("flag", "Answers a whole body although a stream was requested."),
  streamed: trouble("flag", "Answers a stream although a whole body was requested."),
  sse_cut_bytes: trouble("number", "Writes a stream in packets of n bytes, wherever that cuts."),
  flood: trouble("number", "A text of n bytes, streamed as one piece."),
  task_seconds: task(
    "number",
    "How long a task takes: the first half queued, the second running; 0.05 by default. Images without a task take the same time, by default none.",
  ),
  task_outcome: {
    ...task(
      "text",
      "succeeded, failed (with the text of `error`), blocked (the vendor's filter), expired, or vanished: the vendor no longer knows the id.",
    ),
    words: taskOutcomes,
  },
  video_seconds: task("number", "The length of the video, whatever was requested."),
  poll: task("object", "Faults of polls, with `times` for the first n polls of each task."),
  artifact: task("object", "Faults of downloads of the result; the fields are below."),
};

/** What `artifact` may hold. */
export const artifactFields: Readonly<Record<keyof ArtifactScript, Field>> = {
  times: artifact("number", "Only the first n downloads of each file have the faults."),
  url: artifact("text", "The vendor names this address instead of the file's."),
  delay_ms: artifact("number", "Milliseconds before the first byte."),
  status: artifact("number", "Answers this HTTP status and no file."),
  redirect: artifact("text", "Sends the client to this address."),
  hang: artifact("flag", "Takes the request and never answers."),
  content_type: artifact("text", "The Content-Type of the file."),
  padded_bytes: artifact("number", "Fills the file up to n bytes with zeros."),
  flood: artifact("flag", "Sends endless zeros after the file, and no length."),
  cut_after_bytes: artifact("number", "Destroys the connection after n bytes."),
  hang_after_bytes: artifact("number", "Sends nothing more after n bytes."),
};
