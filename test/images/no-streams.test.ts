// Image streams at providers with and without streaming.
import { afterEach, expect, it } from "vitest";
import { picture, prompted, type ImageAnswer } from "./support.ts";
import { startVendors, twoOffers } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

it("EDIT2-40, ERR-07: where none streams a stream is refused, and whole answers are given", async () => {
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
});

it("EDIT2-40: where one streams it is asked, whatever it costs, without having said so in the file", async () => {
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
