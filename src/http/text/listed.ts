/** The lists of models in the shapes of their readers. MODELS rows. */
import { getOrMake, perObject } from "../../base/made-once.ts";
import { listModels } from "../../calls/index.ts";
import { modelNames, type Catalog } from "../../catalog/index.ts";

export type ListedModel = ReturnType<typeof listModels>[number];

/** How a list is written, and one model, of a catalogue. */
export interface Shape {
  readonly list: (models: ListedModel[], catalog: Catalog) => object;
  readonly one: (model: ListedModel, catalog: Catalog) => object;
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
  list: (models, catalog) => ({
    object: "list",
    data: models.map((model) => anthropicModel(model, catalog)),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
  one: anthropicModel,
};

/** The last second that RFC 3339 has; a server may tell its models' time in other units. */
const lastSecond = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString();

function anthropicModel(model: ListedModel, catalog: Catalog) {
  return {
    ...model,
    type: "model",
    display_name: model.name,
    // The beginning of time stands for one that is not known.
    created_at: timeText(model.created <= lastSecond ? model.created : 0),
    // 0 stands for what is not counted.
    max_input_tokens: model.context_length || null,
    max_tokens: model.max_output_tokens || null,
    ...lifecycleOf(model, catalog),
    capabilities: null,
    deprecated_at: null,
    line: null,
  };
}

function lifecycleOf({ id }: ListedModel, catalog: Catalog) {
  const model = catalog.models.get(modelNames(catalog).any(id) ?? id);
  const { stage, retiresAtMs } = (model?.kind === "text" ? model.lifecycle : undefined) ?? {};
  return {
    lifecycle: stage === "deprecated" ? "deprecated" : "active",
    retires_at: retiresAtMs === undefined ? null : timeText(retiresAtMs / 1000),
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
  const listsOf = perObject((_catalog: Catalog) => new Map<Shape, Buffer>());
  return (catalog, shape) =>
    getOrMake(listsOf(catalog), shape, () =>
      Buffer.from(JSON.stringify(shape.list(listModels(catalog, undefined), catalog))),
    );
}
