/** The plan that PostgreSQL chooses for a statement (`explain (format json)`). */
import type { Queryable } from "../../src/storage/index.ts";

/** One step of a plan, with the steps below it. */
export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Plan Rows": number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** All steps of a statement's plan; the statement does not run. */
export async function planOf(
  on: Queryable,
  sql: string,
  params: readonly unknown[] | undefined,
): Promise<PlanNode[]> {
  const [row] = await on.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (format json) ${sql}`,
    params,
  );
  return nodesOf(row!["QUERY PLAN"][0].Plan);
}
