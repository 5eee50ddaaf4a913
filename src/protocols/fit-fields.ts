/** What the steps of `fit` share: the request under change, and its fields by their canonical names. */
import type { Abilities } from "../base/abilities.ts";
import type { Note } from "../base/notes.ts";
import type { CanonicalFieldName, CanonicalRequest, NamedField } from "./canonical/request.ts";
import type { Limits } from "./limits.ts";
import { SchemaBudget } from "./schema-budget.ts";

/** A request as the target takes it, and what became of the rest. */
export interface Fitted {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
}

/** What a request is fitted to. */
export interface FitTarget {
  readonly limits: Limits;
  /** The model's own maximum of output tokens. */
  readonly maxOutputTokens: number;
  /** The most output tokens that may be asked for; absent: the vendor decides. */
  readonly outputTokensMax?: number | undefined;
  /** What is known of the model; absent: nothing. */
  readonly abilities?: Abilities | undefined;
}

/** A request under change: what the steps share. */
export interface Fitting {
  request: CanonicalRequest;
  readonly target: FitTarget;
  readonly notes: Note[];
  /** What tools and answer may be held to together; absent where there is no bound. */
  readonly budget: SchemaBudget | undefined;
  note(field: NamedField, kind: Note["kind"], detail: string): void;
}

/** A fitting of `request`, which adds to `notes` under the caller's own names. */
export function startFitting(request: CanonicalRequest, target: FitTarget, notes: Note[]): Fitting {
  const fitting: Fitting = {
    request,
    target,
    notes,
    budget: target.limits.schemaBudget && new SchemaBudget(target.limits.schemaBudget),
    note: (field, kind, detail) =>
      notes.push({ param: fitting.request.names[field] ?? field, kind, detail }),
  };
  return fitting;
}

/** Removes one field, dots for the members of `reasoning`. */
export function without(request: CanonicalRequest, field: CanonicalFieldName): CanonicalRequest {
  const [outer, inner] = field.split(".");
  if (inner === undefined) return { ...request, [outer!]: undefined };
  return { ...request, reasoning: { ...request.reasoning, [inner]: undefined } };
}

/** The value of a field, dots for the members of `reasoning`. */
export function valueOf(request: CanonicalRequest, field: CanonicalFieldName): unknown {
  const dot = field.indexOf(".");
  if (dot === -1) return request[field as keyof CanonicalRequest];
  const outer = request[field.slice(0, dot) as keyof CanonicalRequest];
  return (outer as Record<string, unknown> | undefined)?.[field.slice(dot + 1)];
}
