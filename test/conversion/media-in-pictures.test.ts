/** Videos and sound in a picture's place, as Dify sends them. CONV-424, CONV-517, CONV-518. */
import { expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { byName, type Name } from "./world.ts";

const data = "AAAAIGZ0eXBpc29tAAACAA==";
const png = "iVBORw0KGgoAAAANSUhEUgAA";
const urlOf = (type: string, bytes = data) => `data:${type};base64,${bytes}`;

/** The same question to both protocols that have addresses of pictures. */
const asked = (url: string) =>
  [
    ["chat", "messages", { type: "image_url", image_url: { url, detail: "low" } }],
    ["responses", "input", { type: "input_image", image_url: url, detail: "low" }],
  ] as const;

function sentTo(upstream: Name, url: string): string[] {
  return asked(url).map(([caller, member, part]) => {
    const body = byName[caller].body("acme/x", false);
    const route = routeOf(caller, upstream, {
      ...body,
      [member]: [{ role: "user", content: [part] }],
    });
    return JSON.stringify(route.body);
  });
}

it.each(["video/mp4", "audio/wav", "application/pdf"])(
  "CONV-517 CONV-518: %s in a picture's place goes to generateContent as what it is",
  (type) => {
    for (const sent of sentTo("generate_content", urlOf(type)))
      expect(sent).toContain(`{"inlineData":{"mimeType":"${type}","data":"${data}"}}`);
  },
);

it.each([
  ["video/mp4", /video content/],
  ["AUDIO/wav", /audio content/],
])("CONV-424: %s in a picture's place is refused by its kind towards messages", (type, words) => {
  expect(() => sentTo("messages", urlOf(type))).toThrow(words);
});

it.each([
  ["chat", "messages", "image_url"],
  ["responses", "input", "input_image"],
] as const)(
  "CONV-424: the refusal names the field of %s in which it stood",
  (caller, field, part) => {
    const url = urlOf("video/mp4");
    const content = [{ type: part, image_url: caller === "chat" ? { url } : url }];
    const body = { ...byName[caller].body("acme/x", false), [field]: [{ role: "user", content }] };
    const param = `${field}.content.${part}`;
    const refusal: unknown = expect.objectContaining({
      param,
      message: expect.stringContaining(param) as unknown,
    });
    expect(() => routeOf(caller, "messages", body)).toThrow(refusal);
    const abilities = { inputModalities: ["text", "image"] } as const;
    const direct = { abilities, inputMedia: 1 };
    expect(() => routeOf(caller, caller, body, direct)).toThrow(refusal);
  },
);

it("CONV-517: the bytes of a picture count more than its label", () => {
  for (const sent of sentTo("messages", urlOf("video/mp4", png)))
    expect(sent).toContain(`{"type":"base64","media_type":"image/png","data":"${png}"}`);
});
