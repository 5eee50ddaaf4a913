/**
 * Text documents and search results become text for upstreams that have no other field for them. The rows cover PDFs, and any
 * file towards messages. CONV-426, CONV-606; trap T27.
 */
import { describe, expect, it } from "vitest";
import { codecs, createRoute, upstreamCodecs, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "./route.ts";
import { pictureData, user, type Body, type Name } from "./world.ts";

const note = "Größe: „9“\n";
const data = Buffer.from(note).toString("base64");
const dataUrl = (type: string, base64 = data): string => `data:${type};base64,${base64}`;
const question = { type: "text", text: "What does it say?" };

const ask = (...blocks: Body[]): Body => ({
  model: "acme/x",
  max_tokens: 100,
  ...user([...blocks, question]),
});

/** The same document in each caller's protocol. */
const asked: Readonly<Record<Name, Body>> = {
  messages: ask({
    type: "document",
    source: { type: "text", media_type: "text/plain", data: note },
    title: 'a "b".txt',
    context: "From the archive.",
  }),
  chat: ask({
    type: "file",
    file: { filename: 'a "b".txt', file_data: dataUrl("text/markdown; charset=utf-8") },
  }),
  responses: {
    model: "acme/x",
    input: [
      {
        role: "user",
        content: [
          { type: "input_file", filename: 'a "b".txt', file_data: dataUrl("application/json") },
          { type: "input_text", text: question.text },
        ],
      },
    ],
  },
  generate_content: {
    contents: [
      {
        role: "user",
        parts: [{ inlineData: { mimeType: "text/csv", data } }, { text: question.text }],
      },
    ],
  },
};
const param: Readonly<Record<Name, string>> = {
  messages: "messages.content.document",
  chat: "messages.content.file",
  responses: "input.content.input_file",
  generate_content: "contents.parts.inlineData",
};
const attributes: Readonly<Record<Name, string>> = {
  messages: ' title="a &quot;b&quot;.txt" context="From the archive."',
  chat: ' title="a &quot;b&quot;.txt"',
  responses: ' title="a &quot;b&quot;.txt"',
  generate_content: "",
};

/** The texts of the first user turn in a body of this upstream protocol. */
function textsAt(to: Name | "converse", body: JsonObject): string[] {
  const turns = (body["messages"] ?? body["input"] ?? body["contents"]) as Body[];
  const [{ content, parts } = {}] = turns;
  // Chat has them as the paragraphs of one text.
  if (typeof content === "string") return content.split(/\n\n(?=What does)/);
  return ((to === "generate_content" ? parts : content) as Body[]).flatMap(({ text }) =>
    typeof text === "string" ? [text] : [],
  );
}

const ways = (Object.keys(asked) as Name[]).flatMap((from) =>
  (["chat", "responses", "generate_content"] as const)
    .filter((to) => to !== from)
    .map((to) => [from, to] as const),
);

describe("a text document", () => {
  it.each(ways)("becomes text with its name, which is reported: from %s to %s", (from, to) => {
    const { body, notes } = routeOf(from, to, asked[from]);
    expect(textsAt(to, body)).toEqual([
      `<document${attributes[from]}>\n${note}\n</document>`,
      question.text,
    ]);
    const detail = "a document of text goes on as text";
    expect(notes).toEqual([{ param: param[from], kind: "rewritten", detail }]);
  });

  it.each(["chat", "responses", "generate_content"] as const)(
    "CONV-426: makes a request from %s to messages fail, like any file",
    (from) => {
      expect(() => routeOf(from, "messages", asked[from])).toThrow(
        /cannot be converted .*: file content\./,
      );
    },
  );

  it.each([
    ["without text", dataUrl("application/zip")],
    ["of text with formatting commands", dataUrl("text/rtf")],
    ["in another encoding than UTF-8", dataUrl("text/plain", "/9j/4A==")],
  ])("does not include a file %s, which is refused", (_what, fileData) => {
    const body = ask({ type: "file", file: { filename: "a", file_data: fileData } });
    expect(() => routeOf("chat", "generate_content", body)).toThrow(
      /cannot be converted .*: file content\./,
    );
  });

  it("T27: stays within the result of a tool", () => {
    const [, document] = [question, (asked.messages["messages"] as Body[])[0]!["content"]];
    const result = { type: "tool_result", tool_use_id: "t1", content: document };
    const call = { type: "tool_use", id: "t1", name: "read", input: {} };
    const body = {
      ...asked.messages,
      messages: [
        { role: "user", content: "Read it." },
        { role: "assistant", content: [call] },
        { role: "user", content: [result] },
      ],
    };
    const { body: sent } = routeOf("messages", "responses", body);
    expect(JSON.stringify((sent["input"] as Body[]).at(-1))).toContain("Größe: „9“");
  });

  it("becomes text for a Converse model that reads no documents, and stays a document for others", () => {
    const to = (modalities: readonly ("text" | "pdf")[]) =>
      createRoute({
        caller: codecs.messages,
        upstream: upstreamCodecs.converse,
        body: asked.messages as JsonObject,
        stream: false,
        requestedModel: "acme/x",
        model: "acme/x",
        upstreamModel: "us.meta.llama4-scout-17b-instruct-v1:0",
        maxOutputTokens: 1000,
        abilities: { inputModalities: modalities },
        inputEstimate: 1,
        id: "req_1",
        createdAt: 1,
      });
    expect(textsAt("converse", to(["text"]).body)[0]).toContain(note);
    const whole = JSON.stringify(to(["text", "pdf"]).body);
    expect(whole).toContain('"context":"From the archive."');
    expect(whole).toContain(`"bytes":"${data}"`);
  });
});

it.each([
  "https://www.youtube.com/watch?v=x",
  "https://youtu.be/x",
  "https://m.youtube.com/shorts/x",
])(
  "CONV-425: %s is a video without a type: it is refused, not dropped as a document",
  (fileUri) => {
    const parts = [{ fileData: { fileUri } }, { text: "What happens?" }];
    for (const to of ["chat", "responses", "messages"] as const)
      expect(() =>
        routeOf("generate_content", to, { contents: [{ role: "user", parts }] }),
      ).toThrow(/^contents\.parts\.fileData cannot be converted .*: video content/);
  },
);

const picture = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: pictureData },
};
const pieces = [
  { type: "text", text: "One." },
  { type: "text", text: "Two." },
];
const found = {
  type: "search_result",
  source: "https://example.org/a",
  title: "A page",
  content: pieces,
};
const ofParts = (content: unknown): Body => ({
  type: "document",
  source: { type: "content", content },
  title: "A",
});

describe("a document of several parts", () => {
  it.each([
    [ofParts(pieces), ['<document title="A">\nOne.\nTwo.\n</document>']],
    [ofParts("One."), ['<document title="A">\nOne.\n</document>']],
    [ofParts([...pieces, picture]), ['<document title="A">', "One.", "Two.", "</document>"]],
    [
      found,
      [
        '<search_result source="https://example.org/a" title="A page">\nOne.\nTwo.\n</search_result>',
      ],
    ],
  ] as [Body, string[]][])("is sent in its parts: %j", (block, texts) => {
    for (const to of ["chat", "responses", "generate_content", "converse"] as const) {
      const { body, notes } = routeOf("messages", to, ask(block));
      expect(textsAt(to, body)).toEqual([...texts, question.text]);
      expect(JSON.stringify(body).includes(pictureData)).toBe(
        JSON.stringify(block).includes(pictureData),
      );
      const name = `messages.content.${block["type"] as string}`;
      expect(notes).toMatchObject([{ param: name, kind: "rewritten" }]);
    }
  });

  it("T27: stays within the tool's result if it is a search result", () => {
    const body = {
      ...ask(),
      messages: [
        { role: "user", content: "Search." },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "search", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [found] }] },
      ],
    };
    const { body: sent } = routeOf("messages", "chat", body);
    expect((sent["messages"] as Body[]).at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("One.\nTwo.") as string,
    });
  });

  it("is refused or reported if it contains parts that no other protocol has", () => {
    const unknown = ofParts([...pieces, { type: "riddle", text: "?" }]);
    expect(() => routeOf("messages", "chat", ask(unknown))).toThrow(
      /^messages\[0\]\.content\[0\]\.source\.content\[2\] \(riddle\) cannot be converted .*: content of a kind/,
    );
    expect(() => routeOf("messages", "chat", ask(ofParts(undefined)))).toThrow(/cannot be/);
    const cited = { ...found, citations: { enabled: true } };
    const { notes } = routeOf("messages", "chat", ask(cited));
    expect(notes.map(({ param: name }) => name)).toEqual([
      "messages[0].content[0].citations",
      "messages.content.search_result",
    ]);
  });

  it("is unchanged through the canonical form", () => {
    const body = ask(
      found,
      ofParts([...pieces, picture]),
      (asked.messages["messages"] as [{ content: Body[] }])[0].content[0]!,
    );
    const codec = codecs.messages;
    const request = codec.decodeRequest(body as JsonObject, { model: "acme/x", stream: false });
    expect(codec.encodeRequest(request, "acme/x")["messages"]).toEqual(body["messages"]);
  });
});

it.each([
  ["end like a numbered one", ["report 2", "report"], ["report 2 1", "report 2"]],
  ["are equal", ["a.pdf", "a.pdf", "a.pdf"], ["a pdf", "a pdf 2", "a pdf 3"]],
  [
    "are cut at a blank",
    [`${"x".repeat(179)} y`, `${"x".repeat(179)} y`],
    ["x".repeat(179), `${"x".repeat(179)} 2`],
  ],
])(
  "T25: names of documents that %s are unique in Converse, with single spaces",
  (_how, given, sent) => {
    const source = { type: "base64", media_type: "application/pdf", data };
    const blocks = given.map((title) => ({ type: "document", source, title }));
    const { messages } = routeOf("messages", "converse", ask(...blocks)).body as {
      messages?: { content: { document?: { name: string } }[] }[];
    };
    const names = messages?.[0]?.content.flatMap(({ document }) =>
      document ? [document.name] : [],
    );
    expect(names).toEqual(sent);
  },
);
