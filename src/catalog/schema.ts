/**
 * The configuration file's schema: the only source of its types, its checks and the JSON Schema for editors.
 * docs/configuration.md is generated from it. Editors show the descriptions, and mistakes quote them as fixes.
 */
import { Type, type Static, type TSchema } from "../base/json-schema.ts";
import { isObject } from "../base/json.ts";
import { supplyTiers } from "../base/management.ts";
import { accessFields } from "./access-schema.ts";
import { dialects } from "./dialects.ts";
import {
  mediaFamilies,
  mediaFamilyNames,
  type FamilyRows,
  type MediaFamilyName,
} from "./families.ts";
import { mediaPrices } from "./media-price-schema.ts";
import {
  embeddingPriceKeys,
  ownEmbeddingPriceSchema,
  ownTextPriceSchema,
  priceKeys,
} from "./price-schema.ts";
import { offerRecord, recordKeys } from "./record-schema.ts";
import { closed, count, seconds, text } from "./schema-kit.ts";
import { settings } from "./settings-schema.ts";
import { embeddingEndpoint, offerProtocols, textEndpoints } from "./types.ts";

const credential = closed({
  id: text("a name for logs and metrics"),
  api_key: text("the vendor's key, best as ${VARIABLE}"),
  weight: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: "share of the load; 1 if absent" }),
  ),
});

/** The form of the ids of providers and their credentials. */
export const providerIdPattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$";

export const providerSchema = closed({
  id: Type.String({
    pattern: providerIdPattern,
    description: "letters, digits, dots, dashes and underscores; callers pin it as model:id",
  }),
  dialect: Type.Enum([...dialects], { description: "the dialect of the vendor's API" }),
  base_url: Type.String({
    pattern: "^(https?://|\\$\\{)",
    description:
      "http or https address including the version segment, such as https://api.openai.com/v1",
  }),
  api_key: Type.Optional(
    text("the vendor's key, best as ${VARIABLE}; `none` for a server without keys"),
  ),
  credentials: Type.Optional(
    Type.Array(credential, { minItems: 1, description: "several keys instead of api_key" }),
  ),
  tier: Type.Optional(
    Type.Enum([...supplyTiers], { description: "the supply tier; community if absent" }),
  ),
  on_disconnect: Type.Optional(
    Type.Enum(["abort", "drain"], {
      description:
        "what happens to the upstream request when a caller disconnects; use drain if the vendor bills to the end anyway, or reports hidden reasoning only at the end",
    }),
  ),
  ...accessFields,
  timeouts: Type.Optional(
    closed({
      connect_s: Type.Optional(seconds("seconds to connect; 10 if absent")),
      first_byte_s: Type.Optional(
        seconds(
          "seconds until the answer begins; extended by the same time for each picture, and for each 4,096 tokens that a non-streaming answer may have; 120 if absent",
        ),
      ),
      idle_s: Type.Optional(seconds("seconds of silence inside an answer; 120 if absent")),
      total_s: Type.Optional(seconds("seconds for a whole call; 3600 if absent")),
    }),
  ),
});

const providerName = text("the id of a provider of this file");
// The same maximum as in `health_states`, by which gateways share the health of providers.
const upstreamModel = Type.String({
  minLength: 1,
  maxLength: 500,
  description: "the vendor's own name of the model",
});
const offered = {
  provider: providerName,
  upstream_model: upstreamModel,
  weight: Type.Optional(
    Type.Number({
      minimum: 0,
      description:
        "share of the calls under `balanced`, instead of the price; 0: only if others fail; 1 if absent and other offers have a weight",
    }),
  ),
};

const textOffer = closed({
  ...offered,
  protocol: Type.Enum([...offerProtocols], { description: "the protocol this provider speaks" }),
  ...priceKeys,
  record: Type.Optional(offerRecord),
});

const named = {
  id: Type.String({
    pattern: "^[^\\s/:]+/[^\\s:]+$",
    description: "vendor/model, without spaces and colons",
  }),
  name: Type.Optional(text("a name for people")),
  description: Type.Optional(text("one sentence for people")),
  created: Type.Optional(Type.Integer({ minimum: 0, description: "Unix time in seconds" })),
  aliases: Type.Optional(
    Type.Array(
      Type.String({
        pattern: "^[^\\s*]+\\*?$",
        description: "a name without spaces; a star at its end makes it a prefix",
      }),
      { minItems: 1, uniqueItems: true, description: "other names of the model" },
    ),
  ),
};
const fallbacks = Type.Optional(
  Type.Array(text("the id of another model of the same kind"), {
    minItems: 1,
    maxItems: 3,
    uniqueItems: true,
    description:
      "up to three other models of the same kind, tried if no provider of this one can answer",
  }),
);
const some = { minItems: 1, description: "at least one way to serve the model" };

/** The endpoints of a model. */
const entryPoints = <Name extends string>(names: readonly Name[]) =>
  Type.Optional(
    Type.Array(Type.Enum([...names]), {
      minItems: 1,
      uniqueItems: true,
      description: "the entry points callers may use; all of them if absent",
    }),
  );

export const textModelSchema = closed({
  ...named,
  kind: Type.Literal("text"),
  endpoints: entryPoints(textEndpoints),
  context_length: count("input and output tokens together"),
  max_output_tokens: count("the most a call can produce"),
  reserve_output_tokens: Type.Optional(
    count("output tokens reserved if a call sets no maximum; 4096 if absent"),
  ),
  ...recordKeys,
  fallbacks,
  offers: Type.Array(textOffer, some),
});

export const embeddingModelSchema = closed({
  ...named,
  kind: Type.Literal("embedding"),
  endpoints: entryPoints([embeddingEndpoint]),
  context_length: count("input tokens of one call"),
  fallbacks,
  offers: Type.Array(closed({ ...offered, ...embeddingPriceKeys }), some),
});

const mediaModel = <Kind extends string, Family extends MediaFamilyName, Price extends TSchema>(
  kind: Kind,
  family: Family,
  price: Price,
) =>
  closed({
    ...named,
    kind: Type.Literal(kind),
    family: Type.Literal(family),
    endpoints: entryPoints(mediaFamilies[family].endpoints),
    offers: Type.Array(
      closed({
        ...offered,
        price,
        streaming: Type.Optional(
          Type.Boolean({
            description:
              "false: calls that ask for partial images go to other offers; absent: as the provider's dialect",
          }),
        ),
      }),
      some,
    ),
  });

type MediaModelSchemas = {
  readonly [Name in MediaFamilyName]: ReturnType<
    typeof mediaModel<
      FamilyRows[Name]["kind"],
      Name,
      (typeof mediaPrices)[FamilyRows[Name]["price"]]
    >
  >;
};

const mediaModelOf = (name: MediaFamilyName) => {
  const { kind, price } = mediaFamilies[name];
  return [name, mediaModel(kind, name, mediaPrices[price])] as const;
};

/** One schema for each family, with the family's price schema. */
export const mediaModelSchemas = Object.fromEntries(
  mediaFamilyNames.map(mediaModelOf),
) as MediaModelSchemas;

const namesOf = (kind: "image" | "video") =>
  mediaFamilyNames.filter((name) => mediaFamilies[name].kind === kind);

/** The common fields of models, for a model without a valid kind or family. */
export const anyModelSchema = Type.Object({
  id: named.id,
  kind: Type.Enum(["text", "image", "video", "embedding"], {
    description: "text, image, video or embedding",
  }),
});
export const familySchemas = {
  image: Type.Object({ id: named.id, family: Type.Enum(namesOf("image")) }),
  video: Type.Object({ id: named.id, family: Type.Enum(namesOf("video")) }),
};

/** The file without the entries of its lists, which are checked one by one with the schema of each. */
export const shellSchema = closed({
  providers: Type.Optional(Type.Array(Type.Object({}), { description: "a list of providers" })),
  models: Type.Optional(Type.Array(Type.Object({}), { description: "a list of models" })),
  prices: Type.Optional(Type.Object({}, { description: "prices by the ids of models" })),
  ...settings,
});

const fileSchema = Type.Object(
  {
    providers: Type.Optional(Type.Array(providerSchema, { description: "connections to vendors" })),
    models: Type.Optional(
      Type.Array(
        Type.Union([textModelSchema, embeddingModelSchema, ...Object.values(mediaModelSchemas)]),
        { description: "models that callers can use" },
      ),
    ),
    prices: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Union([ownTextPriceSchema, ownEmbeddingPriceSchema, ...Object.values(mediaPrices)]),
        {
          description:
            "prices of models of vendors that a variable adds, by the model's id; each like `price` of an offer of its kind, and instead of every price in the list",
        },
      ),
    ),
    ...settings,
  },
  { additionalProperties: false },
);

/** The JSON Schema of the configuration file, for editors. */
export function configSchema(): Record<string, unknown> {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "tollgate.yaml",
    ...structuredClone(fileSchema),
  };
}

/** The keys with numbers or booleans as values, anywhere in the file. */
export const numericKeys: ReadonlySet<string> = new Set(collectNumericKeys(fileSchema));

function collectNumericKeys(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(collectNumericKeys);
  if (!isObject(schema)) return [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const direct = Object.entries(properties)
    .filter(([, property]) => isObject(property) && isNumericType(property["type"]))
    .map(([key]) => key);
  return [...direct, ...Object.values(schema).flatMap(collectNumericKeys)];
}

function isNumericType(type: unknown): boolean {
  return type === "integer" || type === "number" || type === "boolean";
}

/** A file that passed every check. */
export type ConfigFile = Static<typeof fileSchema>;
export type ProviderRow = Static<typeof providerSchema>;
export type TextModelRow = Static<typeof textModelSchema>;
export type EmbeddingModelRow = Static<typeof embeddingModelSchema>;
export type MediaModelRow = Static<(typeof mediaModelSchemas)[keyof typeof mediaModelSchemas]>;
