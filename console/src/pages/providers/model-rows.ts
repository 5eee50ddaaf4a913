/** Converts the form's models of a provider: a text model by fields, all others as JSON. */

export interface TextModelFields {
  readonly id: string;
  readonly upstream: string;
  readonly protocol: string;
  readonly context: string;
  readonly output: string;
  readonly inputPrice: string;
  readonly outputPrice: string;
}

/** A text model as in the configuration file; its offer belongs to the provider in the same request. */
export const textModelRow = (fields: TextModelFields): object => ({
  id: fields.id,
  kind: "text",
  context_length: Number(fields.context),
  max_output_tokens: Number(fields.output),
  offers: [
    {
      protocol: fields.protocol,
      upstream_model: fields.upstream === "" ? fields.id.split("/").pop() : fields.upstream,
      price: { input: fields.inputPrice, output: fields.outputPrice },
    },
  ],
});

/** Parses a list of models from JSON, or returns its fault. */
export function readModels(text: string): readonly object[] | string {
  try {
    const list: unknown = JSON.parse(text);
    const isList = Array.isArray(list) && list.every((one) => typeof one === "object" && one);
    return isList ? (list as object[]) : "This must be a list of models: [{ ... }].";
  } catch (error) {
    return `This is not valid JSON: ${(error as Error).message}`;
  }
}
