/** The fields of a family with their exact domains, as `GET /v1/models` lists them. MODELS-07; docs/media.md. */
import type { ImageFamily, MediaPrice, ParameterDomain, VideoFamily } from "../catalog/index.ts";
import { families } from "./families/index.ts";
import { fieldName, type Domain, type MediaFamily } from "./family.ts";
import { pricedValues } from "./price.ts";

const sizePattern = "^(auto|[1-9][0-9]*x[1-9][0-9]*)$";

function domainOf(domain: Domain): ParameterDomain {
  switch (domain.type) {
    case "string":
      return domain.max === undefined ? { type: "string" } : { type: "string", max: domain.max };
    case "enum":
      return { type: "enum", values: domain.values };
    case "integer":
      return { type: "integer", min: domain.min, max: domain.max };
    case "boolean":
      return { type: "boolean" };
    case "size":
      if (!domain.custom) return { type: "enum", values: domain.presets };
      return domain.presets.length === 0
        ? { type: "string", pattern: sizePattern.replace("auto|", ""), multiple_of: 16 }
        : { type: "enum", values: domain.presets, pattern: sizePattern, multiple_of: 16 };
    case "material":
      return { type: "object" };
    case "materials":
      return { type: "array", max: domain.max };
    case "media":
      return { type: "array" };
  }
}

/** The fields by every name that they have in the family's forms. `max` counts characters of texts and items of lists. */
export function mediaParameters(name: ImageFamily | VideoFamily): Record<string, ParameterDomain> {
  const family: MediaFamily = families[name];
  const parameters: Record<string, ParameterDomain> = {};
  for (const field of Object.values(family.fields)) {
    const domain = domainOf(field.domain);
    for (const form of family.forms) {
      const own = fieldName(field, form);
      if (own === undefined) continue;
      parameters[own] =
        field.default === undefined ? domain : { ...domain, default: field.default };
    }
  }
  if (family.files) {
    parameters["image"] = { type: "array", max: family.files.most };
    if (family.files.mask) parameters["mask"] = { type: "string" };
  }
  return parameters;
}

/**
 * The same for a model with these prices. Resolutions or image sizes without a rate in any of them are left out, because calls
 * that ask for those are refused. If the default is one of them, it is left out too: the field is then required.
 */
export function pricedParameters(
  name: ImageFamily | VideoFamily,
  prices: readonly MediaPrice[],
): Record<string, ParameterDomain> {
  const parameters = mediaParameters(name);
  const priced = prices.map(pricedValues);
  const field = priced[0]?.field;
  const domain = field === undefined ? undefined : parameters[field];
  if (domain?.values === undefined || priced.includes(undefined)) return parameters;
  const known = new Set(priced.flatMap((one) => one!.values));
  const { default: usual, ...rest } = domain;
  const values = domain.values.filter((value) => known.has(value as string));
  const kept = known.has(usual as string) ? { default: usual } : {};
  return { ...parameters, [field!]: { ...rest, values, ...kept } };
}
