/** Unknown model names: suggests the model that was probably meant, and builds the error of a call. */
import { GatewayError } from "../base/errors.ts";
import { memoizeByObject } from "../base/memoize.ts";
import { nearest } from "../base/suggest.ts";
import { modelNameMax, shortText } from "../base/text.ts";
import { localRows, modelNames, vendorRows, type Catalog } from "../catalog/index.ts";

type Models = Catalog["models"];

/** Normalises a name: names that differ only in capitals, dots, dashes, underscores, spaces or colons become equal. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[._: -]/g, "");

/** Ids by their usual misspellings: another spelling, or the name without its vendor. If several ids match, the first one wins. */
const likelyIds = memoizeByObject((models: Models): ReadonlyMap<string, string> => {
  const ids = [...models.keys()].reverse();
  const bare = (id: string): string => plain(id.slice(id.indexOf("/") + 1));
  return new Map([
    ...ids.map((id) => [bare(id), id] as const),
    ...ids.map((id) => [plain(id), id] as const),
  ]);
});

/** Cache of searched names, so that a list of keys with the same mistake is searched once. */
const sought = new WeakMap<Models, Map<string, string | undefined>>();
const soughtMax = 1_000;

function nearestId(name: string, models: Models): string | undefined {
  let before = sought.get(models);
  if (before === undefined || before.size >= soughtMax) {
    before = new Map();
    sought.set(models, before);
  }
  if (!before.has(name)) before.set(name, nearest(name, [...models.keys()]));
  return before.get(name);
}

/**
 * The id that was probably meant by an unknown name: that of the model with this alias, else the most similar id. Only for the management
 * API: comparing takes some milliseconds.
 */
export function meantModel(
  name: string,
  catalog: Catalog,
): { readonly id: string; readonly isAlias: boolean } | undefined {
  const { models, defaultModel } = catalog;
  const alias = modelNames(catalog).any(name);
  if (alias !== undefined && alias !== defaultModel) return { id: alias, isAlias: true };
  const id = likelyIds(models).get(plain(name)) ?? nearestId(name, models);
  return id === undefined ? undefined : { id, isAlias: false };
}

/** The caller's text, shortened for an answer and the request log. */
export const quoted = (text: string): string => shortText(text, modelNameMax);

const vendorOf = (id: string): string => id.slice(0, Math.max(0, id.indexOf("/")));

/** The vendors that have models in the catalogue. */
const vendorsThere = memoizeByObject((models: Models) => new Set([...models.keys()].map(vendorOf)));

/** The setting that enables a vendor without models here. This is the usual first mistake after a start with another vendor's key. */
function vendorHint(text: string, models: Models): string {
  const vendor = vendorOf(text).toLowerCase();
  if (vendor === "" || vendorsThere(models).has(vendor)) return "";
  if (vendor === "sandbox")
    return "The simulated vendors are off here: whoever runs this gateway sets TOLLGATE_SANDBOX=on. ";
  const local = localRows.find(({ id }) => id === vendor);
  const row = vendorRows().find(({ id, prefix = id }) => prefix === vendor);
  const by = local === undefined ? row?.variables[0] : `${local.variable}, where it answers`;
  if (by === undefined) return "";
  return `No model of ${(local ?? row)!.name} is here: whoever runs this gateway sets ${by} (\`tollgate vendors\`). `;
}

/**
 * The error for an unknown model. `why`: another problem of the id. `suffix`: the text that was read as a provider name, which may be part
 * of a vendor's own model name, such as `llama3:8b`.
 */
export function unknownModel(
  text: string,
  { models }: Pick<Catalog, "models">,
  why = "",
  suffix = "",
): GatewayError {
  const isLong = text.length > modelNameMax;
  const likely = likelyIds(models);
  const meant = isLong ? undefined : (likely.get(plain(text + suffix)) ?? likely.get(plain(text)));
  const hint =
    models.size === 0
      ? "This gateway has no models yet: `tollgate doctor` says how it gets some."
      : meant === undefined
        ? `${vendorHint(text, models)}GET /v1/models lists those you can call.`
        : `Did you mean "${meant}"? GET /v1/models lists those you can call.`;
  const message = `The model "${quoted(text)}" does not exist${why}. ${hint}`;
  return new GatewayError("model_not_found", message, { param: "model" });
}
