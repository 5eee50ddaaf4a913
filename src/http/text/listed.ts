/** The lists of models in the shapes of their readers. MODELS rows. */
import { listModels } from "../../calls/index.ts";
import type { Catalog } from "../../catalog/index.ts";

export type ListedModel = ReturnType<typeof listModels>[number];

/** How a list is written, and one model. */
export interface Shape {
  readonly list: (models: ListedModel[]) => object;
  readonly one: (model: ListedModel) => object;
}

export const openShape: Shape = {
  list: (data) => ({ object: "list", data }),
  one: (model) => model,
};

export const geminiShape: Shape = {
  list: (models) => ({ models: models.map(geminiModel) }),
  one: geminiModel,
};

/** What Anthropic's SDK reads beside what every model says. */
export const anthropicShape: Shape = {
  list: (models) => ({
    ...openShape.list(models.map(anthropicModel)),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
  one: anthropicModel,
};

function anthropicModel(model: ListedModel) {
  return {
    ...model,
    type: "model",
    display_name: model.name,
    created_at: new Date(model.created * 1000).toISOString(),
    // 0 stands for what is not counted.
    max_input_tokens: model.context_length || null,
    max_tokens: model.max_output_tokens || null,
    lifecycle: "active",
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
    line: null,
  };
}

function geminiModel(model: ListedModel) {
  return {
    name: `models/${model.id}`,
    displayName: model.name,
    description: model.description,
    inputTokenLimit: model.context_length,
    outputTokenLimit: model.max_output_tokens,
    supportedGenerationMethods: model.endpoints.some((endpoint) => endpoint === "generate_content")
      ? ["generateContent", "countTokens"]
      : [],
  };
}

/**
 * What strangers read, as bytes of JSON. It is the same for all of them while a catalogue holds: made anew for each, a list of 500
 * models takes as long as a hundred other answers. It is in memory once, however many connections it waits to be read on.
 */
export function listsOfStrangers(): (catalog: Catalog, shape: Shape) => Buffer {
  const known = new WeakMap<Catalog, Map<Shape, Buffer>>();
  return (catalog, shape) => {
    const lists = known.get(catalog) ?? new Map<Shape, Buffer>();
    known.set(catalog, lists);
    const bytes =
      lists.get(shape) ?? Buffer.from(JSON.stringify(shape.list(listModels(catalog, undefined))));
    lists.set(shape, bytes);
    return bytes;
  };
}
