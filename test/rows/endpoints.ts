/** Every endpoint that takes a key, with a minimal call. Rows about "every endpoint" use this list. */
import { generateContent, protocols } from "./protocols.ts";

export interface Endpoint {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
}

const streamed = protocols.map((protocol) => ({
  name: `${protocol.name}, streamed`,
  method: "POST" as const,
  path: protocol.path(protocol.model, true),
  body: protocol.body(protocol.model, true),
}));
const whole = protocols.map((protocol) => ({
  name: protocol.name,
  method: "POST" as const,
  path: protocol.path(protocol.model, false),
  body: protocol.body(protocol.model, false),
}));

export const endpoints: readonly Endpoint[] = [
  ...whole,
  ...streamed,
  {
    name: "generate_content, array",
    method: "POST",
    path: "/v1beta/models/acme/gemini:streamGenerateContent",
    body: generateContent.body("", true),
  },
  { name: "models", method: "GET", path: "/v1/models" },
  { name: "one model", method: "GET", path: "/v1/models/acme/chat" },
  { name: "models, generateContent shape", method: "GET", path: "/v1beta/models" },
  {
    name: "one model, generateContent shape",
    method: "GET",
    path: "/v1beta/models/acme/gemini",
  },
  { name: "the key itself", method: "GET", path: "/v1/key" },
];

/** The endpoints for `it.each`, with their names first. */
export const eachEndpoint = endpoints.map((endpoint) => [endpoint.name, endpoint] as const);

/** True for endpoints that also answer without a key (AUTH-06). */
export const isPublic = (endpoint: Endpoint): boolean =>
  endpoint.method === "GET" && endpoint.path !== "/v1/key";

/** Calls an endpoint with exactly these headers, and reads the whole answer. */
export async function callEndpoint(
  url: string,
  endpoint: Endpoint,
  headers: Record<string, string>,
): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(url + endpoint.path, {
    method: endpoint.method,
    headers: { "content-type": "application/json", ...headers },
    ...(endpoint.body === undefined ? {} : { body: JSON.stringify(endpoint.body) }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** The statuses of all endpoints with one key. All are called at once, so that each is the key's first call. */
export function callAllEndpoints(url: string, key: string): Promise<[string, number][]> {
  return Promise.all(
    endpoints.map(async (endpoint): Promise<[string, number]> => {
      const { status } = await callEndpoint(url, endpoint, bearer(key));
      return [endpoint.name, status];
    }),
  );
}

export const allStatuses = (status: number): [string, number][] =>
  endpoints.map(({ name }) => [name, status]);

/** The gateway's error code in an answer, in any protocol's format. */
export function errorCode(text: string): string | undefined {
  const { error } = JSON.parse(text) as {
    error: {
      code?: string | number | null;
      details?: { error_code?: string } | { reason?: string }[] | null;
    };
  };
  if (Array.isArray(error.details)) {
    const reason = error.details.find((detail) => detail.reason !== undefined)?.reason;
    return reason?.toLowerCase();
  }
  return error.details?.error_code ?? (typeof error.code === "string" ? error.code : undefined);
}
