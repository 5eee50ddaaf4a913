/** Answers whose content is a list of parts: the same whole and streamed. Traps T14, T15. */
import { expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor, decodeFrames } from "./support.ts";

const png = "iVBORw0KGgo=";
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
const media = {
  type: "media",
  media: "image",
  source: { kind: "base64", mediaType: "image/png", data: png },
};
const said = { type: "text", text: "a" };

const streamed = (content: JsonObject[]) =>
  collect(
    decodeFrames(chatCodec, [
      { data: JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content } }] }) },
      {
        data: JSON.stringify({
          id: "c",
          choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
        }),
      },
      { data: "[DONE]" },
    ]),
  );
const whole = (content: JsonObject[]) =>
  chatCodec.decodeResponse({
    id: "c",
    choices: [{ index: 0, message: { content }, finish_reason: "stop" }],
  });

it.each<[string, JsonObject[], object[]]>([
  ["a picture", [said, picture], [said, media]],
  [
    "a refusal",
    [said, { type: "refusal", refusal: "no" }],
    [said, { type: "refusal", text: "no" }],
  ],
  ["a text of the responses protocol", [{ type: "output_text", text: "a" }], [said]],
])("T14 T15: %s among content parts is kept", (_, content, parts) => {
  expect(whole(content).content).toEqual(parts);
  expect(streamed(content).content).toEqual(parts);
});

it("T15: choices without numbers are pieces of one answer, as Claude's calls at GitHub Copilot", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
  const choices: JsonObject[] = [
    { finish_reason: "tool_calls", message: { role: "assistant", content: "I look." } },
    { finish_reason: "tool_calls", message: { role: "assistant", tool_calls: [call("a")] } },
    { finish_reason: "tool_calls", message: { role: "assistant", tool_calls: [call("b")] } },
  ];
  expect(chatCodec.decodeResponse({ choices })).toMatchObject({
    content: [
      { type: "text", text: "I look." },
      { type: "tool_call", id: "a" },
      { type: "tool_call", id: "b" },
    ],
    finish: { reason: "tool_calls" },
  });
});

it("T15: the first of several choices is read, at any position in the list", () => {
  const choice = (index: number) => ({
    index,
    message: { content: String(index) },
    finish_reason: "stop",
  });
  const read = chatCodec.decodeResponse({ id: "c", choices: [choice(1), choice(0)] });
  expect(read.content).toEqual([{ type: "text", text: "0" }]);
});

it("T25: an empty text next to calls is written as no content, as in a stream", () => {
  const written = chatCodec.encodeResponse(
    {
      protocol: "messages",
      id: "m",
      createdAt: 0,
      content: [
        { type: "text", text: "" },
        { type: "tool_call", id: "c", name: "f", arguments: "{}" },
      ],
      finish: { reason: "tool_calls" },
    },
    contextFor(),
  );
  expect(written["choices"]).toMatchObject([{ message: { content: null } }]);
});
