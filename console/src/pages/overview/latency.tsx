/** Call durations, and the error codes of failed calls. */
import { Skeleton, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { readCount, readDuration } from "../../base/numbers.ts";
import type { ShownSpan } from "../../base/period.ts";
import { readPlace, startsOf } from "../../base/steps.ts";
import { RegionError } from "../../ui/region-error.tsx";
import classes from "./overview.module.css";
import type { Group } from "./search.ts";
import { groupIn, chartStepOf, useUsageOverTime, type Totals, type Scope } from "./queries.ts";

const ChartLines = lazy(async () => ({ default: (await import("./chart-lines.tsx")).ChartLines }));

const stroke = (color: string, dash?: string) => (
  <svg className={classes["dash"]} height="4" aria-hidden>
    <line x2="24" y1="2" y2="2" stroke={color} strokeWidth="2" strokeDasharray={dash} />
  </svg>
);

export function Latency(props: { scope: Scope; shown: ShownSpan; by: Group; isTable: boolean }) {
  const { scope, shown, by, isTable } = props;
  const query = useUsageOverTime(scope, shown, by);
  const step = chartStepOf(shown, scope);
  const title = `Duration by ${step} (UTC)`;
  const times = new Map(query.data?.data.map(({ start, duration }) => [start, duration]));
  const points = startsOf(shown, step).map((start) => ({
    start,
    p50: times.get(start)?.p50 ?? null,
    p95: times.get(start)?.p95 ?? null,
  }));
  const read = (ms: number | null) => (ms === null ? "-" : readDuration(ms));
  return (
    <section aria-label={title}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {query.error !== null && (
        <RegionError what="times" error={query.error} retry={query.refetch} />
      )}
      {query.data !== undefined && isTable ? (
        <table className={classes["table"]} width="100%" aria-label={title}>
          <thead>
            <tr>
              <th style={{ textAlign: "left" }}>UTC</th>
              <th className={classes["right"]}>p50</th>
              <th className={classes["right"]}>p95</th>
            </tr>
          </thead>
          <tbody>
            {points.map(({ start, p50, p95 }) => (
              <tr key={start}>
                <td>{readPlace(start, step)}</td>
                <td className={classes["right"]}>{read(p50)}</td>
                <td className={classes["right"]}>{read(p95)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <>
          <div className={classes["box"]}>
            <Suspense fallback={<Skeleton height="100%" />}>
              {query.data !== undefined && <ChartLines points={points} step={step} title={title} />}
            </Suspense>
          </div>
          <div>
            {stroke("var(--series-1)")}p50: half took at most so long
            <br />
            {stroke("var(--series-2)", "6 4")}p95: all but one in twenty. Both within 12 %.
          </div>
        </>
      )}
    </section>
  );
}

export function Errors(props: {
  query: Totals;
  rows: Readonly<Record<string, string | undefined>>;
}) {
  const { query, rows } = props;
  const found = (groupIn(query.data, "error_code") ?? []).filter(
    ({ error_code, other, requests }) => (error_code != null || other === true) && requests > 0,
  );
  found.sort((one, other) => other.requests - one.requests);
  const most = Math.max(1, ...found.map(({ requests }) => requests));
  return (
    <section aria-label="Errors by code">
      <Title order={2} size="h4" mb="sm">
        Errors by code
      </Title>
      {query.error !== null && (
        <RegionError what="errors" error={query.error} retry={query.refetch} />
      )}
      {query.data !== undefined && found.length === 0 && "No call failed in this period."}
      <table className={classes["table"]} width="100%" aria-label="Errors by code">
        {found.length > 0 && (
          <thead>
            <tr>
              <th style={{ textAlign: "left" }}>Code</th>
              <td aria-hidden />
              <th className={classes["right"]} style={{ width: 72 }}>
                Calls
              </th>
            </tr>
          </thead>
        )}
        <tbody>
          {found.map(({ error_code: code, requests }) => (
            <tr key={code ?? ""}>
              <td className="cut">{code ?? "all others"}</td>
              <td aria-hidden>
                <span
                  className={`${classes["share"]} own-colours`}
                  style={{ width: `${(requests / most) * 100}%`, height: 12 }}
                />
              </td>
              <td className={classes["right"]}>
                {code == null ? (
                  readCount(requests)
                ) : (
                  <Link to="/requests" search={{ ...rows, code }} title={String(requests)}>
                    {readCount(requests)}
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
