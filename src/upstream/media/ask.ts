/**
 * One ask to a media vendor: it sends the request and reads the bounded answer, whole or as a stream. An error says whether the vendor may
 * have received the request, because a job that costs money is never submitted twice (T81). docs/tasks.md.
 */
import type { Dispatcher } from "undici";
import type { Provider } from "../../catalog/index.ts";
import { withAccess } from "../access.ts";
import { acceptEncoding } from "../decoding.ts";
import { AskHandler, type IsStream, type MediaAnswer, type StreamedAnswer } from "./ask-handler.ts";
import type { AskLimits, MediaAsk } from "./types.ts";
import { isSuccess } from "./wire.ts";

/** The connections to the provider's origin. */
type Connections = Pick<Dispatcher, "dispatch">;

const mebibyte = 1024 * 1024;
const bytesMaxDefault = 128 * mebibyte;
/** The largest picture, 3840x2160 of noise with transparency, is a PNG of 33 MB, in base64 45 MB. */
const pictureBytesMax = 48 * mebibyte;

/**
 * Sends a request and reads the whole answer, whatever its status. `pool` is the one of the provider's origin.
 * @throws AskFailure if there is no whole answer within the limits.
 */
export function ask(
  pool: Connections,
  provider: Provider,
  request: MediaAsk,
  limits: AskLimits = {},
): Promise<MediaAnswer> {
  return dispatch({ pool, provider, request, limits, streams: undefined }) as Promise<MediaAnswer>;
}

/**
 * Sends a request for a stream. Any other answer (a refusal, or a vendor that does not stream after all) is read whole.
 * @throws AskFailure if there is no head, or no whole answer, within the limits.
 */
export function askForStream(
  pool: Connections,
  provider: Provider,
  request: MediaAsk,
  limits: AskLimits = {},
): Promise<MediaAnswer | StreamedAnswer> {
  return dispatch({ pool, provider, request, limits, streams: isEventStream });
}

/** True if a good answer's head announces a stream of events. */
const isEventStream: IsStream = ({ status, headers }) =>
  isSuccess(status) &&
  (headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");

interface Asking {
  readonly pool: Connections;
  readonly provider: Provider;
  readonly request: MediaAsk;
  readonly limits: AskLimits;
  readonly streams: IsStream | undefined;
}

/** Returns the most bytes of an answer, and of one that is kept whole. */
function bytesOf({ bytesMax: given, room }: AskLimits, pictures: number) {
  const bytesMax = given ?? Math.max(bytesMaxDefault, pictures * pictureBytesMax);
  const roomBytes = Math.max(room?.bytesMax ?? Infinity, pictureBytesMax);
  return { bytesMax, keptBytesMax: Math.min(bytesMax, roomBytes) };
}

function dispatch({ pool, provider, request, limits, streams }: Asking) {
  const { timeouts } = provider;
  return new Promise<MediaAnswer | StreamedAnswer>((resolve, reject) => {
    const { method, path, headers, body, pictures = 0 } = withAccess(provider, request);
    const stream = typeof body === "object" ? body.open() : undefined;
    const settling = { resolve, reject, stream };
    const totalMs = limits.totalMs ?? timeouts.totalMs;
    const { signal, room, maySend, traceparent } = limits;
    const bounds = { totalMs, ...bytesOf(limits, pictures), signal, streams, room, maySend };
    const handler = new AskHandler(bounds, settling);
    const length =
      typeof body === "object" ? { "content-length": String(body.contentLength) } : undefined;
    // Base64 is a third longer than its picture. A stream is not compressed, so that no compressor delays its events.
    const coding =
      pictures > 0 && streams === undefined ? { "accept-encoding": acceptEncoding } : undefined;
    pool.dispatch(
      {
        method,
        path,
        headers: { ...headers, ...length, ...coding, ...(traceparent && { traceparent }) },
        body: stream ?? (typeof body === "string" ? body : null),
        headersTimeout: limits.firstByteMs ?? timeouts.firstByteMs * (1 + pictures),
        bodyTimeout: limits.idleMs ?? timeouts.idleMs,
      },
      handler,
    );
  });
}
