// Image streams at providers with and without streaming.
import { afterEach, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { picture, prompted, type ImageAnswer } from "./support.ts";
import { startVendors, twoOffers } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

it("EDIT2-40, ERR-07: a stream is refused with 400 if no provider of the model streams, and a whole answer is given", async () => {
  vendors = await startVendors({ streaming: [false, false] });
  const image = await picture();
  const edit = (fields: object) =>
    vendors.bench.edit({ model: twoOffers, prompt: prompted(), ...fields }, { image });
  const refused = await edit({ stream: "true" });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { code: "streaming_not_supported", param: "stream" },
  });
  expect(vendors.first.requests).toEqual([]);
  expect((await vendors.bench.state()).holds).toBe(0);
  const pinned = await edit({ stream: "true", model: "acme/edit:nobody" });
  expect(await pinned.json()).toMatchObject({ error: { code: "provider_not_found" } });
  vendors.answer(json({ data: [{ b64_json: image.toString("base64") }] }));
  const whole = await edit({ stream: "false" });
  expect(whole.status).toBe(200);
  const { data, gw } = (await whole.json()) as ImageAnswer;
  expect(data).toEqual([{ b64_json: image.toString("base64") }]);
  expect(gw!.provider).toBe("first");
});

it("EDIT2-40: a stream goes to the provider that streams, even if it costs more", async () => {
  vendors = await startVendors({ streaming: [false, true] });
  const image = await picture();
  const answer = await vendors.bench.edit(
    { model: twoOffers, prompt: prompted(), stream: "true" },
    { image },
  );
  const text = await answer.text();
  expect(text).toContain("event: image_edit.completed");
  const [, data] = /^data: (.*)$/m.exec(text)!;
  expect((JSON.parse(data!) as ImageAnswer).gw!.provider).toBe("second");
  expect(vendors.first.requests).toEqual([]);
});
