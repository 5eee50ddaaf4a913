/** How Converse words its refusals. */
import type { Failure } from "../refusal.ts";

export const says = (message: string): Failure => ({ message, type: "ValidationException" });
export const breach = (place: string, rule: string): Failure =>
  says(
    `1 validation error detected: Value at '${place}' failed to satisfy constraint: Member must ${rule}`,
  );
