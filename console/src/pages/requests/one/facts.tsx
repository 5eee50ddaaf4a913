/** The facts of a call in one line: model, time, protocol, duration. */
import { Group } from "@mantine/core";
import type { Schemas } from "../../../api/client.ts";
import { isolated } from "../../../base/isolated.ts";
import { readDuration } from "../../../base/numbers.ts";
import { readTime } from "../../../base/time.ts";
import { ModelLink } from "../../../ui/model-link.tsx";
import { useToday } from "../../../ui/use-today.ts";
import type { Hooked } from "./hooks.tsx";
import type { Plan } from "./plan.tsx";

type Row = Schemas["RequestRow"];

/** The log's explanation: the plan, the hooks' outcomes, and whether the key's cache answered. */
interface Explained {
  readonly plan?: Plan | null;
  readonly hooks?: readonly Hooked[];
  readonly cache?: string;
}

export const explainedOf = ({ explanation }: Row): Explained => explanation ?? {};

const cacheWords: Readonly<Record<string, string>> = {
  hit: "from the cache",
  miss: "not in the cache",
  bypass: "cache bypassed",
};

export function Facts({ row }: { row: Row }) {
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
  const cached = cacheWords[explainedOf(row).cache ?? ""];
  const now = useToday();
  const facts = [
    spoken,
    streamed,
    cached,
    took,
    first,
    reserved,
    `in ${isolated(row.workspace_name)}`,
  ];
  return (
    <Group gap="lg" mt="sm" className="muted">
      {row.model !== null && (
        <span style={{ overflowWrap: "anywhere" }}>
          <ModelLink id={row.model} />
        </span>
      )}
      <time dateTime={row.created_at} title={row.created_at}>
        {readTime(new Date(row.created_at), now)}
      </time>
      {facts
        .filter((fact) => fact != null)
        .map((fact) => (
          <span key={fact} style={{ overflowWrap: "anywhere" }}>
            {fact}
          </span>
        ))}
    </Group>
  );
}
