/** Usage by one group: spend with share and change, calls, and failed calls. The total in its foot equals the tile's number. */
import { Button, Group as Row, Skeleton, Text, Title } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { exactUsd, readUsd } from "../../base/money.ts";
import type { ShownSpan } from "../../base/period.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useWorkspaceNames } from "../../ui/workspaces.ts";
import { Head, Line } from "./breakdown-parts.tsx";
import classes from "./overview.module.css";
import { daysOf, usageQuery, useTagGroup, type Totals } from "./queries.ts";
import { labelOf, type Group, type OverviewSearch } from "./search.ts";
import { filterOf, idOf, measureOf, nameOf, onlyOf, sumOf, type UsageRow } from "./usage.ts";

const shownFirst = 8;

interface BreakdownProps {
  readonly by: Group;
  readonly search: OverviewSearch;
  readonly shown: ShownSpan;
  readonly rows: Readonly<Record<string, string | undefined>>;
  readonly set: (change: Partial<OverviewSearch>) => void;
}

interface ReadProps extends BreakdownProps {
  /** The query that contains the group. */
  readonly query: Pick<Totals, "error" | "refetch">;
  readonly found: readonly UsageRow[] | undefined;
  /** The rows of the comparison period, if it is compared. */
  readonly before?: readonly UsageRow[] | undefined;
  /** The period's spend, as in the tile. */
  readonly total?: bigint | undefined;
  readonly children?: ReactNode;
}

/** Returns the earlier spend by group. */
function beforeOf(rows: readonly UsageRow[] | undefined, by: Group) {
  if (rows === undefined) return undefined;
  const known = new Map(rows.map((row) => [idOf(row, by), measureOf(row, "cost")]));
  return (row: UsageRow): bigint => known.get(idOf(row, by)) ?? 0n;
}

/** Sorts rows by cost or by growth, the largest first. "All others" stays last. */
function ordered(
  rows: readonly UsageRow[],
  before: ((row: UsageRow) => bigint) | undefined,
): readonly UsageRow[] {
  const size = (row: UsageRow) => measureOf(row, "cost") - (before?.(row) ?? 0n);
  const place = (row: UsageRow) => (row.other === true ? 1 : 0);
  return rows.toSorted(
    (one, other) => place(one) - place(other) || (size(one) < size(other) ? 1 : -1),
  );
}

/** Warns if the rows do not add up to the tile's total. */
function Off({ sum, total }: { sum: bigint; total: bigint | undefined }) {
  if (total === undefined || sum === total) return null;
  return (
    <Text role="alert" c="var(--bad)" size="sm">
      The rows add up to {exactUsd(sum)} USD, the period to {exactUsd(total)} USD. Either calls
      ended meanwhile, or the ledger has a difference: run `verify`.
    </Text>
  );
}

/** The sorted rows; `found` has all of them. */
function Table(props: ReadProps & { readonly found: readonly UsageRow[] }) {
  const { by, search, rows, total, set, found } = props;
  const before = beforeOf(props.before, by);
  const [all, setAll] = useState(false);
  const names = useWorkspaceNames();
  const sum = sumOf(found, "cost");
  const { sort } = search;
  const isByChange = sort === "change";
  return (
    <>
      <table className={classes["table"]} width="100%" aria-label={`By ${labelOf(by)}`}>
        <Head
          compared={before !== undefined}
          isByChange={isByChange}
          sum={sum}
          set={() => set({ sort: isByChange ? undefined : "change" })}
        />
        <tbody>
          {ordered(found, isByChange ? before : undefined)
            .slice(0, all ? found.length : shownFirst)
            .map((row) => (
              <Line
                key={`${row.other} ${idOf(row, by)}`}
                row={row}
                name={nameOf(row, by, names)}
                sum={sum}
                before={before}
                filter={filterOf(row, by)}
                rows={rows}
                only={onlyOf(row, by)}
              />
            ))}
        </tbody>
        <tfoot>
          <tr>
            <th style={{ textAlign: "left" }}>All</th>
            <th className={classes["right"]} title={`${exactUsd(sum)} USD`}>
              {readUsd(sum)}
            </th>
          </tr>
        </tfoot>
      </table>
      <Off sum={sum} total={total} />
      {found.length > shownFirst && (
        <Button variant="subtle" size="xs" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${found.length}`}
        </Button>
      )}
    </>
  );
}

export function Breakdown(props: ReadProps) {
  const { by, search, shown, query, found, children } = props;
  const title = `By ${labelOf(by)}`;
  return (
    <section aria-label={title}>
      <Row justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        <CsvButton
          path="/admin/v1/usage"
          query={() => usageQuery(search, shown, { granularity: "total", by })}
          name={`usage-by-${by}`}
        />
      </Row>
      {query.error !== null && (
        <RegionError what="usage" error={query.error} retry={query.refetch} />
      )}
      {found === undefined && query.error === null && <Skeleton height={240} />}
      {found !== undefined && <Table {...props} found={found} />}
      {children}
    </section>
  );
}

/** Sums by tag cover whole days. Two adjacent periods share a day, so nothing is compared. */
export function TagBreakdown(props: BreakdownProps) {
  const { by, search, shown, rows } = props;
  const query = useTagGroup(search, shown, by);
  const { data } = query;
  const days = data === undefined ? rows : { ...rows, ...daysOf(data) };
  return (
    <Breakdown {...props} query={query} found={data?.data} rows={days}>
      <Text size="sm" className="muted">
        Of whole days (UTC).
      </Text>
    </Breakdown>
  );
}
