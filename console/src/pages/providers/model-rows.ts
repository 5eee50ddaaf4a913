/** The models of a provider, as its form takes them: text models field by field, anything else as JSON. */

export interface TextModelFields {
  readonly id: string;
  readonly upstream: string;
  readonly protocol: string;
  readonly context: string;
  readonly output: string;
  readonly inputPrice: string;
  readonly outputPrice: string;
}

/** A text model as the configuration file has it; its offer is of the provider it is sent with. */
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

/** A list of models out of JSON, or what is wrong with it. */
export function readModels(text: string): readonly object[] | string {
  try {
    const list: unknown = JSON.parse(text);
    const isList = Array.isArray(list) && list.every((one) => typeof one === "object" && one);
    return isList ? (list as object[]) : "This must be a list of models: [{ ... }].";
  } catch (error) {
    return `This is no JSON: ${(error as Error).message}`;
  }
}
