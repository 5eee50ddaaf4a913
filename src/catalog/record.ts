/**
 * The abilities of a text model, as data. They decide which parameters the gateway drops, rewrites or refuses for it, and they are the
 * source for `supported_parameters`, `GET /v1/models` and the documentation. docs/models.md.
 *
 * If a record is silent about a field, the gateway passes it on and the vendor decides.
 */
import type { Abilities, Modality } from "../base/abilities.ts";
import { defined } from "../base/defined.ts";
import { getOrCreate } from "../base/memoize.ts";

/**
 * A parameter's exact domain, as `GET /v1/models` lists it under `supported_parameters`.
 * Snake case, because it is the wire shape and the configuration's shape at once.
 */
export interface ParameterDomain {
  readonly type: "enum" | "integer" | "number" | "boolean" | "string" | "object" | "array";
  readonly values?: readonly (string | number)[] | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly default?: string | number | boolean | undefined;
  readonly pattern?: string | undefined;
  readonly multiple_of?: number | undefined;
}

/** Where a model narrows a parameter's domain; for absent fields the protocol's limits apply. */
export type Narrowing = Partial<ParameterDomain>;

/** The stage of a model that is not, or not for long, fit to build on. Absent: active. */
export interface Lifecycle {
  readonly stage: "preview" | "deprecated";
  /** When the vendor takes it out of service, in Unix milliseconds. */
  readonly retiresAtMs?: number | undefined;
  /** The replacement that the vendor recommends, by our name or the vendor's. */
  readonly replacement?: string | undefined;
}

/** A model's record; unknown fields are absent. */
export interface ModelRecord extends Abilities {
  /** Narrower limits per parameter, by chat-completions name; `false`: unsupported. Only `top_k` is a name of other protocols. */
  readonly parameters?: Readonly<Record<string, Narrowing | false>> | undefined;
  readonly outputModalities?: readonly Modality[] | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly lifecycle?: Lifecycle | undefined;
}

const merged = new WeakMap<ModelRecord, WeakMap<ModelRecord, ModelRecord>>();

/** An offer, with its provider's differences. */
interface Recorded {
  readonly record?: ModelRecord | undefined;
}

/**
 * A model with the differences of an offer applied. Parameters are merged by name, everything
 * else is replaced. The same model and record give the same object.
 */
export function modelAt<Model extends ModelRecord>(model: Model, { record }: Recorded): Model {
  if (record === undefined) return model;
  const known = getOrCreate(merged, model, () => new WeakMap());
  return getOrCreate(known, record, () => merge(model, record)) as Model;
}

const merge = (model: ModelRecord, record: ModelRecord): ModelRecord => ({
  ...model,
  ...defined(record),
  parameters: { ...model.parameters, ...record.parameters },
});
