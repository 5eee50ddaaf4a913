/** Single rules of the protocols that usual requests do not reach. HOOK-07; CONV. */
import { expect, it } from "vitest";
import { snakeName } from "../../src/base/casing.ts";
import { GatewayError } from "../../src/base/errors.ts";
import { checkTextAddresses } from "../../src/calls/text-addresses.ts";
import { formatOf } from "../../src/protocols/converse/media.ts";
import { counting } from "../../src/protocols/generate-content/count.ts";

import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { audioFormat } from "../../src/protocols/media-url.ts";
import { DirectTap } from "../../src/protocols/stream-tap.ts";
import { costMs } from "../support/cost.ts";

it("a media type that is a property name of JavaScript objects is not accepted", () => {
  expect([formatOf("image/PNG; x=y", "image"), formatOf("constructor", "image")]).toEqual([
    "png",
    undefined,
  ]);
});

it("a media type with megabytes of parameters is read within 300 ms", async () => {
  const odd = `audio/x-wav${";".repeat(2_000_000)}\n`;
  let read: unknown[] = [];
  const ms = await costMs(() => (read = [formatOf(odd, "audio"), audioFormat(odd)]));
  expect(read).toEqual(["wav", "wav"]);
  expect(ms).toBeLessThan(300);
});

it("a count request is the inner one, or the body if there is none", () => {
  const body = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
  const plain = counting.decode(body, "m");
  expect(plain.messages).toHaveLength(1);
  expect(counting.decode({ generateContentRequest: body }, "m").messages).toEqual(plain.messages);
  const odd = { ...body, generateContentRequest: "x" };
  expect(counting.decode(odd, "m").messages).toEqual(plain.messages);
});

it("the snake_case of a name is right at its first and at its second use", () => {
  expect([snakeName("neverAskedFor"), snakeName("neverAskedFor")]).toEqual([
    "never_asked_for",
    "never_asked_for",
  ]);
});

it("each part of a message adds to the estimate of its input", () => {
  const charactersOf = (...texts: string[]) =>
    codecs.chat.direct.facts({
      model: "m",
      messages: [{ role: "user", content: texts.map((text) => ({ type: "text", text })) }],
    }).inputCharacters;
  expect(charactersOf("x".repeat(500))).toBeGreaterThan(charactersOf("x") + 490);
  expect(charactersOf("x", "x".repeat(500))).toBeGreaterThan(charactersOf("x") + 500);
});

it.each<[number, number[] | undefined[], number | undefined]>([
  [10, [undefined], undefined],
  [10, [undefined, undefined], undefined],
  [3, [3], undefined],
  [8, [3, 5], undefined],
  [50, [undefined], 50],
  [2, [undefined], 2],
  [4, [3, 5], 4],
  [8, [3, 5], 50],
  [10_000, [1e9, 1e9], undefined],
  [10_000, [undefined], 1e9],
  [0, [], 50],
])(
  "BILL-23: %i searches are reserved for tools with max_uses %j and max_tool_calls %s",
  (reserved, uses, max) => {
    const tools = uses.map((max_uses) => ({ type: "web_search", max_uses }));
    const body = { model: "m", input: "Hi", tools, max_tool_calls: max };
    expect(codecs.responses.direct.facts(body as JsonObject).toolUses.webSearches).toBe(reserved);
  },
);

it("BILL-23: an enormous limit of calls reserves no more posts of X than can be charged", () => {
  const body = { model: "m", input: "Hi", tools: [{ type: "x_search" }], max_tool_calls: 1e9 };
  expect(codecs.responses.direct.facts(body).toolUses).toMatchObject({
    xPosts: 10_000,
    xProfiles: 10_000,
  });
});

it("HOOK-07: a private address is found in an object within a part", () => {
  const body = (url: string) => ({
    model: "m",
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  });
  expect(() => checkTextAddresses("chat", body("http://10.0.0.7/a.png"), false)).toThrow(
    expect.objectContaining({ code: "invalid_value" }),
  );
  expect(() => checkTextAddresses("chat", body("http://10.0.0.7/a.png"), true)).not.toThrow();
});

it("T16: a stream whose last frames cannot be written ends with the error, once", () => {
  class Odd extends DirectTap {
    readonly usage = undefined;
    readonly isOpening = false;
    protected take = () => [];
    protected ending(): never {
      throw new Error("no such ending");
    }
    protected failure = ({ message }: GatewayError) => [{ data: message }];
  }
  const tap = new Odd();
  expect(() => tap.release()).toThrow("no such ending");
  const error = new GatewayError("upstream_error", "Cut.");
  expect(tap.fail(error)).toEqual([{ data: "Cut." }]);
  expect(tap.fail(error)).toEqual([]);
});

it("a block in a messages turn is validated once, as in the system prompt", () => {
  let reads = 0;
  const block = {
    type: "text",
    get text() {
      reads += 1;
      return "Hi";
    },
  };
  const readsOf = (more: object): number => {
    reads = 0;
    const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    codecs.messages.direct.validate({ ...body, ...more });
    return reads;
  };
  const ofPrompt = readsOf({ system: [block] });
  expect(ofPrompt).toBeGreaterThan(0);
  expect(readsOf({ messages: [{ role: "user", content: [block] }] })).toBe(ofPrompt);
});
