/** Pictures whose label is not the type of their bytes: Anthropic and Bedrock refuse them, other vendors do not look. CONV-417. */
import { expect, it } from "vitest";
import { routeOf } from "./route.ts";
import type { Body } from "./world.ts";

const signatures: readonly (readonly [type: string, start: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff\xe0"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF\x24\x00\x0a\x00WEBP"],
];
const pictureOf = (start: string): string =>
  Buffer.from(start.padEnd(64, "\0"), "latin1").toString("base64");

const chatWith = (label: string, data: string): Body => ({
  model: "acme/x",
  messages: [
    {
      role: "user",
      content: [{ type: "image_url", image_url: { url: `data:${label};base64,${data}` } }],
    },
  ],
});
const anyJpeg = pictureOf("\xff\xd8\xff\xe0");
const noted = (label: string, data: string) =>
  routeOf("chat", "messages", chatWith(label, data)).notes;

it.each(signatures)(
  "CONV-417: a picture of %s is sent as what it is, whatever its label",
  (type, start) => {
    const data = pictureOf(start);
    for (const label of ["image/png", "image/jpeg", "application/octet-stream"]) {
      const call = chatWith(label, data);
      const claude = JSON.stringify(routeOf("chat", "messages", call).body["messages"]);
      expect(claude).toContain(`"media_type":"${type}"`);
      const converse = JSON.stringify(routeOf("chat", "converse", call).body["messages"]);
      expect(converse).toContain(`"format":"${type.slice("image/".length)}"`);
      const params = noted(label, data).map(({ param }) => param);
      expect(params).toEqual(label === type ? [] : ["messages.content.image_url"]);
    }
  },
);

it("keeps the label of a picture that is none of the four, or too short to tell", () => {
  for (const data of [pictureOf("II*\0"), pictureOf("RIFF\x24\x00\x0a\x00WAVE"), "iVBORw0KGgo="])
    expect(noted("image/jpeg", data)).toEqual([]);
  expect(noted("image/jpg", anyJpeg)).toEqual([]);
});

it("CONV-417: a picture in a result of a tool too", () => {
  const content = [
    {
      type: "image",
      source: { type: "base64", media_type: "image/jpeg", data: pictureOf("GIF87a") },
    },
  ];
  const call = {
    model: "acme/x",
    max_tokens: 9,
    messages: [
      { role: "user", content: "Look." },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content }] },
    ],
  };
  const { body } = routeOf("messages", "converse", call);
  expect(JSON.stringify(body)).toContain('"format":"gif"');
});
