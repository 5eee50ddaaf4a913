/** What the rules of a request's content share. */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import type { innerNames } from "./caller-names.ts";
import type { FitTarget } from "./fit-fields.ts";
import type { Extra } from "./limits.ts";
import type { mergingBounds } from "./object-root.ts";
import type { SchemaBudget } from "./schema-budget.ts";

/** Of one request. */
export interface Context {
  readonly request: CanonicalRequest;
  readonly target: FitTarget;
  readonly names: (typeof innerNames)["chat"];
  note(param: string, kind: Note["kind"], detail: string): void;
  /** Whether the next cache marker stays; asked once for each, in the order of the prompt. */
  keepsMarker(): boolean;
  readonly bounds: ReturnType<typeof mergingBounds>;
  /** How much may be held to schemas still. */
  readonly budget: SchemaBudget | undefined;
}

export const lacks = ({ target }: Context, extra: Extra): boolean =>
  !target.limits.carries.includes(extra);
