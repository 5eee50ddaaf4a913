/** One call: how it ended, what it cost, and why. */
import { Group, List, Text, Title } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { readDuration } from "../../base/numbers.ts";
import { Copy } from "../../ui/copy.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Attempts } from "./attempts.tsx";
import { PlanTable, type Plan } from "./plan.tsx";
import { sentencesOf, type Attempted } from "./sentence.ts";

const route = getRouteApi("/shell/requests/$id");

/** The plan and the code of the error, as the log keeps them. */
interface Explained {
  readonly plan?: Plan | null;
  readonly error?: string | null;
}

const Part = (props: { title: string; children: ReactNode }) => (
  <section className="panel" style={{ marginTop: 16, overflowX: "auto" }}>
    <Title order={2} size="md" mb="sm">
      {props.title}
    </Title>
    {props.children}
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
  const facts = [row.model, spoken, row.created_at, took, first];
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

function Call({ row }: { row: Schemas["RequestRow"] }) {
  const attempts = row.attempts as unknown as Attempted[];
  const { plan, error } = (row.explanation ?? {}) as Explained;
  const usage = Object.entries(row.usage ?? {}) as [string, unknown][];
  const told = { ...row, attempts, error: error ?? undefined, changed: row.dropped.length };
  return (
    <>
      <Text size="lg">{sentencesOf(told)}</Text>
      <Facts row={row} />
      {row.notes.length > 0 && (
        <Part title="What was changed">
          <List>
            {row.notes.map((note) => (
              <List.Item key={note}>{note}</List.Item>
            ))}
          </List>
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

export function RequestPage() {
  const { id } = route.useParams();
  const read = api.useQuery("get", "/admin/v1/requests/{id}", { params: { path: { id } } });
  return (
    <Page title="Request" aside={<Copy label="the id" text={() => id} />}>
      <Text className="mono" mb="md">
        {id}
      </Text>
      {read.error !== null && (
        <RegionError what="request" error={read.error} retry={read.refetch} />
      )}
      {read.data !== undefined && <Call row={read.data} />}
    </Page>
  );
}
