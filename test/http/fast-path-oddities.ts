/** Requests that are not plain, made from a plain one: each has one feature that Node's HTTP must handle. */

/** The parts of a request. */
export interface Parts {
  readonly line: string;
  readonly headers: readonly string[];
  readonly body: string;
}

const add =
  (...lines: string[]) =>
  (parts: Parts): Parts => ({ ...parts, headers: [...parts.headers, ...lines] });
const line =
  (change: (line: string) => string) =>
  (parts: Parts): Parts => ({ ...parts, line: change(parts.line) });
const without =
  (name: string, ...instead: string[]) =>
  (parts: Parts): Parts => ({
    ...parts,
    headers: [
      ...parts.headers.filter((one) => !one.toLowerCase().startsWith(`${name}:`)),
      ...instead,
    ],
  });
const length = (text: (bytes: number) => string) => (parts: Parts) =>
  without("content-length", `Content-Length: ${text(parts.body.length)}`)(parts);

/** Oddities by name that are visible in the head. Node decides the answer to each. */
export const oddHeads: readonly (readonly [string, (parts: Parts) => Parts])[] = [
  ["another method", line((one) => one.replace("POST", "PUT"))],
  ["a method in lower case", line((one) => one.replace("POST", "post"))],
  ["an unknown method", line((one) => one.replace("POST", "POSTS"))],
  ["HTTP/1.0", line((one) => one.replace("/1.1", "/1.0"))],
  ["HTTP/1.2", line((one) => one.replace("/1.1", "/1.2"))],
  ["HTTP/2.0", line((one) => one.replace("/1.1", "/2.0"))],
  ["no version", line((one) => one.replace(" HTTP/1.1", ""))],
  ["two spaces in the first line", line((one) => one.replace(" HTTP", "  HTTP"))],
  ["a tab in the first line", line((one) => one.replace("POST ", "POST\t"))],
  ["a space at the end of the first line", line((one) => `${one} `)],
  ["an absolute address", line((one) => one.replace(" /", " http://gateway/"))],
  ["an asterisk for a path", line(() => "POST * HTTP/1.1")],
  ["a fragment", line((one) => one.replace(" HTTP", "#a HTTP"))],
  ["a path beyond ASCII", line((one) => one.replace(" HTTP", "\u00e9 HTTP"))],
  ["a quote in the path", line((one) => one.replace(" HTTP", '?a="b" HTTP'))],
  ["a backslash in the path", line((one) => one.replace("/v1", "\\v1"))],
  ["a control character in the path", line((one) => one.replace(" HTTP", "\u0001 HTTP"))],
  ["an empty line before it", line((one) => `\r\n${one}`)],
  ["a bare LF in the first line", line((one) => one.replace("POST ", "POST\n"))],
  ["no host", without("host")],
  ["an empty host", without("host", "Host:")],
  ["two hosts", add("Host: other")],
  ["an empty length", length(() => "")],
  ["two lengths, the same", (parts) => add(`content-length: ${parts.body.length}`)(parts)],
  ["two lengths", add("Content-Length: 1")],
  ["two lengths in one", length((bytes) => `${bytes}, ${bytes}`)],
  ["a length with a sign", length((bytes) => `+${bytes}`)],
  ["a length with leading zeros", length((bytes) => `00${bytes}`)],
  ["a length in hexadecimal", length((bytes) => `0x${bytes.toString(16)}`)],
  ["a length with a point", length((bytes) => `${bytes}.0`)],
  ["a length beyond 2^64", length(() => "99999999999999999999999")],
  ["chunks and a length", add("Transfer-Encoding: chunked")],
  ["another transfer-encoding", add("Transfer-Encoding: identity")],
  ["chunks in mixed case", add("tRANSFER-eNCODING: chunked")],
  ["te", add("TE: trailers")],
  ["trailers", add("Trailer: x")],
  ["expect", add("Expect: 100-continue")],
  ["an unknown expectation", add("Expect: the-unexpected")],
  ["upgrade", add("Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: AAA")],
  ["upgrade without connection", add("Upgrade: websocket")],
  ["connection with two options", add("Connection: keep-alive, close")],
  ["connection: close, keep-alive", add("Connection: close, keep-alive")],
  ["connection: close, folded", add("Connection:\r\n close")],
  ["connection, empty", add("Connection:")],
  ["connection twice", add("Connection: keep-alive", "Connection: keep-alive")],
  ["proxy-connection", add("Proxy-Connection: keep-alive")],
  ["two keys", add("Authorization: Bearer a", "Authorization: Bearer b")],
  ["two x-api-key", add("X-Api-Key: a", "x-api-key: b")],
  ["two x-goog-api-key", add("X-Goog-Api-Key: a", "x-goog-api-key: a")],
  ["two api-key", add("Api-Key: a", "api-key: a")],
  ["two content types", add("content-type: text/plain")],
  ["two anthropic-beta", add("anthropic-beta: a", "anthropic-beta: b")],
  ["two anthropic-version", add("anthropic-version: a", "Anthropic-Version: b")],
  ["a space before the colon", add("X-A : b")],
  ["a space before a name", add(" X-A: b")],
  ["a folded value", add("X-A: b\r\n c")],
  ["a folded value by a tab", add("X-A: b\r\n\tc")],
  ["no colon", add("X-A")],
  ["an empty name", add(": b")],
  ["a name beyond ASCII", add("X-\u00e9: b")],
  ["a quote in a name", add('X"A": b')],
  ["a NUL in a value", add("X-A: b\0c")],
  ["a bare CR in a value", add("X-A: b\rc")],
  ["a bare LF in a value", add("X-A: b\nX-B: c")],
  ["a bare LF at a line's end", add("X-A: b\nContent-Length: 1")],
  ["CR CR LF", add("X-A: b\r")],
  ["a DEL in a value", add("X-A: b\u007f")],
  ["an escape in a value", add("X-A: \u001b[0m")],
  ["a vertical tab before chunked", add("Transfer-Encoding: \u000bchunked")],
  ["too large a head", add(...Array.from({ length: 30 }, (_, n) => `X-${n}: ${"a".repeat(300)}`))],
];

/**
 * Oddities after the head, found when the call has begun. Timing decides which answer comes first, and Node answers differently
 * for bytes that it read itself.
 */
const oddBodies: typeof oddHeads = [
  ["no length", without("content-length")],
  ["a length that is too short", length((bytes) => String(bytes - 1))],
  ["a length of 0 before a body", length(() => "0")],
  ["chunks", without("content-length", "Transfer-Encoding: chunked")],
];

export const oddities = [...oddHeads, ...oddBodies];

/** Makes the request the last one of its connection: bytes after it are ignored. */
export const closing: typeof oddHeads = [
  ["connection: close", add("Connection: close")],
  ["connection: Close", add("Connection: Close")],
];

/** Harmless variations that the fast path reads itself, with the same result as Node. */
export const harmless: readonly (readonly [string, (parts: Parts) => Parts])[] = [
  ["nothing", (parts) => parts],
  ["connection: keep-alive", add("Connection: Keep-Alive")],
  ["a header without a value", add("X-A:")],
  ["no space before a value", add("X-A:b")],
  ["blanks around a value", add("X-A: \t b \t ")],
  ["blanks in a value", add("X-A: b \t c")],
  ["a value beyond ASCII", add("X-A: \u00e9\u00ff")],
  ["colons in a value", add("X-A: :b:c:")],
  ["a name of odd characters", add("!#$%&'*+-.^_`|~09aZ: b")],
  ["names of members that every object has", add("__proto__: a", "constructor: b", "toString: c")],
  ["unused headers, twice", add("X-A: b", "x-a: c", "Cookie: a=1", "Cookie: b=2")],
  [
    "names in upper case",
    ({ headers, ...rest }) => ({ ...rest, headers: headers.map(withUpperCaseName) }),
  ],
  ["no content type", without("content-type")],
  ["an empty content type", without("content-type", "Content-Type:")],
  ["another content type", without("content-type", "Content-Type: text/plain")],
  ["no key", without("authorization")],
  ["a wrong key", without("authorization", "Authorization: Bearer wrong")],
  ["an empty key", without("authorization", "Authorization:")],
  ["a key beyond ASCII", without("authorization", "Authorization: Bearer \u00e9")],
  ["a second key elsewhere", add("x-api-key: other")],
  ["an empty body", (parts) => length(() => "0")({ ...parts, body: "" })],
  ["a body that is not JSON", (parts) => length(() => "1")({ ...parts, body: "{" })],
];

const withUpperCaseName = (header: string): string =>
  header.replace(/^[^:]*/, (name) => name.toUpperCase());

/** The bytes of a request. */
export const bytesOf = ({ line: first, headers, body }: Parts): Buffer =>
  Buffer.from(`${first}\r\n${headers.map((one) => `${one}\r\n`).join("")}\r\n${body}`, "latin1");
