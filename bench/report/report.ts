/** A whole run: what was measured, where and how, and who is compared with whom. */
import { bareProxy } from "../subjects/bare.ts";
import type { Row } from "../figures.ts";

/** How a run was made. */
export interface RunFacts {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  /** Whether the measured process had a core of its own. */
  readonly pinned: boolean;
  readonly rounds: number;
  readonly seconds: number;
  /** Subjects in their order, each with whom it is compared beside the bare proxy. */
  readonly subjects: readonly { readonly name: string; readonly against?: string | undefined }[];
  /** Cores' worth of work by others on the machine meanwhile; undefined where the system does not tell. */
  readonly othersBusy: number | undefined;
}

export class Report {
  readonly facts: RunFacts;
  readonly rows: readonly Row[];

  constructor(facts: RunFacts, rows: readonly Row[]) {
    this.facts = facts;
    this.rows = rows;
  }

  /** The same scenario of the bare proxy, and of the commit that the subject is compared with. */
  beside(row: Row): { bare?: Row; against?: Row } {
    const of = (subject: string | undefined): Row | undefined =>
      this.rows.find((one) => one.scenario === row.scenario && one.subject === subject);
    const against = this.facts.subjects.find(({ name }) => name === row.subject)?.against;
    const bare = of(bareProxy.name);
    const commit = against === undefined ? undefined : of(against);
    return { ...(bare && { bare }), ...(commit && { against: commit }) };
  }
}
