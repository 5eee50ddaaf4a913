/** What became of each field of a LiteLLM file: one row a field, as JSON whole, for people with equal rows as one. */

/** `taken_over`: means the same here. `changed`: is there in another way. `not_supported`: is not there; the note says what to do. */
export type Outcome = "taken_over" | "changed" | "not_supported";

export interface ReportRow {
  /** Where the field stands in LiteLLM's file: `model_list[2].litellm_params.rpm`. */
  readonly field: string;
  readonly outcome: Outcome;
  /** Where it stands now; absent where nothing is written for it. */
  readonly becomes?: string;
  /** Why it is changed, or what to do. Never holds a value of the file. */
  readonly note?: string;
}

/** Collects the rows in the order of the conversion. */
export class Report {
  readonly rows: ReportRow[] = [];
  readonly #fields = new Set<string>();

  /** Whether something was said of a field. */
  has(field: string): boolean {
    return this.#fields.has(field);
  }

  taken(field: string, becomes: string): void {
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

  /** The rows as lines: a heading for each outcome, and rows that differ in an index alone as one. */
  lines(): string[] {
    return headings.flatMap(([outcome, heading]) => {
      const rows = this.rows.filter((row) => row.outcome === outcome);
      if (rows.length === 0) return [];
      return ["", `${heading}: ${rows.length}`, ...together(rows)];
    });
  }
}

const headings: readonly (readonly [Outcome, string])[] = [
  ["taken_over", "Taken over"],
  ["changed", "Changed"],
  ["not_supported", "Not supported"],
];

function together(rows: readonly ReportRow[]): string[] {
  const counts = new Map<string, number>();
  for (const { field, becomes, note } of rows) {
    const name = field.replaceAll(/\[\d+\]/g, "[]");
    const where = becomes === undefined ? "" : ` -> ${becomes.replaceAll(/\[[^\]]+\]/g, "[]")}`;
    const line = `  ${name}${where}${note === undefined ? "" : `: ${note}`}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`));
}
