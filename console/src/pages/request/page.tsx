/** One call: how it ended, what it cost, and why. */
import { Button, Group, Text, Title } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { asApiError } from "../../api/errors.ts";
import { readDuration } from "../../base/numbers.ts";
import { Copy } from "../../ui/copy.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { useRenewal } from "../../ui/use-renewal.ts";
import { Attempts } from "./attempts.tsx";
import { Bodies } from "./bodies.tsx";
import { Changes } from "./changes.tsx";
import { Places } from "./places.tsx";
import { PlanTable, type Plan } from "./plan.tsx";
import { Price } from "./price.tsx";
import { sentencesOf, type Attempted } from "./sentence.ts";
import { Tags } from "./tags.tsx";

const route = getRouteApi("/shell/requests/$id");

/** The plan, as the log keeps it. */
interface Explained {
  readonly plan?: Plan | null;
}

const Part = (props: { title: string; children: ReactNode }) => (
  <section className="panel" style={{ marginTop: 16 }}>
    <Title order={2} size="md" mb="sm">
      {props.title}
    </Title>
    <ScrollBox label={props.title}>{props.children}</ScrollBox>
  </section>
);

function Facts({ row }: { row: Schemas["RequestRow"] }) {
  const { protocol, upstream_protocol: upstream } = row;
  const spoken =
    upstream === null || upstream === protocol ? protocol : `${protocol} as ${upstream}`;
  const took = row.duration_ms === null ? undefined : `took ${readDuration(row.duration_ms)}`;
  const first =
    row.first_token_ms === null
      ? undefined
      : `first token after ${readDuration(row.first_token_ms)}`;
  const reserved = row.reserved === null ? undefined : `reserved ${row.reserved} USD`;
  const streamed = row.stream === true ? "streamed" : undefined;
  const facts = [row.model, spoken, streamed, row.created_at, took, first, reserved];
  return (
    <Group gap="lg" mt="sm" className="muted">
      {facts
        .filter((fact) => fact != null)
        .map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
    </Group>
  );
}

const Said = ({ row: { tags, end_user: endUser } }: { row: Schemas["RequestRow"] }) =>
  tags === null && endUser === null ? null : (
    <Part title="Said by the caller">
      <Tags tags={tags} endUser={endUser} />
    </Part>
  );

function Call({ row }: { row: Schemas["RequestRow"] }) {
  const attempts = row.attempts as unknown as Attempted[];
  const { plan } = (row.explanation ?? {}) as Explained;
  const usage = Object.entries(row.usage ?? {}) as [string, unknown][];
  const told = { ...row, attempts, error: row.error?.code, changed: row.changes.length };
  return (
    <>
      <Text size="lg">{sentencesOf(told)}</Text>
      {row.error?.message != null && (
        <Text mt="xs" className="mono" aria-label="The error's message" role="note">
          {row.error.message}
        </Text>
      )}
      <Facts row={row} />
      <Places row={row} />
      <Said row={row} />
      {row.changes.length > 0 && (
        <Part title="What was changed">
          <Changes changes={row.changes} />
        </Part>
      )}
      {attempts.length > 0 && (
        <Part title="Attempts">
          <Attempts attempts={attempts} durationMs={row.duration_ms ?? 0} />
        </Part>
      )}
      {plan != null && (
        <Part title="Plan">
          <PlanTable plan={plan} />
        </Part>
      )}
      {row.price_lines?.length !== 0 && (
        <Part title="Price">
          <Price lines={row.price_lines} cost={row.cost} />
        </Part>
      )}
      <Part title="What was said">
        <Bodies id={row.id} />
      </Part>
      {usage.length > 0 && (
        <Part title={`Usage${row.usage_source === "estimated" ? ", estimated" : ""}`}>
          {usage.map(([name, value]) => (
            <Text key={name} className="number">
              {name}: {String(value)}
            </Text>
          ))}
        </Part>
      )}
    </>
  );
}

const SendAgain = ({ id }: { id: string }) => (
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

export function RequestPage() {
  const { id } = route.useParams();
  const read = api.useQuery("get", "/admin/v1/requests/{id}", { params: { path: { id } } });
  const isMissing = read.error !== null && asApiError(read.error).status === 404;
  // A call is in the log once it has ended.
  useRenewal({
    topics: ["requests"],
    enabled: isMissing,
    isAbout: (row) => row.id === id,
    renew: read.refetch,
  });
  return (
    <Page
      title="Request"
      aside={
        <Group gap="sm">
          {read.data?.model != null && <SendAgain id={id} />}
          <Copy label="the id" text={() => id} />
        </Group>
      }
    >
      <Text className="mono" mb="md">
        {id}
      </Text>
      {read.error !== null && (
        <RegionError what="request" error={read.error} retry={read.refetch} />
      )}
      {isMissing && (
        <Text mt="sm" className="muted">
          A call that is still under way is shown here when it has ended.
        </Text>
      )}
      {read.data !== undefined && <Call row={read.data} />}
    </Page>
  );
}
