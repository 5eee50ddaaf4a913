/** Small rules of the way to a provider: status lines, bodies in base64, keys of AWS, addresses, what must not leak. */
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { checkAddress } from "../../src/upstream/guarded-address.ts";
import { parseHead } from "../../src/upstream/http1/head.ts";
import { awsKeys } from "../../src/upstream/identity/aws.ts";
import { maskAlso, withoutCredentials } from "../../src/upstream/masking.ts";
import { streamedBody } from "../../src/upstream/media/streamed-body.ts";
import { outcomeOfStatus } from "../../src/upstream/index.ts";
import { provider } from "./media-support.ts";

const key = "sk-proj-Ab3/dE+fGh1jKlMn0pQrStUvWxYz4567";
const vendor = () => ({
  ...provider("openai", "https://api.openai.com/v1"),
  credentials: [{ id: "k", apiKey: key, weight: 1 }],
});

describe("credentials in what a vendor says", () => {
  const escaped = Array.from(key, (one) => `\\u00${one.charCodeAt(0).toString(16)}`).join("");

  it("an escaped one before a plain one is masked too", () => {
    const text = withoutCredentials(vendor(), `{"one":"${escaped}","other":"${key}"}`);
    expect(text).toBe('{"one":"[credential]","other":"[credential]"}');
  });

  it("two without anything between them are masked", () => {
    expect(withoutCredentials(vendor(), `<${key}${key}>`)).toBe("<[credential]>");
  });

  it("a token that is fetched again and again does not push out the others", () => {
    const known = vendor();
    maskAlso(known, "first-token-0123456789");
    for (let count = 0; count < 5; count += 1) maskAlso(known, "other-token-9876543210");
    const text = withoutCredentials(known, "first-token-0123456789 other-token-9876543210");
    expect(text).toBe("[credential] [credential]");
  });
});

it.each([
  "HTTP/1.1 2a0 OK",
  "HTTP/1.1 20/ OK",
  "HTTP/1.1 099 OK",
  "HTTP/1.2 200 OK",
  "HTTP/1.1200 OK",
])("%s is no status line", (line) => {
  expect(() => parseHead(`${line}\r\n\r\n`, 0)).toThrow("status line");
});

it("a time of 0 in a refusal's body is none", () => {
  const retryAfter = (seconds: number) =>
    outcomeOfStatus(
      { status: 429, wire: { message: "no", retryAfterSeconds: seconds }, retryAfter: undefined },
      0,
    ).credential?.retryAfterMs;
  expect(retryAfter(3)).toBe(3_000);
  expect(retryAfter(0)).toBeUndefined();
});

it("a file goes into a body as base64, however it is cut into chunks", async () => {
  const bytes = Buffer.from(Array.from({ length: 50 }, (_one, index) => index * 5));
  for (const size of [1, 2, 3, 4, 7, 50]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_one, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const upload = { bytes: bytes.length } as never;
    const body = streamedBody(["<", { upload, as: "base64" }, ">"], () => Readable.from(chunks));
    if (typeof body === "string") throw new Error(body);
    const pieces = (await body.open().toArray()) as Buffer[];
    const sent = Buffer.concat(pieces).toString();
    // It is never whole in memory: what can go, goes.
    expect(pieces.length).toBeGreaterThanOrEqual(Math.min(chunks.length, bytes.length / 3));
    expect(sent).toBe(`<${bytes.toString("base64")}>`);
    expect(body.contentLength).toBe(sent.length);
  }
});

it("every secret of AWS keys is known for masking: the session token too, where there is one", async () => {
  const auth = {
    region: "us-east-1",
    service: "bedrock",
    accessKeyId: "AKIA",
    secretAccessKey: "secret",
  };
  const secrets = async (more: object) =>
    (await awsKeys({ ...auth, ...more } as never)).value.secrets;
  expect(await secrets({})).toEqual(["secret"]);
  expect(await secrets({ sessionToken: "session" })).toEqual(["secret", "session"]);
});

it("with private addresses allowed, an address is not resolved when it is named", async () => {
  const resolve = () => Promise.reject(new Error("resolved"));
  const rule = { allowPrivate: true, param: "url", resolve };
  const { url, addresses } = await checkAddress("http://inner.example/a", rule as never);
  expect({ url: String(url), addresses }).toEqual({ url: "http://inner.example/a", addresses: [] });
});
