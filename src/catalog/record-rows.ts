/** Converts records from configuration rows to the catalogue, and back. */
import { camelCased, snakeCased } from "../base/casing.ts";
import { defined } from "../base/defined.ts";
import type { ReasoningAbility } from "../base/abilities.ts";
import type { Lifecycle, ModelRecord } from "./record.ts";
import type { RecordRow } from "./record-schema.ts";

type ReasoningRow = NonNullable<RecordRow["reasoning"]>;

/** Converts a row that passed the checks, so each kind has its required fields. */
function reasoningOf(row: ReasoningRow): ReasoningAbility {
  const { kind, off = false, off_as: offAs, values = [], min = 0, max, field, excludes } = row;
  const reasons = { off, offAs, field, excludes };
  switch (kind) {
    case "none":
      return { kind };
    case "toggle":
      return { kind, ...reasons };
    case "effort":
    case "adaptive":
      return { kind, ...reasons, values };
    case "budget":
      return { kind, ...reasons, min, max, values: row.values };
  }
}

function reasoningRow(ability: ReasoningAbility): ReasoningRow {
  if (ability.kind === "none") return { kind: "none" };
  const { kind, off, offAs, field, excludes } = ability;
  const values = "values" in ability && ability.values ? [...ability.values] : undefined;
  const range = kind === "budget" ? { min: ability.min, max: ability.max } : {};
  return {
    kind,
    off,
    off_as: offAs,
    values,
    ...range,
    field,
    excludes: excludes && [...excludes],
  };
}

const lifecycleOf = (row: NonNullable<RecordRow["lifecycle"]>): Lifecycle => ({
  stage: row.stage,
  retiresAtMs: row.retires_at === undefined ? undefined : Date.parse(row.retires_at),
  replacement: row.replacement,
});

/** A moment as the file has it: only the day if it is midnight UTC. */
export const momentText = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/T00:00:00\.000Z$/, "")
    .replace(/(:00)?\.\d{3}Z$/, "Z");

/** A model's record from its configuration row. Fields that the row lacks are absent. */
export function recordOfRow(row: RecordRow): ModelRecord {
  return defined<ModelRecord>({
    parameters: row.parameters,
    reasoning: row.reasoning && reasoningOf(row.reasoning),
    toolChoice: row.tool_choice && camelCased(row.tool_choice),
    structuredOutputs: row.structured_outputs,
    prefill: row.prefill,
    inputModalities: row.input_modalities,
    outputModalities: row.output_modalities,
    lifecycle: row.lifecycle && lifecycleOf(row.lifecycle),
    contextLength: row.context_length,
    maxOutputTokens: row.max_output_tokens,
  });
}

/** A record as a configuration row, without limits and parameters; unknown fields are undefined. */
export function abilityRows(record: ModelRecord) {
  const { lifecycle, toolChoice } = record;
  return {
    reasoning: record.reasoning && reasoningRow(record.reasoning),
    tool_choice: toolChoice && snakeCased(toolChoice),
    structured_outputs: record.structuredOutputs,
    prefill: record.prefill,
    input_modalities: record.inputModalities && [...record.inputModalities],
    output_modalities: record.outputModalities && [...record.outputModalities],
    lifecycle: lifecycle && {
      stage: lifecycle.stage,
      retires_at:
        lifecycle.retiresAtMs === undefined ? undefined : momentText(lifecycle.retiresAtMs),
      replacement: lifecycle.replacement,
    },
  };
}

/** The record of an offer as a configuration row; undefined if the offer has none. */
export const offerRecordRow = (record: ModelRecord | undefined) =>
  record && {
    parameters: record.parameters,
    ...abilityRows(record),
    context_length: record.contextLength,
    max_output_tokens: record.maxOutputTokens,
  };
