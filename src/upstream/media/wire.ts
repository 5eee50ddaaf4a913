/** Helpers of the media dialects: headers, paths, and reading any JSON without ever throwing. */
import { snakeName } from "../../base/casing.ts";
import { counted } from "../../base/counted.ts";
import { isObject, parseJsonObject, type WireObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import { shortText, storableText } from "../../base/text.ts";
import type { Provider } from "../../catalog/index.ts";
import type { ImageRequest, VideoRequest } from "../../media/index.ts";
import { upstreamErrors } from "../../protocols/index.ts";
import { mistakeInAnswer } from "../mistake-in-answer.ts";
import { statusInAnswer } from "../status-in-answer.ts";
import type { MediaAsk, MediaBody, MediaRefusal, MediaState } from "./types.ts";

/** Returns the JSON object of a body, or undefined. */
export function readObject(body: Buffer): WireObject | undefined {
  try {
    return parseJsonObject(body);
  } catch {
    return undefined;
  }
}

/** Returns an object member, or an empty object. */
export const objectIn = (value: unknown): WireObject => (isObject(value) ? value : {});

/** Returns a non-empty string that the database can store, or undefined. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === "string" ? storableText(value) || undefined : undefined;

/** Returns the beginning of such a string. */
export const shortIn = (value: unknown, lengthMax: number): string | undefined => {
  const text = textIn(value);
  return text && shortText(text, lengthMax);
};

/** A job id is stored in its task's row, and is in the path of each poll. */
const jobIdMax = 512;

/** Ids that would change the path. */
const steps = [".", ".."];

/** Returns a vendor's job id, a text or a number; undefined if it is invalid. */
export function jobIdIn(value: unknown): string | undefined {
  const id = Number.isSafeInteger(value) ? String(value) : textIn(value);
  return id !== undefined && id.length <= jobIdMax && !steps.includes(id) ? id : undefined;
}

const vendorTextMax = 2000;
const nameMax = 200;

/** Bytes that are read of a body that is not JSON: more than is shown of it. */
const plainBytesMax = 16_384;

/** Reads an error body, in any shape that text vendors use: objects, lists of findings, plain text, pages. */
export function readRefusal(status: number, body: Buffer): MediaRefusal {
  const said = readObject(body) ?? body.toString("utf8", 0, plainBytesMax);
  const { message, code, type, param } = upstreamErrors("chat").decodeError(status, said);
  return {
    state: "refused",
    status,
    code: shortIn(code, nameMax),
    type: shortIn(type, nameMax),
    message: shortIn(message, vendorTextMax) ?? `the provider answered ${status}`,
    param: shortIn(param, nameMax),
  };
}

/** A success that does not answer the request. */
export const unusable = (status: number, reason: string): MediaRefusal => ({
  state: "refused",
  status,
  message: `the provider's answer cannot be used: ${reason}`,
  unusable: reason,
});

/**
 * Reads an error in an answer that began with a good status. An error about rate, account or request means the same as its usual status
 * would.
 */
export function errorInBody(began: number, body: Buffer): MediaRefusal {
  const told = upstreamErrors("chat").decodeError(began, readObject(body));
  const status = mistakeInAnswer(told) ? 400 : (statusInAnswer(told) ?? began);
  return { ...readRefusal(began, body), status };
}

/** True if an object contains an error, in the form of any media vendor. */
function isError({ error, code, message }: WireObject): boolean {
  if (isObject(error)) return Object.keys(error).length > 0;
  return (
    textIn(error) !== undefined || (textIn(code) !== undefined && textIn(message) !== undefined)
  );
}

/** Returns the refusal for a success that does not have the expected content. */
export function unreadable(status: number, body: Buffer): MediaRefusal {
  if (body.length === 0) return unusable(status, "it is empty");
  const wire = readObject(body);
  if (wire === undefined)
    return unusable(
      status,
      `it is ${counted(body.length, "byte that is", "bytes that are")} no JSON object`,
    );
  if (!isError(wire)) return unusable(status, "it is JSON without what was asked for");
  const told = errorInBody(status, body);
  return told.status === status ? { ...told, unusable: "it is an error" } : told;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** True if the answer is about the requested job, or names none. */
export function isOfJob(named: unknown, id: string): boolean {
  if (typeof named === "number") return String(named) === id;
  return typeof named !== "string" || named === "" || named === id;
}

/** The refusal for an answer about another job: its content may be another customer's. */
export const ofAnotherJob = (status: number): MediaRefusal =>
  unusable(status, "it is about another job");

/** Reads the state of a job; `read` gets the object of a success, and returns undefined if that has no state. */
export function readJob(
  status: number,
  body: Buffer,
  read: (wire: WireObject) => MediaState | MediaRefusal | undefined,
): MediaState | MediaRefusal {
  if (status === 404 || status === 410) return { state: "missing" };
  if (!isSuccess(status)) return readRefusal(status, body);
  const wire = readObject(body);
  if (!wire) return unreadable(status, body);
  return read(wire) ?? (isError(wire) ? errorInBody(status, body) : { state: "pending" });
}

/** True for the state of a canceled job. Vendors and the relays before them spell it with one l or two. */
export const isCanceledState = (state: unknown): boolean =>
  typeof state === "string" && /^cancell?ed$/i.test(state);

const accepted = 202;

/**
 * Reads whether a vendor confirms that a job stops: a success that says nothing else. `stateIn` finds the job's id and state in it, if
 * present. Any doubt is a refusal: the job goes on, and its next poll reads the actual state.
 */
export function readCanceled(
  status: number,
  body: Buffer,
  stateIn: (wire: WireObject) => { readonly isOfJob: boolean; readonly isCanceled: boolean },
): "canceled" | "refused" {
  if (!isSuccess(status) || status === accepted) return "refused";
  if (body.length === 0) return "canceled";
  const wire = readObject(body);
  if (!wire || isObject(wire["error"]) || textIn(wire["error"] ?? wire["code"])) return "refused";
  const { isOfJob, isCanceled } = stateIn(wire);
  return isOfJob && isCanceled ? "canceled" : "refused";
}

/** Reads whether a job was accepted: its id is the member `name`. */
export function readAccepted(
  status: number,
  body: Buffer,
  name: string,
): MediaState | MediaRefusal {
  if (!isSuccess(status)) return readRefusal(status, body);
  const id = jobIdIn(readObject(body)?.[name]);
  return id === undefined ? unreadable(status, body) : { state: "pending", id };
}

/** Builds a request to a bearer vendor. `path` goes below the base URL's own path; `apiKey` is empty if none is needed. */
export function bearerAsk(
  provider: Provider,
  apiKey: string,
  ask: Pick<MediaAsk, "method" | "path"> & {
    readonly body?: MediaBody | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
  },
): MediaAsk {
  return {
    method: ask.method,
    path: basePath(provider) + ask.path,
    headers: {
      accept: "application/json",
      "user-agent": "tollgate",
      ...(ask.body === undefined ? {} : { "content-type": "application/json" }),
      ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
      ...ask.headers,
    },
    ...(ask.body === undefined ? {} : { body: ask.body }),
  };
}

/** The path part of a base URL, without a trailing slash. */
export const basePath = (provider: Provider): string =>
  new URL(provider.baseUrl).pathname.replace(/\/$/, "");

const asksNothing = (value: unknown): boolean =>
  value === undefined || value === "auto" || (Array.isArray(value) && value.length === 0);

type Field = keyof VideoRequest | keyof ImageRequest;

/** The unified name of a request's field. */
const fieldName = (field: Field): string =>
  ({ cameraFixed: "camera_fixed", firstFrame: "image", references: "reference_images" })[
    field as string
  ] ?? snakeName(field);

/** Returns notes for the given fields that a request has. `auto` requests nothing in particular, so nothing is lost with it. */
export function droppedFields(
  request: VideoRequest | ImageRequest,
  fields: readonly Field[],
): Note[] {
  const values = request as unknown as Readonly<Record<string, unknown>>;
  return fields
    .filter((field) => !asksNothing(values[field]))
    .map((field) => ({
      param: fieldName(field),
      kind: "dropped",
      detail: "not supported by this model's provider, dropped",
    }));
}
