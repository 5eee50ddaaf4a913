/** Reports the outcome of each field of a LiteLLM file: one row for each field in JSON; text for people merges equal rows. */

/** `taken_over`: same meaning here. `changed`: available in another form. `not_supported`: not available; the note says what to do. */
export type Outcome = "taken_over" | "changed" | "not_supported";

export interface ReportRow {
  /** Path of the field in LiteLLM's file: `model_list[2].litellm_params.rpm`. */
  readonly field: string;
  readonly outcome: Outcome;
  /** Path in our file; absent if nothing is written for the field. */
  readonly becomes?: string;
  /** Why it is changed, or what to do. Never contains a value of the file. */
  readonly note?: string;
}

/** Collects the rows in the order of the conversion. */
export class Report {
  readonly rows: ReportRow[] = [];
  readonly #fields = new Set<string>();

  /** True if a field was reported. */
  has(field: string): boolean {
    return this.#fields.has(field);
  }

  takenOver(field: string, becomes: string): void {
    this.#add({ field, outcome: "taken_over", becomes });
  }

  changed(field: string, note: string, becomes?: string): void {
    this.#add({ field, outcome: "changed", ...(becomes && { becomes }), note });
  }

  unsupported(field: string, note: string): void {
    this.#add({ field, outcome: "not_supported", note });
  }

  #add(row: ReportRow): void {
    this.rows.push(row);
    this.#fields.add(row.field);
  }

  /** Returns the rows as lines: a heading for each outcome. Rows that differ only in an index are merged. */
  lines(): string[] {
    return headings.flatMap(([outcome, heading]) => {
      const rows = this.rows.filter((row) => row.outcome === outcome);
      if (rows.length === 0) return [];
      return ["", `${heading}: ${rows.length}`, ...mergedLines(rows)];
    });
  }
}

const headings: readonly (readonly [Outcome, string])[] = [
  ["taken_over", "Taken over"],
  ["changed", "Changed"],
  ["not_supported", "Not supported"],
];

function mergedLines(rows: readonly ReportRow[]): string[] {
  const counts = new Map<string, number>();
  for (const { field, becomes, note } of rows) {
    const name = field.replaceAll(/\[\d+\]/g, "[]");
    const where = becomes === undefined ? "" : ` -> ${becomes.replaceAll(/\[[^\]]+\]/g, "[]")}`;
    const line = `  ${name}${where}${note === undefined ? "" : `: ${note}`}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`));
}
