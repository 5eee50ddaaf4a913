/** State shared by the content rules of `fit`. */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import type { innerNames } from "./caller-names.ts";
import type { FitTarget } from "./fit-fields.ts";
import type { Extra } from "./limits.ts";
import type { mergingBounds } from "./object-root.ts";
import type { SchemaBudget } from "./schema-budget.ts";

/** The state of one request. */
export interface Context {
  readonly request: CanonicalRequest;
  readonly target: FitTarget;
  readonly names: (typeof innerNames)["chat"];
  note(param: string, kind: Note["kind"], detail: string): void;
  /** True if the next cache marker stays; called once per marker, in prompt order. */
  keepsMarker(): boolean;
  readonly bounds: ReturnType<typeof mergingBounds>;
  /** The remaining budget for strict schemas. */
  readonly budget: SchemaBudget | undefined;
}

export const lacks = ({ target }: Context, extra: Extra): boolean =>
  !target.limits.carries.includes(extra);
