/** State shared by the steps of `fit`: the request being changed, and access to its fields by canonical name. */
import type { Abilities } from "../base/abilities.ts";
import type { Note } from "../base/notes.ts";
import type { CanonicalFieldName, CanonicalRequest, NamedField } from "./canonical/request.ts";
import type { Limits } from "./limits.ts";
import { SchemaBudget } from "./schema-budget.ts";

/** The fitted request, and the notes about its losses and changes. */
export interface Fitted {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
}

/** The target of a request. */
export interface FitTarget {
  readonly limits: Limits;
  /** The model's own maximum of output tokens. */
  readonly maxOutputTokens: number;
  /** Cap on the requested output tokens; absent: the vendor decides. */
  readonly outputTokensMax?: number | undefined;
  /** The known abilities of the model; absent: none are known. */
  readonly abilities?: Abilities | undefined;
}

/** A request being changed, shared by the steps. */
export interface Fitting {
  request: CanonicalRequest;
  readonly target: FitTarget;
  readonly notes: Note[];
  /** The vendor's limit for all schemas of tools and answer together; absent: no limit. */
  readonly budget: SchemaBudget | undefined;
  note(field: NamedField, kind: Note["kind"], detail: string): void;
}

/** Starts the fitting of `request`; notes are added to `notes` under the caller's names. */
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

/** Returns the request without one field; dots address the members of `reasoning`. */
export function without(request: CanonicalRequest, field: CanonicalFieldName): CanonicalRequest {
  const [outer, inner] = field.split(".");
  if (inner === undefined) return { ...request, [outer!]: undefined };
  return { ...request, reasoning: { ...request.reasoning, [inner]: undefined } };
}

/** Returns the value of a field; dots address the members of `reasoning`. */
export function valueOf(request: CanonicalRequest, field: CanonicalFieldName): unknown {
  const dot = field.indexOf(".");
  if (dot === -1) return request[field as keyof CanonicalRequest];
  const outer = request[field.slice(0, dot) as keyof CanonicalRequest];
  return (outer as Record<string, unknown> | undefined)?.[field.slice(dot + 1)];
}
