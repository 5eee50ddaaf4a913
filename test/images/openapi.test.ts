// Image answers match the OpenAPI document.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { byId, faults, named, resolve } from "../http/openapi-support.ts";
import { modelB, picture, prompted, startImages, type ImageBench } from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages();
});
afterAll(() => bench.close());

it("whole answers fit their schema, and the header of dropped parameters is described", async () => {
  const image = await picture();
  const answers = [
    await bench.generate({ prompt: prompted({ reply: "A red fox" }), foo: 1 }),
    await bench.edit({ model: modelB, prompt: "x", background: "auto" }, { image }),
  ];
  const { headers } = byId("createImage").operation.responses["200"]! as unknown as {
    headers: object;
  };
  expect(Object.keys(headers)).toContain("x-gw-dropped-params");
  expect(answers[0]!.headers.get("x-gw-dropped-params")).toBe("foo");
  for (const answer of answers)
    expect(faults(named("ImageAnswer"), await answer.json())).toEqual([]);
});

it("events of all three kinds fit their schema", async () => {
  const image = await picture();
  const stream = (script?: object) =>
    bench.edit(
      { model: modelB, prompt: prompted(script), stream: "true", partial_images: "1" },
      { image },
    );
  const text =
    (await (await stream()).text()) + (await (await stream({ cut_after_chunks: 1 })).text());
  const events = createSseParser().push(Buffer.from(text));
  const names = new Set(events.map(({ event }) => event));
  expect([...names]).toEqual(["image_edit.partial_image", "image_edit.completed", "error"]);
  for (const { data } of events) expect(faults(named("ImageEvent"), JSON.parse(data))).toEqual([]);
});

it("the form's schema has the fields that the form accepts", () => {
  const form = resolve("#/components/schemas/ImageEditForm") as {
    properties: object;
    required: string[];
  };
  expect(Object.keys(form.properties)).toEqual(
    expect.arrayContaining(["model", "prompt", "image", "image[]", "mask", "stream", "size"]),
  );
  expect(Object.keys(form.properties)).not.toContain("webhook_url");
  expect(form.required).toEqual(["prompt"]);
});
