/** The models that a caller can call, and the plans of embedding models. MODELS rows. */
import { describe, expect, it } from "vitest";
import { sandboxCatalog } from "../../src/catalog/index.ts";
import {
  modelsFor,
  openScope,
  parseModelId,
  plan,
  type RoutingScope,
} from "../../src/routing/index.ts";
import { leastCostMs } from "../support/cost.ts";

describe("embedding models", () => {
  const sandbox = sandboxCatalog("http://s");
  const input = {
    catalog: sandbox,
    parsed: parseModelId("sandbox/embedding"),
    scope: openScope,
    random: () => 0.5,
  };

  it("are planned at their own entry point, with the same constraints", () => {
    const planned = plan({ ...input, entryPoint: "embeddings" });
    expect(planned.offers).toMatchObject([{ provider: "sandbox-openai", protocol: "embeddings" }]);
    expect(planned.explanation.order).toEqual(["sandbox-openai/embeddings"]);
    const scope = { ...openScope, modelAllowlists: [["sandbox/chat"]] };
    expect(() => plan({ ...input, scope, entryPoint: "embeddings" })).toThrow("allowlist");
  });

  it("are refused at text endpoints, and text models at the embeddings endpoint", () => {
    expect(() => plan({ ...input, entryPoint: "messages" })).toThrow("it offers embeddings");
    const parsed = parseModelId("sandbox/chat");
    expect(() => plan({ ...input, parsed, entryPoint: "embeddings" })).toThrow(
      "does not offer embeddings",
    );
  });
});

describe("modelsFor", () => {
  const ids = (scope: Partial<RoutingScope>) =>
    modelsFor(sandboxCatalog("http://s"), { ...openScope, ...scope }).map(({ model }) => model.id);

  it("lists the models that have an endpoint, in the catalogue's order", () => {
    expect(ids({})).toEqual([
      "sandbox/chat",
      "sandbox/responses",
      "sandbox/messages",
      "sandbox/generate-content",
      "sandbox/multi",
      "sandbox/embedding",
      "sandbox/image-model-a",
      "sandbox/image-model-b",
      "sandbox/task-image-model-1",
      "sandbox/task-image-model-2",
      "sandbox/image-model-c",
      "sandbox/video-model-v1",
      "sandbox/video-model-v1.5",
      "sandbox/video-model-seconds",
      "sandbox/video-model-tokens",
    ]);
  });

  it("applies allowlists, tiers and pins", () => {
    expect(
      ids({ modelAllowlists: [["sandbox/chat", "sandbox/multi"], ["sandbox/multi"]] }),
    ).toEqual(["sandbox/multi"]);
    expect(ids({ supplyTiers: [["official"]] })).toEqual([]);
    expect(ids({ pinnedProviders: [["sandbox-google"]] })).toEqual([
      "sandbox/generate-content",
      "sandbox/multi",
    ]);
  });

  it("asks allowlists of ten thousand names in a moment, as for each key of a page", async () => {
    const sandbox = sandboxCatalog("http://s");
    const chat = sandbox.models.get("sandbox/chat")!;
    const ids = Array.from({ length: 500 }, (_, at) => `many/${at}`);
    const catalog = { ...sandbox, models: new Map(ids.map((id) => [id, { ...chat, id }])) };
    const others = Array.from({ length: 9_500 }, (_, at) => `none/${at}`);
    const scope = {
      ...openScope,
      modelAllowlists: [ids, [...others, ...ids], [...others, ...ids]],
    };
    const page = () => Array.from({ length: 100 }, () => modelsFor(catalog, scope).length);
    // Searching the lists for each model took more than a second.
    expect(await leastCostMs(page, 400)).toBeLessThan(400);
    expect(modelsFor(catalog, scope)).toHaveLength(500);
  });
});
