/** The error of a model that does not exist, with the one that may have been meant. */
import { GatewayError } from "../base/errors.ts";
import type { Catalog } from "../catalog/index.ts";

type Models = Catalog["models"];

/** Of names that differ in capitals, dots, dashes or underscores there is one. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[._ -]/g, "");

const known = new WeakMap<Models, ReadonlyMap<string, string>>();

/** Ids by what people write in place of them: another spelling, or the name without its vendor. The first of several counts. */
function likelyIds(models: Models): ReadonlyMap<string, string> {
  let likely = known.get(models);
  if (likely === undefined) {
    const ids = [...models.keys()].reverse();
    const bare = (id: string): string => plain(id.slice(id.indexOf("/") + 1));
    likely = new Map([
      ...ids.map((id) => [bare(id), id] as const),
      ...ids.map((id) => [plain(id), id] as const),
    ]);
    known.set(models, likely);
  }
  return likely;
}

/** What a caller reads who asks for a model that there is not. `why`: what else is wrong with its id. */
export function unknownModel(
  text: string,
  { models }: Pick<Catalog, "models">,
  why = "",
): GatewayError {
  const meant = likelyIds(models).get(plain(text));
  const hint =
    models.size === 0
      ? "This gateway has no models yet: `tollgate doctor` says how it gets some."
      : meant === undefined
        ? "GET /v1/models lists those you can call."
        : `Did you mean "${meant}"? GET /v1/models lists those you can call.`;
  const message = `The model "${text}" does not exist${why}. ${hint}`;
  return new GatewayError("model_not_found", message, { param: "model" });
}
