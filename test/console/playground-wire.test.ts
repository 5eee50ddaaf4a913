/** Requests and answers of the playground, without a browser: streams in pieces, parameters, tools, code. */
import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { curlOfText, protocols, sdkCodesOf } from "../../console/src/base/code.ts";
import { pythonArguments } from "../../console/src/base/literals.ts";
import { nothing, withPiece } from "../../console/src/pages/playground/conversation.ts";
import { extended, invert, within } from "../../console/src/pages/playground/mask.ts";
import { cosine } from "../../console/src/pages/playground/similarity.ts";
import { readField, readFields } from "../../console/src/pages/playground/parameters.ts";
import { examples, readTools } from "../../console/src/pages/playground/tools.ts";
import { framesOf, piecesOf } from "../../console/src/pages/playground/wire.ts";

/** A body whose bytes arrive in pieces, cut at these places. */
function bodyOf(bytes: Uint8Array<ArrayBuffer>, cuts: readonly number[]) {
  const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (let index = 1; index < places.length; index += 1)
        controller.enqueue(bytes.slice(places[index - 1], places[index]));
      controller.close();
    },
  });
}

it("a stream is read the same with any chunks and line ends, and frames that are not JSON are skipped", async () => {
  const frames = [{ text: "Grüße 👋" }, { text: "\n data: {}" }, { n: [1, null] }];
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.boolean(),
      async (cuts, end, isEnded) => {
        const lines = frames.flatMap((frame) => [
          ": comment",
          "event: x",
          `data: ${JSON.stringify(frame)}`,
          "",
        ]);
        const text = [...lines, "data: [DONE]"].join(end) + (isEnded ? end + end : "");
        const read: unknown[] = [];
        for await (const frame of framesOf(bodyOf(new TextEncoder().encode(text), cuts)))
          read.push(frame);
        expect(read).toEqual(frames);
      },
    ),
    { numRuns: 100 },
  );
});

it("a line in many chunks, such as one with an image, is read in one pass", async () => {
  const line = new TextEncoder().encode(`data: ${JSON.stringify("x".repeat(4_000_000))}\n\n`);
  const body = bodyOf(
    line,
    Array.from({ length: 8_000 }, (_, index) => index * 500),
  );
  const begunMs = performance.now();
  const frames = [];
  for await (const frame of framesOf(body)) frames.push(frame);
  expect(frames).toEqual(["x".repeat(4_000_000)]);
  // It takes some 50 ms; it took ten seconds when each chunk searched the line from its start.
  expect(performance.now() - begunMs).toBeLessThan(5_000);
});

it("no frame of a vendor breaks the reader", () => {
  fc.assert(
    fc.property(fc.constantFrom(...protocols), fc.jsonValue(), (protocol, frame) => {
      const content = piecesOf(protocol, frame).reduce(withPiece, nothing);
      expect(typeof content.text).toBe("string");
    }),
  );
  for (const protocol of protocols) {
    for (const type of [
      "",
      "message",
      "content_block_start",
      "response.output_item.added",
      "response.failed",
    ]) {
      for (const inside of [null, 7, "x", [null], {}]) {
        const names =
          "choices output content candidates item delta content_block response index".split(" ");
        const frame = { type, ...Object.fromEntries(names.map((name) => [name, inside])) };
        expect(() => piecesOf(protocol, frame)).not.toThrow();
      }
    }
    expect(piecesOf(protocol, { error: { message: "Gone" } })).toEqual([
      { kind: "error", text: "Gone" },
    ]);
  }
});

it("an error of a Responses stream is shown, flat or nested, with or without a message", () => {
  const flat = { type: "error", code: "server_error", message: "Overloaded", param: null };
  const nested = { type: "error", error: { code: "server_error", message: "Gone" } };
  const failed = { type: "response.failed", response: { error: null } };
  for (const [frame, text] of [
    [flat, "Overloaded"],
    [{ type: "error", code: "server_error" }, "The stream ended with an error."],
    [nested, "Gone"],
    [failed, "The stream ended with an error."],
  ] as const)
    expect(piecesOf("responses", frame)).toEqual([{ kind: "error", text }]);
});

it("a field is parsed by its domain, or reports what is wrong", () => {
  const integer = { type: "integer", min: 1, max: 8 };
  for (const [domain, text, read] of [
    [integer, "8", { value: 8 }],
    [integer, "9", { fault: "At most 8." }],
    [integer, "0", { fault: "At least 1." }],
    [integer, "1.5", { fault: "A whole number is needed." }],
    [integer, "1e1", { fault: "A number is needed." }],
    [{ type: "number", max: 2 }, "-0.5", { value: -0.5 }],
    [{ type: "integer", multiple_of: 16 }, "17", { fault: "A multiple of 16." }],
    [{ type: "number", multiple_of: 0.1 }, "0.3", { value: 0.3 }],
    [{ type: "number", multiple_of: 0.1 }, "-1.1", { value: -1.1 }],
    [{ type: "number", multiple_of: 0.1 }, "0.35", { fault: "A multiple of 0.1." }],
    [{ type: "boolean" }, "false", { value: false }],
    [{ type: "enum", values: [480, 720] }, "720", { value: 720 }],
    [{ type: "array", max: 2 }, "a\n\nb", { value: ["a", "b"] }],
    [{ type: "array", max: 2 }, "a\nb\nc", { fault: "At most 2 items." }],
    [{ type: "object" }, '{"a":1}', { value: { a: 1 } }],
    [{ type: "object" }, "{a:1}", { fault: "This is not valid JSON." }],
  ] as const) {
    expect(readField(domain, text)).toEqual(read);
  }
});

it("a parameter is placed where the protocol has it", () => {
  const fields = [
    ["max_tokens", { type: "integer" }],
    ["temperature", { type: "number" }],
  ] as [string, { type: string }][];
  const typed = { max_tokens: "10", temperature: "0.5" };
  const bodies = protocols.map((protocol) => readFields(fields, typed, protocol).body);
  expect(bodies).toEqual([
    { max_tokens: 10, temperature: 0.5 },
    { max_output_tokens: 10, temperature: 0.5 },
    { max_tokens: 10, temperature: 0.5 },
    { generationConfig: { maxOutputTokens: 10, temperature: 0.5 } },
  ]);
});

it("tools are checked, and the examples are valid", () => {
  for (const text of Object.values(examples)) expect(readTools(text).fault).toBeUndefined();
  for (const [text, fault] of [
    ["{", "This is not valid JSON"],
    ["{}", "must be a list"],
    ["[1]", '"name" must be'],
    ['[{"name":"a"}]', '"parameters" must be'],
    ['[{"name":"a","parameters":{}}]', 'the "type" of'],
    ['[{"name":"a","description":1,"parameters":{"type":"object"}}]', '"description" must be'],
  ] as const) {
    expect(readTools(text)).toEqual({ tools: [], fault: expect.stringContaining(fault) as string });
  }
  expect(readTools("  ")).toEqual({ tools: [] });
});

it("the generated code sends exactly the call, in a shell and in JavaScript, and has Python literals", () => {
  const body = {
    messages: [{ role: "user", content: `it's "\\ $HOME \`x\` 👋\n${"long ".repeat(30)}` }],
    flag: true,
    none: null,
  };
  const call = {
    url: "http://127.0.0.1:1",
    key: "k",
    protocol: "chat",
    model: "a/b",
    stream: true,
    body,
  } as const;
  const sent = { model: "a/b", stream: true, ...body };
  // A shell reads the text; a function replaces curl and prints its last argument.
  const shell = curlOfText(call).replace(
    "curl",
    `f() { for last; do :; done; printf %s "$last"; }; f`,
  );
  expect(JSON.parse(execFileSync("sh", ["-c", shell], { encoding: "utf8" }))).toEqual(sent);
  const [, js] = sdkCodesOf(call).codes;
  const [, literal = ""] = /create\((.*)\)\) \{/s.exec(js!.text) ?? [];
  // oxlint-disable-next-line typescript/no-implied-eval -- the text is code, and is read as such
  expect(new Function(`return ${literal}`)()).toEqual(sent);
  expect(pythonArguments({ flag: true, none: null, list: [] })).toBe(
    "    flag=True,\n    none=None,\n    list=[],\n",
  );
});

it("a mask has alpha 0 where it is painted and is opaque elsewhere", () => {
  const pixels = Uint8ClampedArray.from([
    208, 32, 144, 255, 208, 32, 144, 127, 208, 32, 144, 128, 0, 0, 0, 0,
  ]);
  invert(pixels);
  expect([...pixels]).toEqual([0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 255]);
  const size = { width: 10, height: 20 };
  expect(within({ x: -3, y: 21 }, size)).toEqual({ x: 0, y: 20 });
  const stroke = { points: [{ x: 1, y: 1 }], size: 2, erases: false };
  expect(extended([stroke, stroke], { x: 2, y: 2 })).toEqual([
    stroke,
    {
      ...stroke,
      points: [
        { x: 1, y: 1 },
        { x: 2, y: 2 },
      ],
    },
  ]);
});

it("vectors are compared by cosine", () => {
  expect(cosine([1, 2], [2, 4])).toBeCloseTo(1);
  expect(cosine([1, 0], [0, 3])).toBe(0);
  expect(cosine([0, 0], [1, 1])).toBe(0);
});

it("each call of a generateContent answer is one, also if two are the same", () => {
  const call = { functionCall: { name: "look", args: { at: "shelf" } } };
  const frame = (...parts: object[]) => ({ candidates: [{ content: { parts } }] });
  const frames = [frame(call), frame(call, call)];
  const { calls } = frames
    .flatMap((one) => piecesOf("generate_content", one))
    .reduce(withPiece, nothing);
  const shown = { name: "look", arguments: '{"at":"shelf"}' };
  expect(calls).toMatchObject([shown, shown, shown]);
  expect(new Set(calls.map(({ at }) => at)).size).toBe(3);
});

it.each([
  ["chat", { choices: [{ delta: {}, finish_reason: "length" }] }],
  ["messages", { type: "message_delta", delta: { stop_reason: "max_tokens" } }],
  ["messages", { type: "message", content: [], stop_reason: "max_tokens" }],
  [
    "responses",
    {
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    },
  ],
  ["responses", { output: [], incomplete_details: { reason: "max_output_tokens" } }],
  ["generate_content", { candidates: [{ finishReason: "MAX_TOKENS" }] }],
] as const)("an answer of %s that reached its maximum is cut: %j", (protocol, frame) => {
  expect(piecesOf(protocol, frame)).toEqual([{ kind: "cut" }]);
  expect(withPiece(nothing, { kind: "cut" })).toEqual({ ...nothing, isCut: true });
});
