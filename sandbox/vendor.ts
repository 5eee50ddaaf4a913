/** What a simulated vendor is made of: for each endpoint how it reads and how it answers. */
import type { IncomingHttpHeaders } from "node:http";
import type { Answer } from "./answer.ts";
import type { Question } from "./conversation.ts";
import type { Json } from "./json.ts";
import type { FormFile } from "./multipart.ts";
import type { Failure } from "./refusal.ts";
import type { Script } from "./script-fields.ts";

/** One authorised request. */
export interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** The upstream model's name, wherever the vendor wants it. */
  readonly model: string;
  readonly stream: boolean;
  /** The JSON object, or the fields of the form: texts, and lists of texts where a name repeats. */
  readonly body: Json;
  /** The files of a form. */
  readonly files: readonly FormFile[];
}

/**
 * One event of a stream. `content` frames carry what the model said and are what scripts count;
 * the `end` frame is the one that tells the client that nothing is missing.
 */
export interface Frame {
  readonly kind: "open" | "content" | "close" | "end";
  readonly event?: string | undefined;
  readonly data: string;
}

/** One answer, in both forms an endpoint has. Each is built only when it is asked for. */
export interface Rendering {
  whole(): Json;
  frames(): Iterable<Frame>;
  /** How the vendor breaks off a stream of which `sent` frames are out. */
  errorFrames(failure: Failure, sent: number): readonly Frame[];
}

/** One check of a strict table: returns or throws what the vendor refuses in this call. */
export type Check = (call: Call) => void;

export interface Endpoint {
  readonly name: "chat" | "responses" | "messages" | "generate_content" | "converse";
  /** What the vendor refuses, in the order it looks. */
  readonly strict: readonly Check[];
  question(call: Call): Question;
  render(call: Call, answer: Answer): Rendering;
}

export type Packets = "chunks" | "events";

/** A path to a model. What it leaves out stands in the body. */
export interface TextRoute {
  readonly kind: "text";
  readonly endpoint: Endpoint;
  readonly model?: string;
  readonly stream?: boolean;
  /** Streams a JSON array instead of events. */
  readonly array?: boolean;
  /** Streams the binary frames of AWS instead of events: with the events in them, or as the events themselves. */
  readonly packets?: Packets | undefined;
}

/** An answer in one piece: a status, and a JSON body unless it is empty. */
export interface Reply {
  readonly status: number;
  readonly body?: Json;
}

/** A path of a vendor that makes pictures or videos. */
export interface MediaRoute {
  readonly kind: "media";
  readonly name: "videos" | "images" | "image_edits" | "image_tasks" | "tasks";
  /** What the vendor refuses, in the order it looks. */
  readonly strict: readonly Check[];
  /** What the request carries, where that is no JSON object. */
  readonly takes?: "form" | "nothing";
  /** The script of this call; `read` finds the line in a prompt. */
  script(call: Call, read: (prompt: string) => Script): Script;
  /** @throws Refusal for what only shows once the work begins. */
  answer(call: Call, script: Script): Reply | Rendering | Promise<Reply | Rendering>;
}

/** What a path leads to; `json` answers without a model. */
export type Route = TextRoute | MediaRoute | { readonly kind: "json"; answer(call: Call): Json };

/** A request as it came in, for what depends on all of it. */
export interface Asking {
  readonly method: string;
  /** Below the vendor's prefix. */
  readonly path: string;
  /** As it was written, with its prefix and its query. */
  readonly target: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Answers paths that take no credential, because they give one; undefined for all others. */
export type OpenPath = (asking: Asking) => Reply | undefined;

export interface Vendor {
  readonly name: string;
  /** @throws Refusal when the credential is absent or wrong. */
  authorise(headers: IncomingHttpHeaders, query: URLSearchParams, asking: Asking): void;
  readonly open?: OpenPath;
  /** The route of a path below the vendor's prefix; undefined for 404. */
  route(method: string, path: string, query: URLSearchParams): Route | undefined;
  /** The body of an error in the vendor's shape. */
  errorBody(status: number, failure: Failure): Json;
  /** Headers every answer of this vendor carries. */
  headers(): Readonly<Record<string, string>>;
}

/** Keys that open the sandbox: `sandbox`, or anything that starts with it. */
export function isSandboxKey(key: string | undefined): boolean {
  return key !== undefined && key.startsWith("sandbox");
}

/** The address of a path of the sandbox, under the name by which the caller reached it. */
export const linkTo = ({ headers }: Call, path: string): string => originOf(headers) + path;

export const originOf = (headers: IncomingHttpHeaders): string =>
  `${headers["x-forwarded-proto"] === "https" ? "https" : "http"}://${headers.host ?? "localhost"}`;

/** The token of an `Authorization: Bearer` header. */
export function bearer(headers: IncomingHttpHeaders): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}
