/** Web pages that an answer cites, in every caller's form. CONV-701 to CONV-704; trap T25. */
import { describe, expect, it } from "vitest";
import { formatSse, type SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import { upstreamCodecs, type JsonObject } from "../../src/protocols/index.ts";
import { json, sse } from "../support/recorder.ts";
import {
  annotation,
  before,
  cited,
  citedAnswers,
  citedStreams,
  grounding,
  location,
  page,
  urlCitation,
} from "./cited.ts";
import { routeOf } from "./route.ts";
import { byName, conversions, convertedPairs, names, type Body, type Name } from "./world.ts";

const world = conversions();

const event = (data: Body): string =>
  formatSse({ event: data["type"] as string, data: JSON.stringify(data) });

/** All citation objects in a body. */
function citationsIn(value: unknown): Body[] {
  if (typeof value !== "object" || value === null) return [];
  const body = value as Body;
  const own = ["url_citation", "web_search_result_location"].includes(body["type"] as string);
  const isSupport = "groundingChunkIndices" in body;
  return own || isSupport ? [body] : Object.values(body).flatMap(citationsIn);
}

/** The cited words of each citation, by the offsets of the caller's protocol. */
const wordsOf: Readonly<Record<Name, (body: Body, texts: readonly string[]) => string[]>> = {
  chat: (body, texts) =>
    citationsIn(body).map((one) => sliced(one["url_citation"] as Body, texts.join(""))),
  // Offsets are relative to each text.
  responses: (body, texts) => citationsIn(body).map((one) => sliced(one, texts.at(-1)!)),
  messages: (_body, texts) => [texts.at(-1)!],
  generate_content: (body, texts) =>
    // The answer of responses also cites a file, which is another chunk.
    citationsIn(body)
      .filter(({ groundingChunkIndices: at }) => (at as number[])[0] === 0)
      .map(({ segment }) => {
        const { partIndex, startIndex, endIndex } = segment as Record<string, number>;
        const text = partIndex === undefined ? texts.join("") : texts[partIndex]!;
        return Buffer.from(text).subarray(startIndex, endIndex).toString();
      }),
};
const sliced = (one: Body, text: string): string =>
  Array.from(text)
    .slice(one["start_index"] as number, one["end_index"] as number)
    .join("");

/** Messages upstreams cite a whole text block, others words of one text. So messages callers get a citation of the whole text. */
const expected = (from: Name, to: Name): string =>
  from === "messages" && to !== "messages" ? before + cited : cited;

/** URL and title of every page in an answer, from the fields of the caller's protocol. */
function pagesOf(value: unknown): Body[] {
  if (typeof value !== "object" || value === null) return [];
  const { url, uri, title, ...rest } = value as Body;
  const address = url ?? uri;
  const own = typeof address === "string" ? [{ url: address, title }] : [];
  return [...own, ...Object.values(rest).flatMap(pagesOf)];
}

/** The texts of an answer without thoughts, one per block. */
function textsIn(from: Name, body: Body): string[] {
  const codec = upstreamCodecs[from];
  return codec
    .decodeResponse(body as JsonObject)
    .content.flatMap((one) => (one.type === "text" ? [one.text] : []));
}

describe("the citations of a converted answer", () => {
  it.each(convertedPairs)(
    "CONV-701 CONV-702 CONV-703 CONV-704: reach a %s caller from %s, with their words",
    async (from, to) => {
      const { answer } = await world.send(from, to, {}, json(citedAnswers[to]));
      expect(pagesOf(answer)).toEqual([page]);
      const texts = from === "generate_content" ? partsOf(answer) : textsIn(from, answer);
      expect(wordsOf[from](answer, texts)).toEqual([expected(from, to)]);
    },
  );

  it.each(convertedPairs)("STREAM-03: arrive in a stream too (%s from %s)", async (from, to) => {
    const frames = citedStreams[to].map(event).join("") + (to === "chat" ? "data: [DONE]\n\n" : "");
    const { events } = await world.stream(from, to, {}, sse(frames));
    const { read, citations } = readBy(from, events);
    expect(citations.map(({ citation }) => citation)).toMatchObject([page]);
    const { block, citation } = citations[0]!;
    const text = read
      .flatMap((one) => (one.type === "text_delta" && one.block === block ? [one.text] : []))
      .join("");
    expect(Array.from(text).slice(citation.start, citation.end).join("")).toBe(expected(from, to));
  });
});

/** A stream, read by its caller's own codec. */
function readBy(caller: Name, events: readonly SseEvent[]) {
  const decoder = upstreamCodecs[caller].decodeStream();
  const read = [
    ...events.flatMap((one) => decoder.push(one)),
    ...decoder.end({ kind: "complete" }),
  ];
  return { read, citations: read.flatMap((one) => (one.type === "citation" ? [one] : [])) };
}

/** An upstream's answer as the caller reads it. */
const answerTo = (from: Name, to: Name | "converse", answer: unknown): JsonObject =>
  routeOf(from, to, byName[from].body("acme/x", false)).answer(answer as JsonObject, [], noUsage);

const partsOf = (body: Body): string[] => {
  const [candidate] = body["candidates"] as [{ content: { parts: { text: string }[] } }];
  return candidate.content.parts.map(({ text }) => text);
};

describe("the details of citations", () => {
  it("include no invented proof for messages callers of other vendors", () => {
    const snippet = { ...urlCitation, content: "It says so." };
    const answer = structuredClone(citedAnswers.chat) as {
      choices: [{ message: { annotations: Body[] } }];
    };
    answer.choices[0].message.annotations = [{ type: "url_citation", url_citation: snippet }];
    const converted = answerTo("messages", "chat", answer);
    expect(converted["content"]).toMatchObject([
      { citations: [{ ...location, encrypted_index: "gw_unsigned" }] },
    ]);
  });

  it("from Gemini are located by their words if the offsets are wrong", () => {
    const answer = structuredClone(citedAnswers.generate_content) as {
      candidates: [{ groundingMetadata: { groundingSupports: [{ segment: Body }] } }];
    };
    const [support] = answer.candidates[0].groundingMetadata.groundingSupports;
    support.segment = { startIndex: 2, endIndex: 9, text: cited };
    const converted = answerTo("chat", "generate_content", answer);
    expect(converted["choices"]).toMatchObject([
      { message: { annotations: [{ url_citation: urlCitation }] } },
    ]);
  });

  it("cover the whole answer for pages without words, and exclude sources without an address", () => {
    const answer = structuredClone(citedAnswers.generate_content) as {
      candidates: [{ groundingMetadata: Body }];
    };
    const chunks = [...grounding.groundingChunks, { web: { uri: "corpora/1", title: "Ours" } }];
    answer.candidates[0].groundingMetadata = { groundingChunks: chunks };
    const converted = answerTo("responses", "generate_content", answer);
    const text = before + cited;
    const annotations = [{ ...annotation, start_index: 0, end_index: Array.from(text).length }];
    expect(converted["output"]).toMatchObject([
      { type: "reasoning" },
      { content: [{ annotations }] },
    ]);
  });

  it("CONV-704: count a refusal before the text in a stream's offsets, as readers join both", () => {
    const content = [
      { type: "refusal", refusal: "Nö. " },
      { type: "output_text", text: before + cited, annotations: [annotation] },
    ];
    const answer: Body = { ...citedAnswers.responses, output: [{ type: "message", content }] };
    const route = routeOf("generate_content", "responses", byName.generate_content.body("x", true));
    const frames = route.framesOf(answer as JsonObject, noUsage);
    const bodies = frames.map(({ data }) => JSON.parse(data) as Body);
    const joined = [bodies.flatMap((body) => textsIn("generate_content", body)).join("")];
    expect(joined).toEqual([`Nö. ${before}${cited}`]);
    expect(bodies.flatMap((body) => wordsOf.generate_content(body, joined))).toEqual([cited]);
  });

  it.each(names)("survive a signature that ends the text in Gemini's last frame (%s)", (from) => {
    const frames = structuredClone(citedStreams.generate_content) as { candidates: Body[] }[];
    frames.at(-1)!.candidates[0]!["content"] = {
      parts: [{ text: "", thoughtSignature: "c2ln" }],
    };
    const route = routeOf(from, "generate_content", byName[from].body("acme/x", true));
    const tap = route.tap();
    const events = frames.flatMap((data) => tap.push({ data: JSON.stringify(data) }));
    const all = [...events, ...(tap.end?.() ?? []), ...tap.release(noUsage)];
    expect(readBy(from, all).citations.map(({ citation }) => citation)).toMatchObject([page]);
  });

  it("list a page that is cited twice as one chunk for generateContent callers", () => {
    const twice = { ...citedAnswers.messages, content: [citing("A."), citing("B.")] };
    const converted = answerTo("generate_content", "messages", twice);
    expect(converted["candidates"]).toMatchObject([
      {
        groundingMetadata: {
          groundingChunks: grounding.groundingChunks,
          groundingSupports: [
            { segment: { startIndex: 0, endIndex: 2 }, groundingChunkIndices: [0] },
            { segment: { partIndex: 1, startIndex: 0, endIndex: 2 }, groundingChunkIndices: [0] },
          ],
        },
      },
    ]);
  });

  it.each(names)("keep the text of Amazon's own search (%s)", (from) => {
    const content: JsonObject[] = [
      { text: before },
      {
        citationsContent: {
          content: [{ text: cited }],
          citations: [{ title: page.title, location: { web: { url: page.url } } }],
        },
      },
    ];
    const answer = { output: { message: { content } }, stopReason: "end_turn" };
    const converted = answerTo(from, "converse", answer);
    expect(textsIn(from, converted as Body).join("")).toBe(before + cited);
    expect(pagesOf(converted)).toEqual([page]);
  });
});

describe("pages that chat vendors list next to the answer", () => {
  const bare = (): Body => {
    const answer = structuredClone(citedAnswers.chat) as { choices: [{ message: Body }] };
    delete answer.choices[0].message["annotations"];
    return answer;
  };
  const all = Array.from(before + cited).length;
  const other = "https://example.org/b";

  it.each([
    ["by their addresses", { citations: [page.url, other, "no address"] }, [page.url, other]],
    [
      "with their titles",
      { citations: [other], search_results: [{ ...page, date: "2026-11-01" }] },
      [page.title],
    ],
  ] as [string, Body, string[]][])(
    "CONV-702: apply to the whole answer, whole and streamed: %s",
    async (_how, beside, titles) => {
      const { answer } = await world.send("responses", "chat", {}, json({ ...bare(), ...beside }));
      const found = citationsIn(answer);
      expect(found.map(({ title }) => title)).toEqual(titles);
      expect(found).toMatchObject(titles.map(() => ({ start_index: 0, end_index: all })));
      const frames = citedStreams.chat
        .filter((chunk) => !JSON.stringify(chunk).includes("annotations"))
        .map((chunk) => event({ ...chunk, ...beside }));
      const { events } = await world.stream(
        "responses",
        "chat",
        {},
        sse(`${frames.join("")}data: [DONE]\n\n`),
      );
      const { citations } = readBy("responses", events);
      expect(citations.map(({ citation }) => citation.title)).toEqual(titles);
    },
  );

  it("are ignored if there are annotations", () => {
    const answer = { ...citedAnswers.chat, citations: [page.url, other] } as JsonObject;
    expect(citationsIn(answerTo("responses", "chat", answer))).toEqual([annotation]);
  });
});

it("thousands of citations of a long answer are converted in seconds", () => {
  const one = before + cited;
  const size = Buffer.byteLength(one);
  const groundingSupports = Array.from({ length: 4000 }, (_none, at) => ({
    segment: { startIndex: at * size, endIndex: (at + 1) * size, text: one },
    groundingChunkIndices: [0],
  }));
  const candidate = {
    content: { parts: [{ text: one.repeat(40_000) }] },
    finishReason: "STOP",
    groundingMetadata: { ...grounding, groundingSupports },
  };
  const timed = () => {
    const started = performance.now();
    const there = answerTo("chat", "generate_content", { candidates: [candidate] });
    const back = answerTo("generate_content", "chat", there);
    return { back, ms: performance.now() - started };
  };
  // Two tries, because the machine may be busy during one of them.
  const tries = [timed(), timed()];
  expect(Math.min(...tries.map(({ ms }) => ms))).toBeLessThan(3000);
  expect(citationsIn(tries[0]!.back).map(({ segment }) => segment)).toEqual(
    groundingSupports.map(({ segment }) => segment),
  );
});

const citing = (text: string): Body => ({ type: "text", text, citations: [location] });
