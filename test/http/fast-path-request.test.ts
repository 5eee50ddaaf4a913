// Which requests are read as plain: only the strict form, nothing ambiguous.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPlainRequest } from "../../src/http/front/fast/request.ts";
import { bytesOf, harmless, oddities, type Parts } from "./fast-path-oddities.ts";

const body = '{"model":"a"}';
const plain: Parts = {
  line: "POST /v1/chat/completions HTTP/1.1",
  headers: [
    "Host: gateway",
    "Authorization: Bearer key",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ],
  body,
};

describe("a plain request", () => {
  it("is read with its path, its headers in lower case and its body", () => {
    const read = readPlainRequest(bytesOf(plain))!;
    expect(read).toMatchObject({ method: "POST", url: "/v1/chat/completions" });
    expect(read.headers).toMatchObject({
      host: "gateway",
      authorization: "Bearer key",
      "content-type": "application/json",
      "content-length": "13",
    });
    expect(read.body.toString()).toBe(body);
  });

  it.each(harmless)("may have %s", (_name, change) => {
    expect(readPlainRequest(bytesOf(change(plain)))).toBeDefined();
  });

  it("has header values without surrounding blanks, as Latin-1", () => {
    const odd = { ...plain, headers: [...plain.headers, "X-Api-Key: \t a \u00e9\tb \t"] };
    expect(readPlainRequest(bytesOf(odd))!.headers["x-api-key"]).toBe("a \u00e9\tb");
  });
});

describe("a body that still arrives", () => {
  it("starts with the bytes received so far, and its announced length is known", () => {
    const bytes = bytesOf(plain);
    for (let missing = 0; missing <= body.length; missing += 1) {
      const read = readPlainRequest(bytes.subarray(0, bytes.length - missing))!;
      expect(read.body.toString()).toBe(body.slice(0, body.length - missing));
      expect(read.length).toBe(body.length);
    }
  });
});

describe("a request that is left to Node", () => {
  it.each(oddities)("has %s", (_name, change) => {
    expect(readPlainRequest(bytesOf(change(plain)))).toBeUndefined();
  });

  it("has an incomplete head, or bytes before or after it", () => {
    const bytes = bytesOf(plain);
    for (let end = 0; end < bytes.length - body.length; end += 1)
      expect(readPlainRequest(bytes.subarray(0, end))).toBeUndefined();
    for (const extra of ["\r\n", " ", "a", bytes.toString()]) {
      expect(readPlainRequest(Buffer.from(bytes.toString() + extra))).toBeUndefined();
      expect(readPlainRequest(Buffer.from(extra + bytes.toString()))).toBeUndefined();
    }
  });

  it("has a control character anywhere in its head", () => {
    const head = bytesOf({ ...plain, body: "" }).length - 4;
    const control = fc.constantFrom(0, 1, 8, 10, 11, 12, 13, 27, 127);
    fc.assert(
      fc.property(fc.nat(head - 1), control, (at, code) => {
        const bytes = bytesOf(plain);
        fc.pre(bytes[at] !== 13 && bytes[at] !== 10 && bytes[at] !== code);
        bytes[at] = code;
        expect(readPlainRequest(bytes)).toBeUndefined();
      }),
    );
  });
});
