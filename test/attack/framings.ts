/**
 * Requests whose end two parsers may see in different places, each with a second request hidden behind it. RFC 9112, sections 6
 * and 11.2.
 */

const json = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const hidden = "GET /v1/hidden HTTP/1.1\r\nHost: hidden\r\n\r\n";

interface Framing {
  /** Header lines of the first request, besides the common ones. */
  readonly lines: readonly string[];
  /** Everything after the head. */
  readonly rest: string;
}

const chunked = "Transfer-Encoding: chunked";

/** The framings by name, around a body that would be answered with 200. */
function framings(body: string): Readonly<Record<string, Framing>> {
  const size = body.length.toString(16);
  const announced = `Content-Length: ${body.length}`;
  const whole = json(body) + hidden;
  const coded = (...values: string[]) => ({
    lines: [
      ...values.map((value) => `Transfer-Encoding:${value}`),
      `Content-Length: ${whole.length}`,
    ],
    rest: whole,
  });
  const sized = (value: string) => ({ lines: [`Content-Length:${value}`], rest: body + hidden });
  const inChunks = (rest: string) => ({ lines: [chunked], rest: rest + hidden });
  return {
    "chunks in a length": coded(" chunked"),
    "a length within chunks": { lines: [chunked, "Content-Length: 4"], rest: whole },
    "a tab before chunked": coded("\tchunked"),
    "a vertical tab before chunked": coded(" \u000bchunked"),
    "nearly chunked": coded(" xchunked"),
    "chunked in quotes": coded(' "chunked"'),
    "chunked with a parameter": coded(" chunked;q=1"),
    "chunked, then identity": coded(" chunked", " identity"),
    "identity, then chunked": coded(" identity, chunked"),
    "a folded coding": coded("\r\n chunked"),
    "a space before the coding's colon": {
      lines: ["Transfer-Encoding : chunked", `Content-Length: ${whole.length}`],
      rest: whole,
    },
    "a coding behind a bare LF": { lines: [`X: y\n${chunked}`, announced], rest: whole },
    "a coding behind a bare CR": { lines: [`X: y\r${chunked}`, announced], rest: whole },
    "an extension": inChunks(`${size};a=b\r\n${body}\r\n0\r\n\r\n`),
    "an extension with a line end in quotes": inChunks(`${size};a="\r\n"\r\n${body}\r\n0\r\n\r\n`),
    "an extension that ends in LF": inChunks(`${size};a\n${body}\r\n0\r\n\r\n`),
    "a size with a sign": inChunks(`+${json(body)}`),
    "a size in 0x": inChunks(`0x${json(body)}`),
    "a size behind a blank": inChunks(` ${json(body)}`),
    "a size before a blank": inChunks(`${size} \r\n${body}\r\n0\r\n\r\n`),
    "a size of many zeros": inChunks("0".repeat(20) + json(body)),
    "a size beyond 2^64": inChunks(`1${"0".repeat(16)}${json(body)}`),
    "sizes behind bare LF": inChunks(`${size}\n${body}\n0\n\n`),
    "no line end behind a chunk": inChunks(`${size}\r\n${body}XX0\r\n\r\n`),
    "a last chunk of zeros": inChunks(`${size}\r\n${body}\r\n000\r\n\r\n`),
    "a length in the trailers": inChunks(`${size}\r\n${body}\r\n0\r\nContent-Length: 5\r\n\r\n`),
    "a folded trailer": inChunks(`${size}\r\n${body}\r\n0\r\na: b\r\n c\r\n\r\n`),
    "a request for a trailer": { lines: [chunked], rest: `${size}\r\n${body}\r\n0\r\n${hidden}` },
    "a length with a sign": sized(` +${body.length}`),
    "a length below nothing": sized(` -${body.length}`),
    "a length in two": sized(` ${body.length}, ${body.length}`),
    "a length of two numbers": sized(" 8 3"),
    "a length of leading zeros": sized(` 000${body.length}`),
    "a length and a tab": sized(` ${body.length}\t`),
    "a length in hexadecimal": sized(` 0x${size}`),
    "a length beyond 2^64": sized(` ${2n ** 64n + BigInt(body.length)}`),
    "a folded length": sized(`\r\n ${body.length}`),
    "two lengths": {
      lines: [announced, `Content-Length: ${body.length + hidden.length}`],
      rest: body + hidden,
    },
    "a length that the connection takes away": {
      lines: ["Connection: Content-Length", announced],
      rest: body + hidden,
    },
    "a key that the connection takes away": {
      lines: ["Connection: Authorization", announced],
      rest: body + hidden,
    },
    "an upgrade": {
      lines: [
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABk",
        announced,
      ],
      rest: body + hidden,
    },
    "an expectation": { lines: ["Expect: 100-continue", announced], rest: body + hidden },
    "an expectation in a list": {
      lines: ["Expect: y, 100-continue", announced],
      rest: body + hidden,
    },
    "two hosts": { lines: ["Host: other", announced], rest: body + hidden },
    "no length": { lines: [], rest: hidden },
    pipelined: { lines: [announced], rest: body + hidden },
  };
}

/** The bytes of each request, by name: a call with this key, and a hidden request behind it. */
export function hiddenRequests(key: string): [name: string, bytes: Buffer][] {
  const body = JSON.stringify({
    model: "sandbox/chat",
    messages: [{ role: "user", content: "hi" }],
  });
  const all: [string, Buffer][] = [];
  for (const [name, { lines, rest }] of Object.entries(framings(body))) {
    const head = [
      "POST /v1/chat/completions HTTP/1.1",
      "Host: gateway",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      ...lines,
    ];
    all.push([name, Buffer.from(`${head.join("\r\n")}\r\n\r\n${rest}`, "latin1")]);
  }
  // Bodies that the gateway does not read: of requests that it refuses, or that should have none.
  for (const start of [
    "POST /v1/none",
    "POST /admin/v1/keys",
    "GET /v1/models",
    "GET /healthz",
    "DELETE /v1/tasks/none",
    "OPTIONS /v1/models",
  ])
    all.push([
      `a body of ${start}`,
      Buffer.from(
        `${start} HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      ),
    ]);
  return all;
}
