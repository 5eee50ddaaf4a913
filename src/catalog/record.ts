/**
 * What a text model can do, as data: the one source for what is dropped, rewritten and refused on the way to it, for
 * `supported_parameters`, `GET /v1/models` and the documentation. docs/models.md.
 *
 * What a record does not say is unknown, and passed on: the vendor decides.
 */
import type { Abilities, Modality } from "../base/abilities.ts";
import { defined } from "../base/defined.ts";
import { getOrMake } from "../base/made-once.ts";

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

/** What a model narrows of a parameter's domain; what is absent stays as the protocol has it. */
export type Narrowing = Partial<ParameterDomain>;

/** A model that is not, or not for long, what one would build on. Absent of all this: in service. */
export interface Lifecycle {
  readonly stage: "preview" | "deprecated";
  /** When the vendor takes it out of service, in Unix milliseconds. */
  readonly retiresAtMs?: number | undefined;
  /** What the vendor says to use instead, by our name or the vendor's. */
  readonly replacement?: string | undefined;
}

/** A model's record, of what is known of it. */
export interface ModelRecord extends Abilities {
  /** Narrower limits per parameter, by chat-completions name; `false`: not taken. `top_k` is the one name of another protocol. */
  readonly parameters?: Readonly<Record<string, Narrowing | false>> | undefined;
  readonly outputModalities?: readonly Modality[] | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly lifecycle?: Lifecycle | undefined;
}

const merged = new WeakMap<ModelRecord, WeakMap<ModelRecord, ModelRecord>>();

/** An offer, with what differs at its provider. */
interface Recorded {
  readonly record?: ModelRecord | undefined;
}

/**
 * A model as it is at an offer: with what differs at this provider in place. Parameters are merged name by name, everything
 * else is replaced. The same model and record give the same object.
 */
export function modelAt<Model extends ModelRecord>(model: Model, { record }: Recorded): Model {
  if (record === undefined) return model;
  const known = getOrMake(merged, model, () => new WeakMap());
  return getOrMake(known, record, () => merge(model, record)) as Model;
}

const merge = (model: ModelRecord, record: ModelRecord): ModelRecord => ({
  ...model,
  ...defined(record),
  parameters: { ...model.parameters, ...record.parameters },
});
