/** Makes images, videos and vectors: sends one request and reads its result. */
import { asApiError } from "../../api/errors.ts";
import { randomId } from "../../base/ids.ts";
import { callGateway, idOf } from "./call.ts";
import { listAt, textAt } from "./json.ts";
import { blobOf } from "./pictures.ts";

/** The request. */
export interface GenerationRequest {
  readonly path: string;
  readonly body: object | FormData;
}

export interface Output {
  readonly pictures: readonly Blob[];
  readonly vectors: readonly (readonly number[])[];
  /** Set if the work continues after the response. */
  readonly taskId?: string;
  /** The id of the call's log row; a task's row has the task's id. */
  readonly requestId?: string;
}

export const tasksPath = "/v1/tasks";

/** Detects the type of a base64 image by its first bytes. */
const beginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ["iVBOR", "image/png"],
  ["/9j/", "image/jpeg"],
  ["UklGR", "image/webp"],
];

function pictureOf(item: unknown): Blob[] {
  const base64 = textAt(item, "b64_json");
  const type = beginnings.find(([beginning]) => base64.startsWith(beginning))?.[1];
  return type === undefined ? [] : [blobOf({ base64, mediaType: type })];
}

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((one) => typeof one === "number");

/** @throws ApiError what the gateway refuses; AbortError where the reader stopped it */
export async function generate(
  { path, body }: GenerationRequest,
  keyId: string,
  signal: AbortSignal,
): Promise<Output> {
  const isTask = path === tasksPath;
  const request = {
    keyId,
    path,
    body,
    signal,
    ...(isTask && { headers: { "idempotency-key": randomId() } }),
  };
  const response = await callGateway(request).catch((error: unknown) => {
    // It is unknown whether the request arrived. With the same Idempotency-Key, a resend creates no second task.
    if (isTask && asApiError(error).status === 0 && !signal.aborted) return callGateway(request);
    throw error;
  });
  const answer: unknown = await response.json();
  const nothing = { pictures: [], vectors: [] };
  if (isTask) return { ...nothing, taskId: textAt(answer, "id") };
  const items = listAt(answer, "data");
  return {
    requestId: idOf(response),
    pictures: items.flatMap(pictureOf),
    vectors: items.map((item) => (item as { embedding?: unknown }).embedding).filter(isNumbers),
  };
}
