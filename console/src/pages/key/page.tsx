/** One key: what it may do, what it did, and what can be done with it. */
import { getRouteApi } from "@tanstack/react-router";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Moves } from "./moves.tsx";
import { useKey } from "./queries.ts";

const route = getRouteApi("/shell/keys/$id");

export function KeyPage() {
  const { id } = route.useParams();
  const { data: key, error, refetch } = useKey(id);
  if (error !== null) {
    return (
      <Page title="Key">
        <RegionError what="key" error={error} retry={refetch} />
      </Page>
    );
  }
  return (
    <Page title={key === undefined ? "Key" : key.name} aside={key && <Moves apiKey={key} />}>
      {key !== undefined && <p>{key.status}</p>}
    </Page>
  );
}
