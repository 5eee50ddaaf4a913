/** Families and simulated vendors share no code: a vendor must accept every request that its family accepts from a caller. */
import { Readable } from "node:stream";
import sharp from "sharp";
import { afterAll, describe, expect, it } from "vitest";
import { sandboxCatalog, type Model } from "../../src/catalog/index.ts";
import { families, fieldsOf, readMedia, type Upload } from "../../src/media/index.ts";
import { ask, createPools, mediaDialect } from "../../src/upstream/index.ts";
import { useSandbox } from "./support.ts";

const sandbox = useSandbox();
const pools = createPools();
afterAll(() => pools.close());

const picture = await sharp({
  create: { width: 64, height: 48, channels: 4, background: { r: 9, g: 9, b: 9, alpha: 0 } },
})
  .png()
  .toBuffer();
const upload: Upload = {
  name: "picture",
  mediaType: "image/png",
  bytes: picture.length,
  width: 64,
  height: 48,
  hasAlpha: true,
};

type MediaModel = Extract<Model, { kind: "image" | "video" }>;

const models = [...sandboxCatalog("http://sandbox").models.values()].filter(
  (model): model is MediaModel => model.kind === "image" || model.kind === "video",
);

/** Values of a field to try: all of its presets, or one of each kind. */
function valuesOf(domain: object): unknown[] {
  if ("values" in domain) return domain.values as unknown[];
  if ("presets" in domain) {
    return [
      ...(domain.presets as unknown[]),
      ...("custom" in domain && domain.custom ? ["1280x720"] : []),
    ];
  }
  switch ((domain as { type: string }).type) {
    case "integer":
      return [(domain as { min: number }).min];
    case "boolean":
      return [true, false];
    case "string":
      return ["words"];
    default:
      return [];
  }
}

async function statusOf(
  model: MediaModel,
  fields: object,
  images: readonly Upload[],
  mask?: Upload,
) {
  const { request } = readMedia(model.family, {
    form: "tasks",
    fields: { prompt: "A fox", ...fields },
    encoding: "json",
    images,
    mask,
  });
  const [offer] = model.offers;
  const provider = sandboxCatalog(sandbox.url).providers.get(offer!.provider)!;
  const job = {
    request,
    upstreamModel: offer!.upstreamModel,
    id: "task_1",
    open: () => Readable.from([picture]),
  };
  const sent = mediaDialect(provider.dialect, request.kind)!.submit(provider, "sandbox", job);
  const answer = await ask(pools.forMedia(sandbox.url, 20_000), provider, sent, {
    totalMs: 60_000,
  });
  return answer.status === 200 ? "taken" : answer.body.toString();
}

describe.each(models.map((model) => [model.id, model] as const))("%s", (_id, model) => {
  const family = families[model.family];
  const rows = fieldsOf(family, "tasks")
    .filter(({ name }) => name !== "prompt")
    .flatMap(({ name, field }) => valuesOf(field.domain).map((value) => ({ [name]: value })));

  it.each([{}, ...rows])("accepts %j", async (fields) => {
    expect(await statusOf(model, fields, [])).toBe("taken");
  });
});

const ofKind = (kind: MediaModel["kind"]) =>
  models.filter((model) => model.kind === kind).map((model) => [model.id, model] as const);

it.each(ofKind("image"))("%s accepts one image, several images, and a mask", async (_id, model) => {
  expect(await statusOf(model, {}, [upload])).toBe("taken");
  expect(await statusOf(model, {}, [upload, upload, upload])).toBe("taken");
  expect(await statusOf(model, {}, [upload], upload)).toBe("taken");
});

it.each(ofKind("video"))("%s accepts its kinds of input material", async (_id, model) => {
  const url = `data:image/png;base64,${picture.toString("base64")}`;
  const frames = { image: { url }, last_frame: { url: "https://example.com/last.png" } };
  expect(await statusOf(model, { image: { url }, aspect_ratio: "1:1" }, [])).toBe("taken");
  expect(await statusOf(model, frames, [])).toBe("taken");
  const references = Array.from({ length: 3 }, () => ({ url }));
  expect(await statusOf(model, { reference_images: references }, [])).toBe("taken");
});
