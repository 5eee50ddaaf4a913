// The items of Ark's `content`: what cannot be used is reported, and a refusal names the item as the caller wrote it.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBench, type Bench } from "./support.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench?.close());

const ark = "/api/v3/contents/generations/tasks";
const model = "sandbox/video-model-tokens";
const text = { type: "text", text: "A boat" };
const picture = (role: string, url: string | undefined = "https://1.1.1.1/a.png") => ({
  type: "image_url",
  image_url: { url },
  role,
});

it("members of an item that no field stands for are reported by the caller's names, and others are not", async () => {
  const content = [
    { ...text, lang: "en", cache: null },
    {
      type: "image_url",
      image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "high" },
      role: "first_frame",
      weight: 0.5,
    },
  ];
  const answer = await bench.send("POST", ark, { body: { model, content, duration: 4, foo: 1 } });
  const { id } = (await answer.json()) as { id: string };
  const { notes } = await bench.until(id, "succeeded");
  expect(notes).toEqual(
    ["content[0].lang", "content[1].weight", "content[1].image_url.detail", "foo"].map(
      (name) => `${name}: not supported by this model, dropped`,
    ),
  );
});

const refused: [string, object[], string, string][] = [
  [
    "a picture without an address",
    [text, { type: "image_url", image_url: {} }],
    "content[1].image_url.url",
    "is missing",
  ],
  [
    "a first frame that is no address",
    [picture("first_frame", "ftp://1.1.1.1/a.png"), text],
    "content[0].image_url.url",
    "must be an https address",
  ],
  [
    "the second reference that is no address",
    [picture("reference_image"), text, picture("reference_image", "a.png")],
    "content[2].image_url.url",
    "must be an https address",
  ],
  [
    "a last frame alone",
    [text, picture("last_frame")],
    "content[1].role",
    "last_frame needs first_frame as well",
  ],
  [
    "a reference beside a first frame",
    [picture("first_frame"), picture("reference_image")],
    "content[1].role",
    "reference_image cannot be combined with first_frame",
  ],
  [
    "references beside a last frame",
    [picture("reference_image"), picture("last_frame"), picture("reference_image")],
    "content[0].role",
    "reference_image cannot be combined with last_frame",
  ],
  [
    "fifteen references",
    [text, ...Array.from({ length: 15 }, () => picture("reference_image"))],
    "content",
    "must have at most 14 of the role reference_image",
  ],
];
it("fields outside content are refused by the caller's names too", async () => {
  const refusal = async (more: object) => {
    const body = { model, content: [text], ...more };
    const answer = await bench.send("POST", ark, { body });
    return ((await answer.json()) as { error: { param: string; message: string } }).error;
  };
  const address = await refusal({ callback_url: 5 });
  expect([address.param, address.message]).toEqual([
    "callback_url",
    expect.stringContaining("The field callback_url must be a string."),
  ]);
  const image = await refusal({ image: { url: 5 } });
  expect([image.param, image.message]).toEqual([
    "image.url",
    expect.stringContaining("image.url: must be text."),
  ]);
});

it.each(refused)("%s is refused with the name of the item", async (_name, content, param, why) => {
  const answer = await bench.send("POST", ark, { body: { model, content } });
  const { error } = (await answer.json()) as { error: { param: string; message: string } };
  expect([answer.status, error.param]).toEqual([400, param]);
  expect(error.message).toContain(`${param}: ${why}`);
});

it.each([
  ["frames", 57, "is not supported; send duration"],
  ["draft", true, "is not supported"],
] as const)(
  "%s is refused: without it the caller would pay for another video",
  async (field, value, why) => {
    const body = { model, content: [text], [field]: value };
    const answer = await bench.send("POST", ark, { body });
    const { error } = (await answer.json()) as { error: { param: string; message: string } };
    expect([answer.status, error.param]).toEqual([400, field]);
    expect(error.message).toContain(`${field}: ${why}`);
  },
);

it("a draft of false and no frames, as Ark's clients write them out, are no reason to refuse", async () => {
  const body = { model, content: [text], duration: 4, draft: false, frames: null };
  expect((await bench.send("POST", ark, { body })).status).toBe(200);
});

it.each(["A boat --dur 12", "--resolution=1080p A boat", "A boat\n--frames 289 at sea"])(
  "a setting in the prompt is refused, because the vendor would make a dearer video than is reserved: %j",
  async (prompt) => {
    const content = [{ type: "text", text: prompt }];
    const answer = await bench.send("POST", ark, { body: { model, content, duration: 1 } });
    const { error } = (await answer.json()) as { error: { param: string; message: string } };
    expect([answer.status, error.param]).toEqual([400, "content"]);
    expect(error.message).toMatch(/^content: has --\w+, which the vendor reads as a setting/);
  },
);
