/** A test reader of the management API's event stream: the events by kind, and the position for resuming. */
import { createSseParser } from "../../src/base/sse.ts";
import { eventually } from "../support/patience.ts";

export interface OpenStream {
  readonly status: number;
  readonly events: readonly { readonly type: string; readonly data: Record<string, unknown> }[];
  /** The last id received. */
  id(): string | undefined;
  /** Everything received, as sent. */
  text(): string;
  /** The ids of rows so far, in order. */
  rows(topic?: string): string[];
  /** Waits for an event of this type. */
  until(type: string): Promise<Record<string, unknown>>;
  /** Resolves when the gateway has ended the stream. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

interface StreamOptions {
  readonly cookie?: string;
  readonly token?: string;
  readonly lastEventId?: string | undefined;
}

/** Opens `/admin/v1/events` with a query. If the gateway refuses it, `status` says so and no event comes. */
export async function openStream(
  gateway: { readonly url: string },
  query: string,
  { cookie, token, lastEventId }: StreamOptions,
): Promise<OpenStream> {
  const controller = new AbortController();
  const answer = await fetch(`${gateway.url}/admin/v1/events?${query}`, {
    signal: controller.signal,
    headers: {
      ...(cookie !== undefined && { cookie }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    },
  });
  const events: { type: string; data: Record<string, unknown> }[] = [];
  let text = "";
  const parser = createSseParser();
  async function read(): Promise<void> {
    try {
      for await (const bytes of answer.body!) {
        text += Buffer.from(bytes).toString();
        for (const { event = "message", data } of parser.push(bytes))
          events.push({ type: event, data: JSON.parse(data) as Record<string, unknown> });
      }
    } catch {
      // The test closed the stream, or it was cut.
    }
  }
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const ended = isStream ? read() : Promise.resolve();
  return {
    status: answer.status,
    events,
    id: () => [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1],
    text: () => text,
    rows: (topic = "requests") =>
      events
        .filter(({ type, data }) => type === "row" && data["topic"] === topic)
        .map(({ data }) => (data["row"] as { id: string }).id),
    until: (type) =>
      eventually(() => events.find((one) => one.type === type)?.data, `an event ${type}`),
    ended,
    async close() {
      controller.abort();
      await ended;
    },
  };
}
