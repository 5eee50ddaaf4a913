/** One call: outcome, cost and reasons. */
import { Button, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../../../api/client.ts";
import { asApiError } from "../../../api/errors.ts";
import { CountsTable } from "../../../ui/counts-table.tsx";
import { Part } from "../../../ui/part.tsx";
import { Loading } from "../../../ui/loading.tsx";
import { RegionError } from "../../../ui/region-error.tsx";
import { useRenewal } from "../../../ui/use-renewal.ts";
import { Attempts } from "./attempts.tsx";
import { Bodies } from "./bodies.tsx";
import { Changes } from "./changes.tsx";
import { explainedOf, Facts } from "./facts.tsx";
import { HooksTable } from "./hooks.tsx";
import { RelatedLinks } from "./related-links.tsx";
import { PlanTable } from "./plan.tsx";
import { Price } from "./price.tsx";
import { sentencesOf, type Attempted } from "./sentence.ts";
import { Tags } from "./tags.tsx";

type Row = Schemas["RequestRow"];

/** Renders text between backticks as code. */
const withCode = (text: string) =>
  text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <span key={part} className="mono">
        {part}
      </span>
    ),
  );

/** The error: the message that the caller got, and the meaning of the code. */
function Failure({ error }: { error: NonNullable<Row["error"]> }) {
  return (
    <>
      {error.message !== null && (
        <Text mt="xs" className="mono" aria-label="The error's message" role="note">
          {error.message}
        </Text>
      )}
      {error.meaning !== null && (
        <Text mt="xs" className="muted">
          <span className="mono">{error.code}</span>: {withCode(error.meaning)}
        </Text>
      )}
    </>
  );
}

/** The outcome in a sentence, and links to related objects. */
function Summary({ row }: { row: Row }) {
  const { hooks, cache } = explainedOf(row);
  const told = {
    ...row,
    attempts: row.attempts as unknown as Attempted[],
    error: row.error?.code,
    changed: row.changes.length,
    hooks,
    isCached: cache === "hit",
  };
  return (
    <>
      <Text size="lg">{sentencesOf(told)}</Text>
      {row.error !== null && <Failure error={row.error} />}
      <Facts row={row} />
      <RelatedLinks row={row} />
    </>
  );
}

/** The counts of a call without its marks, which are in the title. */
function usageOf({ usage, usage_source: from }: Row) {
  const {
    unbilled,
    explicit_cache: explicit,
    ...counts
  }: Readonly<Record<string, unknown>> = usage ?? {};
  const source = from === "estimated" ? ", estimated" : "";
  const cache = explicit === undefined ? "" : ", with a cache by markers";
  const bill = unbilled === undefined ? "" : ", not billed by its vendor";
  return { counts, title: `Usage${source}${cache}${bill}` };
}

function Call({ row }: { row: Row }) {
  const attempts = row.attempts as unknown as Attempted[];
  const { plan, hooks = [] } = explainedOf(row);
  const { counts, title } = usageOf(row);
  return (
    <>
      <Summary row={row} />
      {(row.tags !== null || row.end_user !== null) && (
        <Part title="Tags of the caller">
          <Tags tags={row.tags} endUser={row.end_user} />
        </Part>
      )}
      {hooks.length > 0 && (
        <Part title="Hooks">
          <HooksTable hooks={hooks} />
        </Part>
      )}
      {row.changes.length > 0 && (
        <Part title="Changed parameters">
          <Changes changes={row.changes} />
        </Part>
      )}
      {attempts.length > 0 && (
        <Part title="Attempts">
          <Attempts attempts={attempts} callAt={row.created_at} durationMs={row.duration_ms ?? 0} />
        </Part>
      )}
      {plan != null && (
        <Part title="Plan">
          <PlanTable plan={plan} attempts={attempts} />
        </Part>
      )}
      {row.price_lines?.length !== 0 && (
        <Part title="Price">
          <Price lines={row.price_lines} from={row.price_lines_from} cost={row.cost} />
        </Part>
      )}
      <Part title="Request and answer">
        <Bodies id={row.id} />
      </Part>
      {Object.keys(counts).length > 0 && (
        <Part title={title}>
          <CountsTable label="Usage" counts={counts} />
        </Part>
      )}
    </>
  );
}

/** Opens the playground with the call's settings. */
export const SendAgain = ({ id }: { id: string }) => (
  <Button
    size="xs"
    variant="default"
    renderRoot={(button) => (
      <Link to="/playground" search={({ ws }) => ({ ws, from: id })} {...button} />
    )}
  >
    Send again
  </Button>
);

/** Reads a call; one that is still running is read once it is in the log. */
export function useCall(id: string) {
  const init = { params: { path: { id } } };
  const read = api.useQuery("get", "/admin/v1/requests/{id}", init);
  const isMissing = read.error !== null && asApiError(read.error).status === 404;
  useRenewal({
    topics: ["requests"],
    enabled: isMissing,
    isAbout: (row) => row.id === id,
    reads: [api.queryOptions("get", "/admin/v1/requests/{id}", init).queryKey],
  });
  return { ...read, isMissing };
}

/** The call, or the error of its read. */
export function CallRead({ read }: { read: ReturnType<typeof useCall> }) {
  const { data, error, refetch, isMissing } = read;
  return (
    <>
      {error !== null && <RegionError what="request" error={error} retry={refetch} />}
      {isMissing && (
        <Text mt="sm" className="muted">
          A running call is shown here after it has ended.
        </Text>
      )}
      <Loading of={[{ data, error }]} />
      {data !== undefined && <Call row={data} />}
    </>
  );
}
