/** Every kind of text call in turn: whole and streamed, direct and converted, large ones, invalid ones, and callers that disconnect. */

interface Load {
  readonly url: string;
  readonly key: string;
}

interface LoadSeen {
  readonly calls: number;
  /** Unexpected answers. */
  readonly surprises: readonly string[];
}

interface Call {
  readonly path: string;
  readonly body: object | string;
  readonly status: number;
  /** True if the caller disconnects at the answer's first bytes. */
  readonly leaves?: boolean;
}

const shortConversation = [{ role: "user", content: "Tell me about foxes." }];
const long = Array.from({ length: 60 }, (_, turn) => ({
  role: turn % 2 === 0 ? "user" : "assistant",
  content: `Turn ${turn}: ${"the quick brown fox jumps over the lazy dog; ".repeat(40)}`,
}));
const chat = "/v1/chat/completions";

const calls: readonly Call[] = ["acme/chat", "acme/messages"].flatMap((model) => [
  { path: chat, body: { model, messages: shortConversation }, status: 200 },
  { path: chat, body: { model, messages: shortConversation, stream: true }, status: 200 },
  {
    path: chat,
    body: { model, messages: shortConversation, stream: true },
    status: 200,
    leaves: true,
  },
  { path: chat, body: { model, messages: [...long, ...shortConversation] }, status: 200 },
  {
    path: "/v1/messages",
    body: { model, messages: shortConversation, max_tokens: 64 },
    status: 200,
  },
  {
    path: "/v1/messages",
    body: { model, messages: shortConversation, max_tokens: 64, stream: true },
    status: 200,
  },
  { path: "/v1/responses", body: { model, input: "Foxes." }, status: 200 },
  { path: "/v1/responses", body: { model, input: "Foxes.", stream: true }, status: 200 },
  {
    path: `/v1beta/models/${model}:streamGenerateContent`,
    body: { contents: [{ role: "user", parts: [{ text: "Foxes." }] }] },
    status: 200,
  },
  { path: chat, body: { model: "acme/none", messages: shortConversation }, status: 404 },
  { path: chat, body: '{"model":', status: 400 },
]);

const callers = 8;

/** Calls for `ms` milliseconds. */
export async function mixedLoad(load: Load, ms: number): Promise<LoadSeen> {
  const until = performance.now() + ms;
  const surprises = new Set<string>();
  let count = 0;
  const caller = async (first: number): Promise<void> => {
    for (let at = first; performance.now() < until; at += 1) {
      const call = calls[at % calls.length]!;
      const surprise = await ask(load, call);
      if (surprise !== undefined) surprises.add(surprise);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(index * 3)));
  return { calls: count, surprises: [...surprises] };
}

/** The deviation from the expected answer; undefined if there is none. */
async function ask({ url, key }: Load, { path, body, status, leaves }: Call) {
  const leaving = new AbortController();
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal: leaving.signal,
  });
  if (leaves === true) leaving.abort();
  else await response.arrayBuffer();
  return response.status === status ? undefined : `${path}: ${response.status}`;
}
