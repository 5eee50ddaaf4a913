/** The table of limits in docs/protocols.md. */
import type { CanonicalFieldName } from "../src/protocols/canonical/request.ts";
import type { Limits } from "../src/protocols/limits.ts";
import { heads, perProtocol, table } from "./docs-protocols-table.ts";

const count = (value: number): string => (value === Infinity ? "no bound" : String(value));

/** The limits of each protocol as a table; `conceptOf` returns the row title of a canonical field. */
export function numbers(conceptOf: (field: CanonicalFieldName) => string): string {
  return table(
    ["limit", ...heads],
    [
      perProtocol("Highest temperature; higher ones are lowered to it", (one) =>
        count(one.temperatureMax),
      ),
      perProtocol("Stop sequences; further ones are cut off", (one) =>
        "stop" in one.unsupportedFields ? "none" : count(one.stopSequencesMax),
      ),
      perProtocol("Stop sequences of white space only", (one) =>
        "stop" in one.unsupportedFields ? "none" : one.refusesBlankStops ? "left out" : "carried",
      ),
      perProtocol("Largest seed; a larger one is sent as the remainder", (one) =>
        "seed" in one.unsupportedFields ? "none" : count(one.seedMax ?? Infinity),
      ),
      perProtocol("Smallest maximum output; a smaller one is raised", (one) =>
        count(one.outputTokensMin ?? 1),
      ),
      perProtocol(
        "JSON output without a schema must be asked for in words; added if missing",
        (one) =>
          one.jsonWord === undefined
            ? "no"
            : one.jsonWord === "input"
              ? "in the input"
              : "anywhere",
      ),
      perProtocol("Metadata of an answer that is not stored", (one) =>
        "metadata" in one.unsupportedFields || one.metadataNeedsStore ? "lost" : "carried",
      ),
      perProtocol("Maximum output if the caller sets none", (one) =>
        one.needsMaximum ? "the model's own" : "not sent",
      ),
      perProtocol("Characters of an end-user id; a longer one is sent as a hash", (one) =>
        "endUserId" in one.unsupportedFields ? "none" : count(one.endUserIdMax),
      ),
      perProtocol("Cache markers", (one) =>
        one.cacheMarkersMax === 0
          ? "lost: caching is automatic"
          : `${one.cacheMarkersMax}; of more, the first and the last are kept`,
      ),
      perProtocol(
        "Names of tools; others are replaced by a short one",
        (one) => `\`${one.toolName.source}\``,
      ),
      perProtocol("Names of arguments; others are replaced by a legal one", (one) =>
        one.argumentName ? `\`${one.argumentName.source}\`` : "any",
      ),
      perProtocol("System turns", (one) =>
        one.systemOnTop ? "only at the top, reported" : "unchanged",
      ),
      perProtocol("White space at the end of an answer to continue", (one) =>
        one.trimsPrefill ? "left out" : "carried",
      ),
      perProtocol("Earlier reasoning without a signature of this protocol", (one) =>
        one.unsignedReasoning ? "carried" : "lost",
      ),
      perProtocol("Refused by the vendor together with reasoning", (one) =>
        one.reasoning.excludes.length === 0
          ? "nothing"
          : `${one.reasoning.excludes.map(conceptOf).join(", ")}: lost`,
      ),
      perProtocol("Efforts that the vendor does not have", effortsOf),
      perProtocol("JSON Schema", (one) =>
        one.schemaLosses ? "local `$ref` resolved; refused keywords lost" : "whole",
      ),
    ],
  );
}

function effortsOf({ reasoning }: Limits): string {
  const { budgetByEffort, effortReplacements } = reasoning;
  const pairs = (record: Readonly<Record<string, string | number>>) =>
    Object.entries(record).map(
      ([from, to]) => `${from}: ${to === "limit" ? "the model's maximum" : to}`,
    );
  if (budgetByEffort) return `become budgets (${pairs(budgetByEffort).join(", ")})`;
  const becomes = pairs(effortReplacements);
  return becomes.length === 0 ? "passed on" : becomes.join(", ");
}
