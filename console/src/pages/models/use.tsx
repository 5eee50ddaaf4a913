/** A model's usage in the last seven days, from the usage sums. */
import { Group, Text } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { gatewayMs } from "../../base/clock.ts";
import { dayMs, minuteMs } from "../../base/durations.ts";
import { readCount, readDuration, readShare } from "../../base/numbers.ts";
import { Money } from "../../ui/money.tsx";
import { Part } from "../../ui/part.tsx";
import { RegionError } from "../../ui/region-error.tsx";

const days = 7;

export function Use({ model }: { model: string }) {
  const { ws } = useSearch({ from: "/shell" });
  // Fixed while the page is open: a new start would be a new query on each render.
  const [from] = useState(() =>
    new Date(Math.floor(gatewayMs() / minuteMs) * minuteMs - days * dayMs).toISOString(),
  );
  const query = { granularity: "total" as const, model, from, workspace_id: ws };
  const read = api.useQuery("get", "/admin/v1/usage", { params: { query } });
  const row = read.data?.data[0];
  return (
    <Part title="Last 7 days">
      {read.error !== null && <RegionError what="usage" error={read.error} retry={read.refetch} />}
      {read.data !== undefined && (row === undefined || row.requests === 0) && (
        <Text>No calls that you may see.</Text>
      )}
      {row !== undefined && row.requests > 0 && (
        <Group gap="xl">
          <span>{readCount(row.requests)} calls</span>
          <span>{readShare(BigInt(row.errors), BigInt(row.requests))} failed</span>
          <Money amount={row.cost} unit />
          {row.duration !== null && (
            <span>
              half within {readDuration(row.duration.p50)}, 95 % within{" "}
              {readDuration(row.duration.p95)}
            </span>
          )}
        </Group>
      )}
    </Part>
  );
}
