/** The lists of models in the shapes that the SDKs read. MODELS rows. */
import { getOrCreate, memoizeByObject } from "../../base/memoize.ts";
import { listModels } from "../../calls/index.ts";
import { modelNames, type Catalog } from "../../catalog/index.ts";

export type ListedModel = ReturnType<typeof listModels>[number];

/** Encodes the list of a catalogue's models, and one model. */
export interface ModelListShape {
  readonly list: (models: ListedModel[], catalog: Catalog) => object;
  readonly one: (model: ListedModel, catalog: Catalog) => object;
}

export const openShape: ModelListShape = {
  list: (data) => ({ object: "list", data }),
  one: (model) => model,
};

/**
 * Codex reads the details of its own models from `models`, fails without it and logs that at each start. From an empty list it keeps the
 * details that it has.
 */
export const codexShape: ModelListShape = {
  ...openShape,
  list: (data) => ({ object: "list", data, models: [] }),
};

export const geminiShape: ModelListShape = {
  list: (models) => ({ models: models.map(geminiModel) }),
  one: geminiModel,
};

/** Adds the fields of Anthropic's SDK to those of every model. */
export const anthropicShape: ModelListShape = {
  list: (models, catalog) => ({
    object: "list",
    data: models.map((model) => anthropicModel(model, catalog)),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
  one: anthropicModel,
};

/** The last second of RFC 3339. A server may give its models' time in another unit. */
const lastSecond = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString();

function anthropicModel(model: ListedModel, catalog: Catalog) {
  return {
    ...model,
    type: "model",
    display_name: model.name,
    // The epoch stands for an unknown time.
    created_at: timeText(model.created <= lastSecond ? model.created : 0),
    // 0 means unknown or not counted.
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
    // Google documents it as required, and typed clients in Rust do so too. The vendors' versions have no form in common.
    version: "",
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
 * The lists for callers without a key, as bytes of JSON. All of them get the same list while a catalogue is in force. Encoding a list
 * of 500 models takes as long as a hundred other answers. One copy in memory serves all connections that wait to read it.
 */
export function publicModelLists(): (catalog: Catalog, shape: ModelListShape) => Buffer {
  const listsOf = memoizeByObject((_catalog: Catalog) => new Map<ModelListShape, Buffer>());
  return (catalog, shape) =>
    getOrCreate(listsOf(catalog), shape, () =>
      Buffer.from(JSON.stringify(shape.list(listModels(catalog, undefined), catalog))),
    );
}
