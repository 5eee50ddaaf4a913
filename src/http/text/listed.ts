/** The lists of models in both shapes. MODELS rows. */
import { listModels } from "../../calls/index.ts";
import type { Catalog } from "../../catalog/index.ts";

export type ListedModel = ReturnType<typeof listModels>[number];

/** How a list is written. */
export type Shape = (models: ListedModel[]) => object;

export const openList: Shape = (data) => ({ object: "list", data });
export const geminiList: Shape = (models) => ({ models: models.map(geminiModel) });

/** A model in the generateContent shape. */
export function geminiModel(model: ListedModel) {
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
      lists.get(shape) ?? Buffer.from(JSON.stringify(shape(listModels(catalog, undefined))));
    lists.set(shape, bytes);
    return bytes;
  };
}
