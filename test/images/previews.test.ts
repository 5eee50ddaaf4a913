// Previews of a vendor: the gateway sends only the requested number, and charges the sent ones if the vendor reports no usage.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSseParser, formatSse } from "../../src/base/sse.ts";
import { sse } from "../support/recorder.ts";
import { picture, type Bytes } from "./support.ts";
import { startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
let image: Bytes;
beforeAll(async () => {
  vendors = await startVendors();
  image = await picture();
});
afterAll(() => vendors.close());

/** Billed tokens of a preview if its vendor reports none. */
const tokensPerPreview = 100n;
/** The price of the recorder's offer, in nano-USD per token. */
const nanoPerToken = 1_000n;

const usage = {
  input_tokens: 10,
  output_tokens: 500,
  total_tokens: 510,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
};

/** Makes a call whose vendor makes `made` previews. Returns the caller's events and the charge. `odd` replaces parts of each preview. */
async function streamed(
  asked: number | undefined,
  made: number,
  reportedUsage: object = {},
  odd: object = {},
) {
  const { bench } = vendors;
  const b64_json = image.toString("base64");
  const event = (kind: string, rest: object) => {
    const type = `image_edit.${kind}`;
    return formatSse({ event: type, data: JSON.stringify({ type, b64_json, ...rest }) });
  };
  const previews = Array.from({ length: made }, (_, index) =>
    event("partial_image", { partial_image_index: index, ...odd }),
  );
  vendors.answer(sse([...previews, event("completed", reportedUsage)].join("")));
  const before = await bench.state();
  const fields = { model: "acme/edit:first", prompt: "x", stream: "true" };
  const partial_images = asked === undefined ? {} : { partial_images: String(asked) };
  const answer = await bench.edit({ ...fields, ...partial_images }, { image });
  const events = createSseParser().push(Buffer.from(await answer.text()));
  const { chargedNano } = await bench.state();
  return {
    names: events.map((one) => one.event),
    nano: chargedNano - before.chargedNano,
  };
}

const sent = (previews: number): string[] => [
  ...Array.from({ length: previews }, () => "image_edit.partial_image"),
  "image_edit.completed",
];

describe("EDIT2-27, BILL-09: a vendor that makes more previews than requested", () => {
  it("has only the requested ones sent and charged", async () => {
    const none = await streamed(undefined, 0);
    expect(none.names).toEqual(sent(0));
    expect(await streamed(undefined, 3)).toEqual(none);
    expect(await streamed(0, 2)).toEqual(none);
    const one = await streamed(1, 3);
    expect(one.names).toEqual(sent(1));
    expect(one.nano).toBe(none.nano + tokensPerPreview * nanoPerToken);
  });

  it("EDIT2-30: is charged by its reported usage, whatever it made", async () => {
    const result = await streamed(0, 3, { usage });
    expect(result).toEqual({ names: sent(0), nano: 510n * nanoPerToken });
  });
});

describe("a preview that cannot be shown", () => {
  it.each([
    ["text in place of a picture", { b64_json: "aGVsbG8=" }],
    ["an address", { b64_json: undefined, url: "https://1.1.1.1/a.png" }],
    ["nothing", { b64_json: null }],
  ])("with %s is left out, and the picture is sent and charged", async (_what, odd) => {
    const none = await streamed(0, 0);
    expect(await streamed(2, 2, {}, odd)).toEqual(none);
  });
});

describe("EDIT2-30, BILL-20: a vendor that makes fewer previews than requested", () => {
  it("is charged for those it made if it reports no usage", async () => {
    const none = await streamed(0, 0);
    expect(await streamed(3, 0)).toEqual(none);
    const two = await streamed(3, 2);
    expect(two).toEqual({
      names: sent(2),
      nano: none.nano + 2n * tokensPerPreview * nanoPerToken,
    });
  });
});

describe("BILL-09, IMG-25: a vendor that reports no usage", () => {
  it("is charged for the quality and size that it chose, not for the most expensive ones", async () => {
    const [low, untold] = [await streamed(0, 0, { quality: "low" }), await streamed(0, 0)];
    expect(low.nano).toBeLessThan(untold.nano);
    // An output of 3840x2160 in high quality has 32,640 tokens.
    expect(untold.nano).toBeLessThan(32_640n * nanoPerToken);
  });
});
