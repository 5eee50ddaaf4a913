/** One call: how it ended, what it cost, and why. */
import { Group } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Copy } from "../../ui/copy.tsx";
import { Money } from "../../ui/money.tsx";
import { Outcome } from "../../ui/outcome.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";

const route = getRouteApi("/shell/requests/$id");

export function RequestPage() {
  const { id } = route.useParams();
  const {
    data: row,
    error,
    refetch,
  } = api.useQuery("get", "/admin/v1/requests/{id}", {
    params: { path: { id } },
  });
  return (
    <Page title="Request" aside={<Copy label="the id" text={() => id} />}>
      {error !== null && <RegionError what="request" error={error} retry={refetch} />}
      {row !== undefined && (
        <Group>
          <span className="mono">{row.id}</span>
          <Outcome row={row} />
          <Money amount={row.cost} unit />
        </Group>
      )}
    </Page>
  );
}
