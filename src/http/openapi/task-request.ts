/**
 * The request bodies of tasks and images, generated from the families' fields: every field that any model takes, with the values that
 * each takes. docs/media.md.
 */
import { assert } from "../../base/assert.ts";
import {
  families,
  fieldsOf,
  mediaParameters,
  type MediaFamily,
  type MediaForm,
} from "../../media/index.ts";
import type { Node } from "./document.ts";

const url: Node = {
  type: "object",
  required: ["url"],
  properties: {
    url: { type: "string", description: "`https:` and publicly reachable, or a `data:` URL." },
  },
};
const mediaItem: Node = {
  type: "object",
  required: ["type", "url"],
  properties: {
    type: { type: "string", enum: ["first_frame", "last_frame", "reference_image"] },
    url: { type: "string" },
  },
};

interface Named {
  readonly family: MediaFamily;
  readonly name: string;
  readonly meaning: string;
  readonly required: boolean;
  readonly schema: Node;
  readonly values: string;
}

/** The JSON body of one form. */
export function taskRequest(form: MediaForm, options: { readonly multipart?: boolean } = {}): Node {
  const taking = Object.values(families).filter(
    (family) => family.forms.includes(form) && (!options.multipart || family.kind === "image"),
  );
  const fields = taking.flatMap((family) => namedFields(family, form, options.multipart === true));
  const byName = Map.groupBy(fields, ({ name }) => name);
  const properties = Object.fromEntries(
    [...byName].map(([name, group]) => [name, property(group, taking.length)]),
  );
  const required = [...byName]
    .filter(([, group]) => group.length === taking.length && group.every((one) => one.required))
    .map(([name]) => name);
  const isTask = form === "tasks" || form === "videos";
  return {
    type: "object",
    // The synchronous forms have a model by default.
    required: [...(isTask ? ["model"] : []), ...required],
    properties: {
      model,
      ...properties,
      ...(options.multipart && filesOf(form)),
      ...(isTask && { webhook_url: webhook }),
    },
  };
}

const model: Node = {
  type: "string",
  description: "`vendor/model`, with an optional suffix `:provider` or `:@strategy`.",
};
const webhook: Node = {
  type: "string",
  description:
    "The address to which the gateway posts the task when it has ended. A public `https:` address.",
};
const file: Node = { type: "string", contentMediaType: "application/octet-stream" };
const filesOf = (form: MediaForm): Node => ({
  image: {
    description: `One image, or several as repeated \`image\` or \`image[]\`, or as \`image[0]\`, \`image[1]\`: PNG, JPEG or WebP. ${
      form === "edits" ? "At least one is required." : "With at least one, the task is an edit."
    }`,
    anyOf: [file, { type: "array", items: file }],
  },
  "image[]": { type: "array", items: file },
  mask: { ...file, description: "A PNG with transparency: the transparent part is changed." },
});

function namedFields(family: MediaFamily, form: MediaForm, isText: boolean): Named[] {
  const domains = mediaParameters(family.name);
  return fieldsOf(family, form).map(({ name, field }) => {
    const domain = domains[name]!;
    return {
      family,
      name,
      meaning: field.meaning,
      required: field.required === true,
      schema: isText ? { type: "string" } : typeSchema(field.domain),
      values: valuesText(domain),
    };
  });
}

type Domain = ReturnType<typeof fieldsOf>[number]["field"]["domain"];

/** Returns only the JSON type, because the accepted values depend on the model. */
function typeSchema(domain: Domain): Node {
  switch (domain.type) {
    case "material":
      return url;
    case "materials":
      return { type: "array", items: url };
    case "media":
      return { type: "array", items: mediaItem };
    case "integer":
    case "boolean":
      return domain.textToo ? { type: [domain.type, "string"] } : { type: domain.type };
    case "string":
    case "enum":
    case "size":
      return { type: "string" };
  }
}

function valuesText(domain: ReturnType<typeof mediaParameters>[string]): string {
  const { values, min, max, pattern } = domain;
  const parts = [
    ...(values ? [values.map((value) => `\`${value}\``).join(", ")] : []),
    ...(min !== undefined && max !== undefined ? [`${min} to ${max}`] : []),
    ...(min === undefined && max !== undefined ? [`at most ${max}`] : []),
    ...(pattern === undefined ? [] : [`or \`<width>x<height>\``]),
    ...(domain.default === undefined ? [] : [`default \`${String(domain.default)}\``]),
  ];
  return parts.join("; ");
}

/** Describes one field for all families that have it. */
function property(group: readonly Named[], familiesInAll: number): Node {
  const [first] = group;
  const byValues = [...Map.groupBy(group, ({ values }) => values)];
  const everywhere = group.length === familiesInAll;
  const lines = byValues.map(([values, those]) => {
    const names = those.map(({ family }) => family.name).join(", ");
    if (byValues.length === 1 && everywhere) return values;
    return values === "" ? `Families ${names}.` : `Families ${names}: ${values}.`;
  });
  const types = new Set(group.map(({ schema }) => JSON.stringify(schema)));
  assert(types.size === 1, `${first!.name} has one JSON type in all families`);
  const meaning = first!.meaning.charAt(0).toUpperCase() + first!.meaning.slice(1);
  return {
    ...first!.schema,
    description: [`${meaning}.`, ...lines].filter((line) => line !== "").join(" "),
  };
}
