/** Shared by the tests of the management API: a gateway with a known admin token, and helpers to call it. */
import { startTestGateway } from "../support/gateway.ts";

export const adminToken = "test-admin-token-of-some-length";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the JSON of many endpoints, looked into by tests
  readonly json: any;
}

/** Makes one call of a gateway's management API. */
export async function call(
  url: string,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path.startsWith("/auth") ? "" : "/admin/v1"}${path}`, {
    method,
    headers: {
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(options.body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await response.text();
  const json: unknown = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, json };
}

/** A gateway with a known admin token, and calls with that token. */
export async function startAdminGateway(options: Parameters<typeof startTestGateway>[0] = {}) {
  const gateway = await startTestGateway({
    ...options,
    environment: { TOLLGATE_ADMIN_TOKEN: adminToken, ...options.environment },
  });
  return {
    ...gateway,
    admin: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      call(gateway.url, method, path, { token: adminToken, body, headers }),
  };
}

export type AdminGateway = Awaited<ReturnType<typeof startAdminGateway>>;
