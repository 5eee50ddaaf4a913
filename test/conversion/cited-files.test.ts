/**
 * Files that an answer cites: files that the vendor stores and searches, and documents. Responses, messages and generateContent
 * have fields for them; chat completions have none. CONV-702 to CONV-704.
 */
import { describe, expect, it } from "vitest";
import { formatSse } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "./route.ts";
import { byName, type Body, type Name } from "./world.ts";

const text = "The report says 7.";
const name = "report.pdf";
const fileId = "file_1";
const quote = "Seven of them.";

const responsesWith = (annotation: Body): JsonObject =>
  ({
    ...byName.responses.whole(),
    output: [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [annotation] }],
      },
    ],
  }) as JsonObject;

const messagesWith = (citation: Body): JsonObject =>
  ({
    ...byName.messages.whole(),
    content: [{ type: "text", text, citations: [citation] }],
  }) as JsonObject;

const googleWith = (chunk: Body): JsonObject =>
  ({
    ...byName.generate_content.whole(),
    candidates: [
      {
        index: 0,
        content: { role: "model", parts: [{ text }] },
        finishReason: "STOP",
        groundingMetadata: {
          groundingChunks: [{ retrievedContext: chunk }],
          groundingSupports: [
            { segment: { startIndex: 0, endIndex: 18, text }, groundingChunkIndices: [0] },
          ],
        },
      },
    ],
  }) as JsonObject;

const fileCitation = { type: "file_citation", file_id: fileId, filename: name, index: 2 };
const containerFile = {
  type: "container_file_citation",
  container_id: "cntr_1",
  file_id: fileId,
  filename: name,
  start_index: 4,
  end_index: 10,
};
const charLocation = {
  type: "char_location",
  cited_text: quote,
  document_index: 2,
  document_title: name,
  file_id: fileId,
  start_char_index: 0,
  end_char_index: 9,
};
const stored = { title: name, text: quote, documentName: fileId };

type CitedFile = readonly [what: string, to: Name, answer: JsonObject];
const citedFiles: readonly CitedFile[] = [
  ["a file of a store", "responses", responsesWith(fileCitation)],
  ["a file of a container", "responses", responsesWith(containerFile)],
  ["a document", "messages", messagesWith(charLocation)],
  ["a file of a store", "generate_content", googleWith(stored)],
];

/** The converted answer as JSON, and its stream as SSE text. */
function given(from: Name, to: Name, answer: JsonObject): [string, string] {
  const route = routeOf(from, to, byName[from].body("acme/x", false));
  return [
    JSON.stringify(route.answer(answer, [], noUsage)),
    route.framesOf(answer, noUsage).map(formatSse).join(""),
  ];
}

describe.each(citedFiles)("%s, cited in %s", (_what, to, answer) => {
  const callers = (["responses", "messages", "generate_content"] as const).filter(
    (from) => from !== to,
  );

  it.each(callers)(
    "CONV-702 CONV-703 CONV-704: reaches callers of %s with its id and name",
    (from) => {
      for (const one of given(from, to, answer)) {
        expect(one).toContain(name);
        expect(one).toContain(fileId);
      }
    },
  );

  it.skipIf(to === "chat")("is dropped in chat completions, and the text stays complete", () => {
    for (const one of given("chat", to, answer)) {
      expect(one).toContain(text);
      expect(one).not.toContain("_citation");
    }
  });
});

it("CONV-702: responses gets a file citation, with the index of the other vendor", () => {
  const [whole] = given("responses", "messages", messagesWith(charLocation));
  expect(whole).toContain(JSON.stringify(fileCitation));
});

it("CONV-702: a file annotation of responses is unchanged through the canonical form", () => {
  for (const annotation of [fileCitation, containerFile]) {
    const answer = codecs.responses.decodeResponse(responsesWith(annotation));
    const [part] = answer.content;
    expect(part).toMatchObject({ citations: [{ file: { id: fileId }, title: name }] });
    const context = { model: "m", id: "1", createdAt: 1, inputEstimate: 1 };
    const request = {
      protocol: "responses",
      model: "",
      stream: false,
      native: [],
      names: {},
    } as const;
    const written = codecs.responses.encodeResponse(answer, { ...context, request });
    expect(JSON.stringify(written)).toContain(JSON.stringify(annotation));
  }
});

it("CONV-703: messages gets a search result, which is removed when it comes back", () => {
  const [whole] = given("messages", "responses", responsesWith(fileCitation));
  const { content } = JSON.parse(whole) as { content: Body[] };
  expect(content).toMatchObject([
    {
      text,
      citations: [
        {
          type: "search_result_location",
          source: `gw_file:${fileId}`,
          title: name,
          cited_text: "",
        },
      ],
    },
  ]);
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content },
    { role: "user", content: "Go on" },
  ] as JsonObject[];
  const body: JsonObject = { model: "acme/x", max_tokens: 9, messages };
  const sent = codecs.messages.direct.request(body, { model: "x", stream: false });
  expect((sent.body["messages"] as JsonObject[])[1]!["content"]).toEqual([{ type: "text", text }]);
});

it("CONV-704: generateContent gets a chunk of a store, with the cited words", () => {
  const [whole] = given("generate_content", "messages", messagesWith(charLocation));
  expect(whole).toContain(JSON.stringify({ retrievedContext: stored }));
});

it("CONV-704: two passages of one file become two chunks of Google's, and a repeated one stays one", () => {
  const other = "Eight of them.";
  const citations = [quote, other, quote].map((words) => ({ ...charLocation, cited_text: words }));
  const content = [{ type: "text", text, citations }];
  const answer = { ...byName.messages.whole(), content } as JsonObject;
  const [whole] = given("generate_content", "messages", answer);
  const pieces = [stored, { ...stored, text: other }].map((piece) => ({ retrievedContext: piece }));
  expect(whole).toContain(`"groundingChunks":${JSON.stringify(pieces)}`);
  expect(whole).toContain('"groundingChunkIndices":[0,1]');
});

it("CONV-702 CONV-704: a document without a name arrives with its index, or with its words", () => {
  const { file_id: _id, ...unnamed } = { ...charLocation, document_title: null };
  const answer = messagesWith(unnamed);
  for (const one of given("responses", "messages", answer))
    expect(one).toContain('"type":"file_citation","file_id":"","filename":"","index":2');
  for (const one of given("generate_content", "messages", answer))
    expect(one).toContain(JSON.stringify({ retrievedContext: { text: quote } }));
});
