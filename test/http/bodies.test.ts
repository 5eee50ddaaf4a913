/** Request bodies: limits by path, compressed bodies, the budget of bodies in flight, odd characters, odd types. */
import { connect } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { json, startRecorder } from "../support/recorder.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const adminToken = "bodies-test-admin-token-0123456789";
let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway({ environment: { TOLLGATE_ADMIN_TOKEN: adminToken } });
});
afterAll(() => gateway.close());

interface Refused {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly param: string | null;
  };
}

const post = (
  path: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
) =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
const withKey = () => ({ authorization: `Bearer ${gateway.key}` });
const asAdmin = () => ({ authorization: `Bearer ${adminToken}` });
const refusalOf = async (response: Response) => ({
  status: response.status,
  code: ((await response.json()) as Refused).error.code,
});

describe("limits by path", () => {
  const padded = (kilobytes: number, fields: object = {}) =>
    JSON.stringify({ ...fields, padding: "x".repeat(kilobytes * 1024) });

  it("sign-in bodies of more than 16 kB are refused before they are parsed", async () => {
    const longer = await post("/auth/sign-in/email", `[${padded(16)}`);
    expect(await refusalOf(longer)).toEqual({ status: 413, code: "request_too_large" });
    const shorter = await post("/auth/sign-in/email", `[${padded(15)}`);
    expect(await refusalOf(shorter)).toEqual({ status: 400, code: "invalid_json" });
  });

  it("the management API accepts 4 MB, its catalog 16 MB, and no body is read without a credential", async () => {
    const longer = padded(4 * 1024 + 1);
    const list = (kilobytes: number) => post("/admin/v1/catalog", padded(kilobytes), asAdmin());
    expect((await list(8 * 1024)).status).toBe(400);
    expect((await list(16 * 1024 + 1)).status).toBe(413);
    expect((await post("/admin/v1/keys", longer, asAdmin())).status).toBe(413);
    expect((await post("/admin/v1/keys", padded(3 * 1024), asAdmin())).status).toBe(400);
    expect((await post("/admin/v1/keys", longer)).status).toBe(401);
  });

  it("text endpoints refuse more than 32 MB, which media endpoints accept", async () => {
    const body = padded(33 * 1024, { model: "sandbox/unknown", messages: [] });
    const text = await post("/v1/chat/completions", body, withKey());
    const refused = (await text.json()) as Refused;
    expect(text.status).toBe(413);
    expect(refused.error.message).toContain("limits.text_body_mb");
    expect((await post("/v1/tasks", body, withKey())).status).toBe(404);
  });
});

describe("compressed bodies", () => {
  const hello = (text = "Hello") =>
    JSON.stringify({
      model: "sandbox/chat",
      max_tokens: 20,
      messages: [{ role: "user", content: text }],
    });
  /** Compresses at a low quality: brotli's default takes a second where the others take ten milliseconds. */
  const brotli = (text: string | Buffer) =>
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
  const codings = {
    gzip: gzipSync,
    "x-gzip": gzipSync,
    br: brotli,
    zstd: zstdCompressSync,
  } as const;

  // Short bodies arrive in one read and take the fast path; long ones go through Node.
  const texts = { short: "Hello", long: Array.from({ length: 60_000 }, (_, n) => n).join(" ") };
  it.each(Object.entries(codings))(
    "%s is decoded, in short and long bodies",
    async (encoding, compress) => {
      for (const text of Object.values(texts)) {
        const body = compress(hello(text));
        const response = await post("/v1/chat/completions", body, {
          ...withKey(),
          "content-encoding": encoding,
        });
        expect(response.status).toBe(200);
      }
      const counted = await post("/v1/messages/count_tokens", compress(hello()), {
        ...withKey(),
        "content-encoding": encoding,
      });
      expect(counted.status).toBe(200);
      const managed = await post("/admin/v1/workspaces", compress('{"name":"Compressed"}'), {
        ...asAdmin(),
        "content-encoding": encoding,
      });
      expect(managed.status).toBe(201);
    },
  );

  it("other codings, chained codings, forms and sign-in bodies get 415 with the accepted codings", async () => {
    const ask = async (path: string, encoding: string, type = "application/json") => {
      const body = deflateSync(hello());
      const headers = { ...withKey(), "content-encoding": encoding, "content-type": type };
      const response = await post(path, body, headers);
      const accepted = response.headers.get("accept-encoding");
      return { ...(await refusalOf(response)), accepted };
    };
    const refused = { status: 415, code: "unsupported_content_encoding" };
    const some = { ...refused, accepted: "gzip, br, zstd" };
    expect(await ask("/v1/chat/completions", "deflate")).toEqual(some);
    expect(await ask("/v1/tasks", "gzip, gzip")).toEqual(some);
    const none = { ...refused, accepted: "identity" };
    expect(await ask("/auth/sign-in/email", "gzip")).toEqual(none);
    expect(await ask("/v1/images/edits", "gzip", "multipart/form-data; boundary=x")).toEqual(none);
  });

  it("a corrupt compressed body is 400, and a decompression bomb is 413 at the limit of its path", async () => {
    const ask = async (path: string, body: Buffer<ArrayBuffer>, encoding: string) => {
      const headers = { ...asAdmin(), ...(path.startsWith("/v1") && withKey()) };
      return refusalOf(await post(path, body, { ...headers, "content-encoding": encoding }));
    };
    const broken = { status: 400, code: "malformed_request" };
    for (const [encoding, compress] of Object.entries(codings)) {
      expect(await ask("/v1/chat/completions", Buffer.from(hello()), encoding)).toEqual(broken);
      const cut = compress(hello()).subarray(0, 30);
      expect(await ask("/v1/chat/completions", cut, encoding)).toEqual(broken);
      const bomb = compress(Buffer.alloc(33 * 2 ** 20, " "));
      const tooLarge = { status: 413, code: "request_too_large" };
      expect(await ask("/v1/chat/completions", bomb, encoding)).toEqual(tooLarge);
      expect(await ask("/admin/v1/workspaces", bomb, encoding)).toEqual(tooLarge);
    }
  });
});

describe("the budget of bodies in flight", () => {
  it("leaves its last quarter to small bodies", () => {
    const budget = new ByteBudget(4_000_000);
    const [one, other, small] = [budget.lease(), budget.lease(), budget.lease()];
    one.take(2_500_000);
    expect(() => other.check(600_000)).toThrow(
      expect.objectContaining({ code: "overloaded", status: 503, retryAfterSeconds: 2 }) as Error,
    );
    small.take(200_000);
    expect(budget.heldBytes).toBe(2_700_000);
    one.release();
    one.release();
    other.take(600_000);
    other.release();
    small.release();
    other.take(1);
    expect(budget.heldBytes).toBe(0);
  });

  it("refuses a call above it with 503 at once, in its protocol's shape, and the next call is answered", async () => {
    const small = await startTestGateway({
      config: "limits: { body_mb: 2, text_body_mb: 2, bodies_under_way_mb: 2 }",
      sandbox: "on",
    });
    try {
      const body = JSON.stringify({
        model: "sandbox/chat",
        max_tokens: 9,
        x: "x".repeat(1_700_000),
      });
      for (const path of ["/v1/messages", "/v1/chat/completions", "/v1/images/generations"]) {
        const response = await fetch(`${small.url}${path}`, {
          method: "POST",
          body,
          headers: { authorization: `Bearer ${small.key}`, "content-type": "application/json" },
        });
        expect(response.status).toBe(503);
        expect(response.headers.get("retry-after")).toBe("2");
        const { error } = (await response.json()) as { error: { type: string; code?: string } };
        expect(error.type).toBe("overloaded_error");
      }
      await small.credit("10");
      const next = await small.post("/v1/chat/completions", {
        model: "sandbox/chat",
        messages: [{ role: "user", content: "Hello" }],
      });
      expect(next.status).toBe(200);
    } finally {
      await small.close();
    }
  });
});

describe("a vendor's error", () => {
  it("counts against the budget of bodies in flight, and is passed on if it fits", async () => {
    let length = 1_000;
    const vendor = await startRecorder((request, response) =>
      json({ error: { message: "x".repeat(length), type: "invalid_request_error" } }, 400)(
        request,
        response,
      ),
    );
    const limits = "limits: { body_mb: 0.1, text_body_mb: 0.1, bodies_under_way_mb: 0.2 }";
    const small = await startTestGateway({ config: `${limits}\n${vendorConfig(vendor.url)}` });
    const ask = async () => {
      const answer = await small.post("/v1/chat/completions", {
        model: "acme/chat",
        messages: [{ role: "user", content: "Hello" }],
      });
      const { error } = (await answer.json()) as { error: { type: string } };
      return `${answer.status} ${error.type}`;
    };
    try {
      await small.credit("10");
      expect(await ask()).toBe("400 invalid_request_error");
      length = 240_000;
      expect(await ask()).toBe("503 overloaded_error");
      length = 1_000;
      expect(await ask()).toBe("400 invalid_request_error");
    } finally {
      await small.close();
      await vendor.close();
    }
  });
});

const vendorConfig = (url: string) => `
providers:
  - { id: vendor, dialect: openai, base_url: "${url}/v1", api_key: secret, tier: official }
models:
  - id: acme/chat
    kind: text
    endpoints: [chat_completions]
    context_length: 100000
    max_output_tokens: 100
    offers:
      - { provider: vendor, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }
`;

describe("text that the database cannot store", () => {
  it.each(["\\u0000", "\\ud800", "a\\udc00b"])(
    "%s in a body is refused with 400",
    async (character) => {
      const created = await post("/admin/v1/workspaces", `{"name":"x${character}"}`, asAdmin());
      expect(await refusalOf(created)).toEqual({ status: 400, code: "invalid_value" });
      const signedIn = await post(
        "/auth/sign-in/email",
        `{"email":"a@example.com","password":"x${character}"}`,
      );
      expect(await refusalOf(signedIn)).toEqual({ status: 400, code: "invalid_value" });
    },
  );

  it.each([
    "/admin/v1/keys/key_%00",
    "/admin/v1/workspaces/%00",
    "/admin/v1/keys?after=%00",
    "/admin/v1/requests?model=a%00b",
    "/admin/v1/audit?actor=%00",
    "/admin/v1/keys/%ED%A0%80",
    "/auth/callback/oidc?state=%00&code=%00",
  ])("is refused with 400 in %s", async (path) => {
    const response = await fetch(`${gateway.url}${path}`, { headers: asAdmin() });
    expect(response.status).toBe(400);
  });
});

it("an image call whose `stream` is an object or array is refused with 400, naming the field", async () => {
  for (const stream of [{ toString: 1 }, [], { toString: "true" }]) {
    const body = JSON.stringify({ model: "sandbox/image-model-a", prompt: "a", stream });
    const response = await post("/v1/images/generations", body, withKey());
    expect(response.status).toBe(400);
    expect(((await response.json()) as Refused).error.param).toBe("stream");
  }
});

describe("a request with many headers", () => {
  /** The status line and the body's code of a raw request. */
  async function ask(headers: number, path: string): Promise<string> {
    const body = JSON.stringify({
      model: "sandbox/chat",
      messages: [{ role: "user", content: "a" }],
    });
    const many = Array.from({ length: headers - 5 }, (_, index) => `x${index}:1\r\n`).join("");
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${gateway.key}\r\nconnection: close\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n${many}\r\n${body}`,
    );
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    return `${answer.slice(9, 12)} ${/"code":"(\w+)"/.exec(answer)?.[1] ?? ""}`;
  }

  it("is read with up to 500 headers, and refused with 431 above that, on every path", async () => {
    for (const path of ["/v1/chat/completions", "/v1/chat/completions?x=1", "/v1/responses"])
      expect((await ask(500, path)).slice(0, 3)).not.toBe("431");
    for (const path of ["/v1/chat/completions", "/v1/chat/completions?x=1", "/admin/v1/keys"])
      expect(await ask(501, path)).toBe("431 request_too_large");
  });
});
