// The estimate of a request's input tokens before its vendor counts them. The gateway reserves money by it, and charges callers
// who leave. BILL-21, BILL-23.
import { countTokens } from "gpt-tokenizer";
import { expect, it } from "vitest";
import { estimateInputTokens } from "../../src/catalog/index.ts";
import { codecs, type ProtocolName } from "../../src/protocols/index.ts";
import type { JsonObject } from "../../src/protocols/canonical/request.ts";

const words = "Hello. ".repeat(10_000);
const data = Buffer.from(words).toString("base64");

const file = (type: string) => ({ filename: "a", file_data: `data:${type};base64,${data}` });
const bodies: Readonly<Record<ProtocolName, (type: string) => JsonObject>> = {
  chat: (type) => ({ messages: [{ role: "user", content: [{ type: "file", file: file(type) }] }] }),
  responses: (type) => ({
    input: [{ role: "user", content: [{ type: "input_file", ...file(type) }] }],
  }),
  messages: (type) => ({
    messages: [
      {
        role: "user",
        content: [{ type: "document", source: { type: "base64", media_type: type, data } }],
      },
    ],
  }),
  generate_content: (type) => ({
    contents: [{ role: "user", parts: [{ inlineData: { mimeType: type, data } }] }],
  }),
};
const protocols = Object.keys(bodies) as ProtocolName[];
const factsOf = (protocol: ProtocolName, type: string) =>
  codecs[protocol].direct.facts(bodies[protocol](type));

it.each(protocols)("BILL-23: a text file counts as its text: %s", (protocol) => {
  for (const type of ["text/plain", "TEXT/CSV; charset=utf-8", "application/json"]) {
    const { inputCharacters, inputMedia } = factsOf(protocol, type);
    expect(inputMedia).toBe(1);
    expect(inputCharacters).toBeGreaterThan(words.length - 10);
    expect(inputCharacters).toBeLessThan(words.length + 200);
  }
});

it.each(protocols)("a binary file counts as one medium, whatever its bytes: %s", (protocol) => {
  for (const type of ["image/png", "application/pdf", "application/zip", "application/shell"]) {
    const { inputCharacters, inputMedia } = factsOf(protocol, type);
    expect(inputMedia).toBe(1);
    expect(inputCharacters).toBeLessThan(200);
  }
});

it("BILL-23: text next to a source in one part is counted", () => {
  const content = [{ type: "text", text: words, source: { type: "base64", data: "" } }];
  const { inputCharacters } = codecs.messages.direct.facts({
    messages: [{ role: "user", content }],
  });
  expect(inputCharacters).toBeGreaterThan(words.length);
});

const scripts = [
  [
    "English",
    "The gateway sets an upper bound aside for each call, and charges what was really used. ",
  ],
  ["Chinese", "网关为每次调用预留一个上限，然后根据实际使用量进行结算，并释放剩余的部分。"],
  [
    "Japanese",
    "呼び出しごとに上限を予約し、その後実際の使用量に基づいて精算し、残りを解放します。",
  ],
  [
    "Korean",
    "각 호출에 대해 상한을 예약한 다음 실제 사용량을 기준으로 정산하고 나머지를 해제합니다.",
  ],
  ["Russian", "Шлюз резервирует верхнюю границу для каждого вызова и рассчитывается по факту. "],
  ["pictographs", "👍🔥🚀🎉😀"],
  ["code with Chinese notes", "const limit = bound(call); // 每次调用的上限\n"],
] as const;

it.each(scripts)(
  "BILL-21: the estimate of %s is between one and 2.1 times its tokens",
  (_name, text) => {
    for (const repeats of [30, 3_000]) {
      const content = text.repeat(repeats);
      const body = { messages: [{ role: "user", content }] };
      for (const protocol of ["chat", "messages"] as const) {
        const { inputCharacters } = codecs[protocol].direct.facts(body);
        const tokens = countTokens(text.repeat(30)) * (repeats / 30);
        expect(estimateInputTokens(inputCharacters, 0) / tokens).toBeGreaterThan(1);
        expect(estimateInputTokens(inputCharacters, 0) / tokens).toBeLessThan(2.1);
      }
    }
  },
);

const schema: JsonObject = {
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`property_${index}`, { type: "string" }]),
  ),
};
const asking: Readonly<Record<ProtocolName, JsonObject>> = {
  chat: { response_format: { type: "json_schema", json_schema: { name: "n", schema } } },
  responses: { text: { format: { type: "json_schema", name: "n", schema } } },
  messages: { output_config: { format: { type: "json_schema", schema } } },
  generate_content: { generationConfig: { responseJsonSchema: schema } },
};

it.each(protocols)("BILL-21: the names in an answer's schema are counted: %s", (protocol) => {
  const { inputCharacters } = codecs[protocol].direct.facts(asking[protocol]);
  expect(inputCharacters).toBeGreaterThan(2_000);
  expect(inputCharacters).toBeLessThan(4_000);
});
