/** State shared by the content rules of `fit`. */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import type { contentFieldNames } from "./caller-names.ts";
import type { FitTarget } from "./fit-fields.ts";
import type { OptionalMember } from "./limits.ts";
import type { newMergeBudget } from "./object-root.ts";
import type { SchemaBudget } from "./schema-budget.ts";

/** The state of one request. */
export interface Context {
  readonly request: CanonicalRequest;
  readonly target: FitTarget;
  readonly names: (typeof contentFieldNames)["chat"];
  note(param: string, kind: Note["kind"], detail: string): void;
  /** True if the next cache marker stays; called once per marker, in prompt order. */
  keepsMarker(): boolean;
  readonly bounds: ReturnType<typeof newMergeBudget>;
  /** The remaining budget for strict schemas. */
  readonly budget: SchemaBudget | undefined;
}

export const lacks = ({ target }: Context, extra: OptionalMember): boolean =>
  !target.limits.supportedMembers.includes(extra);
