/** The fields of a family with their exact domains, as `GET /v1/models` lists them. MODELS-07; docs/media.md. */
import type { ImageFamily, ParameterDomain, VideoFamily } from "../catalog/index.ts";
import { families } from "./families/index.ts";
import { fieldName, type Domain, type MediaFamily } from "./family.ts";

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

/** The fields by every name they have in one of the family's forms. For texts `max` counts characters, for lists items. */
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
